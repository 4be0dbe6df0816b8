import CPROJ

/// Makes degrees of WGS 84 of positions in another coordinate system, by PROJ. For one thread.
final class Projection {
    private static let maximum = 2e8

    private let context: OpaquePointer
    private let transformation: OpaquePointer

    /// Takes codes of a registry only, such as `EPSG:3857`: in other texts PROJ would find names of files.
    init(_ code: String) throws(ImportError) {
        let parts = code.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 2, ["EPSG", "ESRI"].contains(parts[0]), (1...7).contains(parts[1].utf8.count),
            parts[1].utf8.allSatisfy({ (48...57).contains($0) })
        else { throw ImportError("\(code.prefix(40).printable) isn't a code such as EPSG:3857") }
        guard let context = proj_context_create() else { throw ImportError("PROJ has no memory") }
        proj_log_level(context, PJ_LOG_NONE)
        proj_context_set_enable_network(context, 0)
        guard let steps = proj_create_crs_to_crs(context, code, "EPSG:4326", nil) else {
            proj_context_destroy(context)
            throw ImportError("PROJ knows no coordinate system \(code)")
        }
        // x is east and y is north, whatever the systems say about the order of their axes.
        let ordered = proj_normalize_for_visualization(context, steps)
        proj_destroy(steps)
        guard let ordered else {
            proj_context_destroy(context)
            throw ImportError("PROJ can't transform \(code)")
        }
        (self.context, transformation) = (context, ordered)
    }

    deinit {
        proj_destroy(transformation)
        proj_context_destroy(context)
    }

    /// Latitude and longitude in degrees; nil where the position isn't in the system's area.
    func degrees(x: Double, y: Double) -> (latitude: Double, longitude: Double)? {
        // No system has larger numbers, be they feet; PROJ would go around the Earth with them.
        guard abs(x) < Self.maximum, abs(y) < Self.maximum else { return nil }
        let result = proj_trans(transformation, PJ_FWD, proj_coord(x, y, 0, 0)).xy
        guard result.x.isFinite, result.y.isFinite else { return nil }
        return (result.y, result.x)
    }
}
