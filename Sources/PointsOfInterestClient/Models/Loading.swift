import Foundation
import PointsOfInterestHTTP

/// What a model is doing, or how its last load ended.
public enum LoadPhase: Hashable, Sendable {
    /// Nothing was loaded yet.
    case idle
    /// A load is running, the first one or anew.
    case loading
    /// Another page is being loaded; in a list or a search only.
    case loadingMore
    /// The last load succeeded.
    case loaded
    /// The last load failed.
    case failed(LoadError)
    /// The load of another page failed; `loadMore()` tries the same one again.
    case failedMore(LoadError)
}

/// Why a model could not load.
public enum LoadError: Error, Hashable, Sendable {
    /// There is no current location.
    case location(LocationError)
    /// The request to the service failed.
    case request(RequestError)
}

extension LoadError: LocalizedError {
    /// A sentence for people.
    public var errorDescription: String? {
        switch self {
        case .location(let error): error.errorDescription
        case .request(let error): error.errorDescription
        }
    }
}

extension LoadError {
    /// Converts what a location source or a place finder threw; nil where the load was cancelled.
    init?(_ error: any Error) {
        if let error = error as? LocationError {
            guard error != .cancelled else { return nil }
            self = .location(error)
        } else {
            let error = RequestError(error)
            guard error != .cancelled else { return nil }
            self = .request(error)
        }
    }
}

/// Where a model's data come from.
public enum LoadPolicy: Hashable, Sendable, CaseIterable {
    /// What is kept of an earlier response is shown at once, then the service is asked. What is shown stays where that fails.
    case cacheAndNetwork
    /// Only the service is asked.
    case networkOnly
}

/// Which of several loads that run at the same time has an effect: the last one that isn't cancelled.
struct LoadTurns {
    /// The loads in flight by their numbers, with their phases.
    private var running: [Int: LoadPhase] = [:]
    private var count = 0
    /// The number of the last load that ended with a phase, and that phase. A load with a smaller number comes too late.
    private var settled = 0
    private var settledPhase = LoadPhase.idle

    /// What the model is doing.
    var phase: LoadPhase {
        running.keys.filter { $0 > settled }.max().flatMap { running[$0] } ?? settledPhase
    }

    /// Begins a load with a phase, and returns its number.
    mutating func begin(_ phase: LoadPhase = .loading) -> Int {
        count += 1
        running[count] = phase
        return count
    }

    /// Whether what a load brings may still be shown.
    func isCurrent(_ turn: Int) -> Bool { turn > settled }

    /// Ends a load with a phase; nil for one that was cancelled.
    mutating func end(_ turn: Int, _ phase: LoadPhase?) {
        running[turn] = nil
        guard let phase, isCurrent(turn) else { return }
        settled = turn
        settledPhase = phase
    }

    /// Forgets how the last load ended: what it has loaded isn't shown any more.
    mutating func forget() { settledPhase = .idle }

    /// Makes all loads that are running too late: what they load isn't wanted any more.
    mutating func reset() {
        settled = count
        forget()
    }
}

/// What a model shows, with what the model is doing.
protocol LoadingState {
    var phase: LoadPhase { get set }
}

/// A model that loads: its turns, and the phase of its state.
@MainActor
protocol LoadingModel: AnyObject {
    associatedtype Shown: LoadingState
    var state: Shown { get set }
    var turns: LoadTurns { get set }
}

extension LoadingModel {
    /// Asks the service, and meanwhile shows what is kept, unless the response comes first. A failure waits for what is kept.
    func loaded<Value>(
        showing kept: @escaping @MainActor (Self) async -> Void, _ ask: () async throws -> Value
    ) async throws -> Value {
        let lookup = Task { [weak self] in if let self, !Task.isCancelled { await kept(self) } }
        do {
            let value = try await ask()
            lookup.cancel()
            return value
        } catch {
            await lookup.value
            throw error
        }
    }

    /// Ends a load with a phase and a change of the state, which are announced together; with no phase if the load was
    /// cancelled or came too late.
    func end(_ turn: Int, _ phase: LoadPhase?, _ change: (inout Shown) -> Void = { _ in }) {
        turns.end(turn, phase)
        var state = state
        change(&state)
        state.phase = turns.phase
        self.state = state
    }
}
