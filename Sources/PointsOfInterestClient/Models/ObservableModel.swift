import Foundation

#if canImport(Combine)
    import Combine
#endif

#if canImport(Observation)
    import Observation
#endif

/// An object whose whole state is one value, and that announces every change of it.
///
/// Three kinds of observers see each change, whichever part of the state it is in:
///
/// - Observation, where the platform has it (iOS 17, macOS 14, Linux): the model is `Observable`, so a SwiftUI view that
///   reads it is drawn again.
/// - Combine, where there is Combine: the model is an `ObservableObject`.
/// - `updates()` on every platform.
@MainActor
public class ObservableModel<State: Hashable & Sendable> {
    /// What a view shows.
    public internal(set) var state: State {
        get {
            #if canImport(Observation)
                if #available(iOS 17, macOS 14, tvOS 17, watchOS 10, *) { access() }
            #endif
            return value
        }
        set {
            guard newValue != value else { return }
            #if canImport(Combine)
                objectWillChange.send()
            #endif
            #if canImport(Observation)
                if #available(iOS 17, macOS 14, tvOS 17, watchOS 10, *) {
                    announce { value = newValue }
                } else {
                    value = newValue
                }
            #else
                value = newValue
            #endif
            changes.send(newValue)
            onChange?(newValue)
        }
    }

    private var value: State
    private let changes = Broadcast<State>()
    /// Is called after each change, by a model that is made of this one.
    var onChange: ((State) -> Void)?

    #if canImport(Observation)
        /// An `ObservationRegistrar`. Before iOS 17, a stored property can't have that type.
        private let registrar: (any Sendable)? = {
            if #available(iOS 17, macOS 14, tvOS 17, watchOS 10, *) { ObservationRegistrar() } else { nil }
        }()
    #endif

    #if canImport(Combine)
        private let changePublisher = ChangePublisher()

        /// Announces each change of the state, before it happens.
        public nonisolated var objectWillChange: ObservableObjectPublisher { changePublisher.publisher }
    #endif

    init(_ state: State) {
        value = state
    }

    /// Returns the current state, and then each change of it in order. The stream ends with the model.
    public func updates() -> AsyncStream<State> { changes.stream(startingWith: state) }
}

#if canImport(Observation)
    @available(iOS 17, macOS 14, tvOS 17, watchOS 10, *)
    extension ObservableModel: Observable {
        private func access() {
            (registrar as? ObservationRegistrar)?.access(self, keyPath: \.state)
        }

        private func announce(_ change: () -> Void) {
            guard let registrar = registrar as? ObservationRegistrar else { return change() }
            registrar.withMutation(of: self, keyPath: \.state, change)
        }
    }
#endif

#if canImport(Combine)
    extension ObservableModel: ObservableObject {}

    /// The publisher of an observable object that belongs to the main actor.
    ///
    /// Unchecked, because Combine gets the publisher on any thread, but doesn't declare it `Sendable`. Sending
    /// through it is safe on any thread; this module sends on the main one.
    struct ChangePublisher: @unchecked Sendable {
        let publisher = ObservableObjectPublisher()
    }
#endif

/// Sends the changes of a value to any number of streams.
@MainActor
final class Broadcast<Value: Sendable> {
    private var continuations: [Int: AsyncStream<Value>.Continuation] = [:]
    private var streamCount = 0

    /// Returns a stream of a value and of all that are sent from now on. It ends when this object is deallocated.
    func stream(startingWith value: Value) -> AsyncStream<Value> {
        let (stream, continuation) = AsyncStream.makeStream(of: Value.self)
        let number = streamCount
        streamCount += 1
        continuations[number] = continuation
        continuation.onTermination = { [weak self] _ in
            Task { @MainActor in self?.continuations[number] = nil }
        }
        continuation.yield(value)
        return stream
    }

    func send(_ value: Value) {
        for continuation in continuations.values { continuation.yield(value) }
    }

    deinit {
        for continuation in continuations.values { continuation.finish() }
    }
}

/// Calls a closure on the main actor for each notification of a name, until it is deallocated.
final class NotificationObservation {
    private let center: NotificationCenter
    private let token: any NSObjectProtocol

    init(
        of name: Notification.Name, in center: NotificationCenter,
        _ body: @escaping @MainActor @Sendable () async -> Void
    ) {
        self.center = center
        token = center.addObserver(forName: name, object: nil, queue: nil) { _ in
            Task { @MainActor in await body() }
        }
    }

    deinit {
        center.removeObserver(token)
    }
}
