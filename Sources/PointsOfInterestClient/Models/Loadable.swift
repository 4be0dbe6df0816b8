import Foundation
import PointsOfInterestHTTP

/// One value of the service as a screen shows it: a place's details, the categories, or the credits of a map.
///
/// `AppEnvironment` makes them: `makeDetails(id:place:languages:policy:)`, `makeCategories(policy:)`,
/// `makeAttributions(policy:)`.
@MainActor
public final class Loadable<Value: Hashable & Sendable>: ObservableModel<Loadable<Value>.State> {
    /// What a screen shows.
    public struct State: Hashable, Sendable {
        /// The value; nil where there is none yet, or where it is gone. It stays while it is loaded anew, and where that fails.
        public var value: Value?
        /// What the model is doing, or how its last load ended.
        public var phase = LoadPhase.idle
        /// Whether the value is an earlier one, because the service hasn't responded yet.
        public var isKept = false
        /// When the value was received; nil where that isn't known.
        public var receivedAt: Date?
    }

    private let fetch: @Sendable () async throws -> Value
    private let kept: @Sendable () async -> (Value, Date?)?
    private let policy: LoadPolicy
    var turns = LoadTurns()

    /// Makes a model with the value that is known already, if any; it counts as kept.
    init(
        _ value: Value? = nil, policy: LoadPolicy, kept: @escaping @Sendable () async -> (Value, Date?)?,
        fetch: @escaping @Sendable () async throws -> Value
    ) {
        self.fetch = fetch
        self.kept = kept
        self.policy = policy
        super.init(State(value: value, isKept: value != nil))
    }
}

extension Loadable: LoadingModel {}
extension Loadable.State: LoadingState {}

extension Loadable {
    /// The value; nil where there is none yet, or where it is gone.
    public var value: Value? { state.value }
    /// What the model is doing, or how its last load ended.
    public var phase: LoadPhase { state.phase }
    /// Whether the value is an earlier one, because the service hasn't responded yet.
    public var isKept: Bool { state.isKept }
    /// When the value was received; nil where that isn't known.
    public var receivedAt: Date? { state.receivedAt }

    /// Loads the value. Where the service hasn't sent one yet, what is kept of an earlier response is shown until then.
    ///
    /// The value stays where that fails, except if it is gone (`RequestError.isGone`). When several loads run at
    /// the same time, the last one that isn't cancelled has an effect.
    public func load() async {
        let turn = turns.begin()
        state.phase = turns.phase
        do {
            let value = try await loaded(showing: { await $0.showKept(turn) }, fetch)
            guard turns.isCurrent(turn) else { return end(turn, nil) }
            end(turn, .loaded) { $0 = State(value: value, receivedAt: Date()) }
        } catch {
            let isGone = (error as? RequestError)?.isGone == true
            let isCurrent = turns.isCurrent(turn)
            end(turn, LoadError(error).map(LoadPhase.failed)) { if isGone, isCurrent { $0 = State() } }
        }
    }

    private func showKept(_ turn: Int) async {
        guard policy == .cacheAndNetwork, isKept || value == nil, receivedAt == nil,
            let kept = await kept(), turns.isCurrent(turn), isKept || value == nil
        else { return }
        state = State(value: kept.0, phase: turns.phase, isKept: true, receivedAt: kept.1)
    }
}
