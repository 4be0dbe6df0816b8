import HTTPServer
import PointsOfInterestAPI

/// How much of the position that a request asks about goes into its line of the log.
public enum LoggedCoordinates: String, CaseIterable, Sendable {
    /// Nothing, in no line.
    case off
    /// Degrees with one decimal: an area of 11 km by at most as much.
    case coarse
    /// The degrees that were asked for.
    case full

    /// Notes a request's position for its line.
    func note(_ center: Coordinate?, _ box: BoundingBox? = nil, in context: RequestContext) {
        if self == .off { return }
        if let center {
            context.logNotes.append(("center", text([center.latitude, center.longitude])))
        }
        if let box {
            context.logNotes.append(("bbox", text([box.west, box.south, box.east, box.north])))
        }
    }

    private func text(_ degrees: [Double]) -> String {
        degrees.map { self == .coarse ? ($0 * 10).rounded() / 10 + 0 : $0 }.map(\.description)
            .joined(separator: ",")
    }
}
