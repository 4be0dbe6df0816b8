import Foundation
import PointsOfInterestClient

/// A person's report that something is wrong with a place. A value, as `PlaceEditModel` is.
public struct ReportModel: Sendable {
    /// What is wrong.
    public var reason = PlaceReport.Reason.wrong
    /// What the person has to say; it may be empty.
    public var text = ""
    /// Whether the report is on its way.
    public private(set) var isSent = false
    /// Why the report couldn't be sent; nil where nothing is wrong.
    public private(set) var message: String?

    // The same however often the person tries, so that the report counts once.
    private let id = UUID()
    private let place: PointOfInterest

    /// Makes a report about a place.
    public init(place: PointOfInterest) {
        self.place = place
    }

    /// How many characters the text may still have, as the service counts them; less than 0 where it is too long.
    public var remainingCharacters: Int { PlaceReport.maximumTextLength - text.unicodeScalars.count }

    /// Whether the report can be sent.
    public var canBeSent: Bool { remainingCharacters >= 0 && !isSent }

    private var report: PlaceReport {
        // What is missing isn't this place, but near it.
        if reason == .missing,
            let position = try? Coordinate(latitude: place.latitude, longitude: place.longitude)
        {
            PlaceReport(id: id, position: position, reason: reason, text: text)
        } else {
            PlaceReport(id: id, place: place.id, reason: reason, text: text)
        }
    }

    /// Sends the report, and returns it as it is then. With a queue it is kept until there is a network.
    @MainActor
    public func sent(by environment: AppEnvironment) async -> ReportModel {
        var next = self
        do {
            try await environment.report(report)
            (next.isSent, next.message) = (true, nil)
        } catch {
            next.message = error.localizedDescription
        }
        return next
    }
}
