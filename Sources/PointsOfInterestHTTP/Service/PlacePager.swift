import Foundation

/// Loads the pages of a request, one at a time, when they are wanted.
///
/// Any task may call it, one on the main actor too. A failure loses nothing: the next call asks for the same page.
public actor PlacePager {
    private typealias Outcome = Result<PlacesPage?, any Error>

    private let placeFinder: any PlaceFinder
    private let request: NearbyPlacesRequest
    private var walk: PageWalk
    private var waiting: [UUID: CheckedContinuation<Outcome, Never>] = [:]
    private var load: Task<Void, Never>?
    /// How many loads were given up, so that the outcome of one of them is known to come too late.
    private var abandonedCount = 0

    /// Makes a pager that hasn't loaded anything.
    public init(placeFinder: any PlaceFinder, request: NearbyPlacesRequest) {
        self.placeFinder = placeFinder
        self.request = request
        walk = PageWalk(request)
    }

    /// Whether `loadNext()` would load another page, as far as is known; true before the first page.
    public var hasMore: Bool { walk.hasMore }

    /// Loads the next page; returns nil after the last one. Only the last page can be empty, or one whose link can't be followed.
    ///
    /// After an error, the next call asks for the same page again. Calls at the same time share one request and get
    /// the same page.
    ///
    /// - Throws: `RequestError`, or what the place finder throws: `.undecodableBody` after a page whose link leads to another
    ///   host, to a page before it, or on from an empty page; `.cancelled` at once where the task is cancelled, and after `reset()`. The request is cancelled
    ///   when no call waits for it any more.
    public func loadNext() async throws -> PlacesPage? {
        guard walk.hasMore else { return nil }
        let id = UUID()
        let outcome = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in wait(id, continuation) }
        } onCancel: {
            Task { await self.giveUp(id) }
        }
        return try outcome.get()
    }

    /// Goes back to the first page. Calls of `loadNext()` that wait throw `RequestError.cancelled`.
    public func reset() {
        walk = PageWalk(request)
        abandon()
        resumeAll(.failure(RequestError.cancelled))
    }
}

extension PlacePager {
    private func wait(_ id: UUID, _ continuation: CheckedContinuation<Outcome, Never>) {
        guard !Task.isCancelled else {
            continuation.resume(returning: .failure(RequestError.cancelled))
            return
        }
        waiting[id] = continuation
        guard load == nil else { return }
        let turn = abandonedCount
        let walk = walk
        load = Task { [placeFinder] in
            let outcome: Outcome
            do {
                outcome = .success(try await walk.load(from: placeFinder))
            } catch {
                outcome = .failure(error)
            }
            finish(turn, outcome)
        }
    }

    private func finish(_ turn: Int, _ outcome: Outcome) {
        // The load was abandoned: nobody would get its page, so the next load is for the same page.
        guard turn == abandonedCount else { return }
        load = nil
        if case .success(let page) = outcome { walk.move(past: page) }
        resumeAll(outcome)
    }

    private func giveUp(_ id: UUID) {
        guard let continuation = waiting.removeValue(forKey: id) else { return }
        if waiting.isEmpty { abandon() }
        continuation.resume(returning: .failure(RequestError.cancelled))
    }

    /// Cancels the request, if there is one, and ignores its outcome.
    private func abandon() {
        abandonedCount += 1
        load?.cancel()
        load = nil
    }

    private func resumeAll(_ outcome: Outcome) {
        let continuations = waiting.values
        waiting = [:]
        for continuation in continuations { continuation.resume(returning: outcome) }
    }
}
