import Foundation
import PointsOfInterestClient

/// What a list of places shows, for each state that it can be in.
public struct ListDisplay: Hashable, Sendable {
    /// The list itself.
    public enum Content: Hashable, Sendable {
        /// Nothing was asked for yet.
        case idle
        /// The first places are being loaded.
        case firstLoad
        /// These places, nearest first.
        case places([PointOfInterest])
        /// There are no places.
        case nothing
        /// There is nothing to show, for this reason.
        case failed(String)
    }

    /// What is below the last place.
    public enum Footer: Hashable, Sendable {
        /// Nothing, while the list is being loaded anew.
        case none
        /// There is another page, which is loaded when this comes into view.
        case more
        /// Another page is being loaded.
        case loadingMore
        /// The next page could not be loaded, for this reason; a button tries again.
        case failed(String)
        /// There are no more places.
        case end
    }

    /// The list itself.
    public let content: Content
    /// What is below the last place.
    public let footer: Footer
    /// Why the places are not the current ones, and how old they are.
    public let notice: String?

    /// Makes what a list shows in a state.
    public init(_ state: PointsOfInterestList.State, now: Date = Date()) {
        self.init(
            phase: state.phase, places: state.places, hasMore: state.hasMore, receivedAt: state.receivedAt,
            now: now)
    }

    /// Makes what a list shows in a state that is given in parts, for a preview or a test.
    public init(
        phase: LoadPhase, places: [PointOfInterest], hasMore: Bool = false,
        receivedAt: Date? = nil, now: Date = Date()
    ) {
        let kept: Content? = places.isEmpty ? nil : .places(places)
        switch phase {
        case .idle: (content, footer, notice) = (kept ?? .idle, .none, nil)
        case .loading: (content, footer, notice) = (kept ?? .firstLoad, .none, nil)
        case .loaded: (content, footer, notice) = (kept ?? .nothing, hasMore ? .more : .end, nil)
        case .loadingMore: (content, footer, notice) = (kept ?? .firstLoad, .loadingMore, nil)
        case .failedMore(let error):
            (content, footer, notice) = (kept ?? .nothing, .failed(error.localizedDescription), nil)
        case .failed(let error):
            let reason = error.localizedDescription
            let age = receivedAt.map { " These places are from \(Wording.age(of: $0, at: now))." } ?? ""
            content = kept ?? .failed(reason)
            footer = .none
            notice = kept.map { _ in reason + age }
        }
    }
}
