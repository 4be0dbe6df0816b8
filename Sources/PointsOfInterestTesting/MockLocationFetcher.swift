/// A location fetcher that a test controls.
///
/// It calls its delegate at once with what `handleRequestLocation` returns, by default one fix in San José. Where that
/// returns `.nothing`, it waits for the test to call `send(_:)`.
@MainActor
public final class MockLocationFetcher: LocationFetcher {
    /// What a location fetcher passes to its delegate.
    public enum Outcome: Sendable {
        /// Fixes, the newest last.
        case fixes([LocationFix])
        /// A failure.
        case failure(LocationFailure)
        /// Nothing yet.
        case nothing

        /// One fix.
        public static func fix(_ fix: LocationFix) -> Outcome { .fixes([fix]) }
    }

    /// A call of a fetcher.
    public enum Event: Hashable, Sendable {
        /// `requestLocation()`.
        case requestedLocation
        /// `requestWhenInUseAuthorization()`.
        case requestedAuthorization
        /// `stopUpdatingLocation()`.
        case stopped
    }

    /// Gets the fixes and failures; held weakly.
    public weak var locationFetcherDelegate: (any LocationFetcherDelegate)?
    /// How accurate a fix should be, in metres.
    public var desiredAccuracy = 0.0
    /// Whether the app may use the location. A new value is passed to the delegate, as the system does.
    public var locationAuthorization: LocationAuthorization {
        didSet { locationFetcherDelegate?.locationFetcherDidChangeAuthorization(self) }
    }
    /// Returns what `requestLocation()` passes to the delegate.
    public var handleRequestLocation: @MainActor () -> Outcome
    /// Returns what the person decides in `requestWhenInUseAuthorization()`; nil is no decision yet.
    public var handleRequestAuthorization: @MainActor () -> LocationAuthorization? = { nil }
    /// All calls so far, in order.
    public private(set) var events: [Event] = []
    /// All calls as a stream, for a test to wait for them. Only one reader may use it.
    public let eventStream: AsyncStream<Event>

    private let continuation: AsyncStream<Event>.Continuation

    /// Makes a fetcher.
    ///
    /// - Parameters:
    ///   - locationAuthorization: whether the app may use the location.
    ///   - handleRequestLocation: returns what `requestLocation()` passes to the delegate.
    public init(
        locationAuthorization: LocationAuthorization = .fullAccuracy,
        handleRequestLocation: @escaping @MainActor () -> Outcome = { .fix(.fixture()) }
    ) {
        self.locationAuthorization = locationAuthorization
        self.handleRequestLocation = handleRequestLocation
        (eventStream, continuation) = AsyncStream.makeStream()
    }

    /// Passes an outcome to the delegate, after a request or without one.
    public func send(_ outcome: Outcome) {
        switch outcome {
        case .fixes(let fixes): locationFetcherDelegate?.locationFetcher(self, didUpdateLocations: fixes)
        case .failure(let failure): locationFetcherDelegate?.locationFetcher(self, didFailWithError: failure)
        case .nothing: break
        }
    }

    /// Sets the permission that `handleRequestAuthorization` returns.
    public func requestWhenInUseAuthorization() {
        record(.requestedAuthorization)
        if let decision = handleRequestAuthorization() { locationAuthorization = decision }
    }

    /// Passes to the delegate what `handleRequestLocation` returns.
    public func requestLocation() {
        record(.requestedLocation)
        send(handleRequestLocation())
    }

    /// Records the call.
    public func stopUpdatingLocation() {
        record(.stopped)
    }

    private func record(_ event: Event) {
        events.append(event)
        continuation.yield(event)
    }
}
