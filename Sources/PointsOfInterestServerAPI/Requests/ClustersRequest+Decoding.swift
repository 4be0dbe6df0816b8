extension ClustersRequest {
    /// The query's parameters, in the order in which `encode(into:)` writes them.
    package enum Parameter: FilteredParameter, Hashable {
        case zoom, bbox
        case filter(PlaceFilter.Parameter)

        package init?(rawValue: Int) {
            switch rawValue {
            case 0: self = .zoom
            case 1: self = .bbox
            default:
                guard let parameter = PlaceFilter.Parameter(rawValue: rawValue - 2) else { return nil }
                self = .filter(parameter)
            }
        }

        package var rawValue: Int {
            switch self {
            case .zoom: 0
            case .bbox: 1
            case .filter(let parameter): 2 + parameter.rawValue
            }
        }

        package var name: StaticString {
            switch self {
            case .zoom: "zoom"
            case .bbox: "bbox"
            case .filter(let parameter): parameter.name
            }
        }
    }

    /// Reads a raw query.
    ///
    /// - Parameters:
    ///   - bytes: the UTF-8 bytes of a request target behind its `?`, still percent-encoded.
    ///   - ignored: parameters that a gateway adds, which are not read.
    ///   - vocabulary: the names that there are, looked up where the query has some; without it they aren't checked.
    /// - Throws: every fault of the query at once.
    package static func decode(
        query bytes: UnsafeBufferPointer<UInt8>, ignoring ignored: [ParameterPattern],
        vocabulary: @autoclosure () -> FilterVocabulary?
    ) throws(ParameterError) -> ClustersRequest {
        var query = QueryDecoder<Parameter>(bytes, ignoring: ignored)
        query.requireValue(of: .zoom)
        query.requireValue(of: .bbox)
        let zoom = query.integer(
            .zoom, in: zooms, "must be a whole number from \(zooms.lowerBound) to \(zooms.upperBound)")
        let box = query.box(.bbox)
        let filter = query.filter(vocabulary())
        if let zoom, let box {
            let count = ClusterCells(box, zoom: zoom).count
            if count > maximumCellCount {
                query.report(
                    .zoom, .outOfRange,
                    "is too large for this bbox, which touches \(count) cells; at most \(maximumCellCount) are counted"
                )
            }
        }
        guard query.faults.isEmpty, let zoom, let box else { throw ParameterError(faults: query.faults) }
        return ClustersRequest(box: box, zoom: zoom, filter: filter)
    }
}
