/// A sense of place that a test controls.
///
/// It answers each request at once as `handleRequestLocation` says, by default with one fix in San José; or, where
/// that says `.nothing`, when the test sends an answer.
@MainActor
public final class MockLocationFetcher: LocationFetcher {
    /// What a location manager tells its delegate.
    public enum Answer: Sendable {
        /// These fixes, the newest last.
        case fixes([LocationFix])
        /// This failure.
        case failure(LocationFailure)
        /// Nothing yet.
        case nothing

        /// One fix.
        public static func fix(_ fix: LocationFix) -> Answer { .fixes([fix]) }
    }

    /// What was asked of a fetcher.
    public enum Event: Hashable, Sendable {
        /// A fix.
        case requestedLocation
        /// The person's permission.
        case requestedAuthorization
        /// To give up looking for a fix.
        case stopped
    }

    /// Who is told; held weakly, like a location manager's.
    public weak var locationFetcherDelegate: (any LocationFetcherDelegate)?
    /// How exact a fix should be, in metres.
    public var desiredAccuracy = 0.0
    /// What the person has decided; setting it tells the delegate, as the system does.
    public var locationAuthorization: LocationAuthorization {
        didSet { locationFetcherDelegate?.locationFetcherDidChangeAuthorization(self) }
    }
    /// Says what to tell the delegate within `requestLocation`.
    public var handleRequestLocation: @MainActor () -> Answer
    /// Says what the person decides within `requestWhenInUseAuthorization`; nil leaves it open.
    public var handleRequestAuthorization: @MainActor () -> LocationAuthorization? = { nil }
    /// Everything that was asked so far.
    public private(set) var events: [Event] = []
    /// The same, to wait for; for one consumer.
    public let eventStream: AsyncStream<Event>

    private let continuation: AsyncStream<Event>.Continuation

    /// Makes a fetcher.
    ///
    /// - Parameters:
    ///   - locationAuthorization: what the person has decided.
    ///   - handleRequestLocation: says what to tell the delegate within `requestLocation`.
    public init(
        locationAuthorization: LocationAuthorization = .fullAccuracy,
        handleRequestLocation: @escaping @MainActor () -> Answer = { .fix(.fixture()) }
    ) {
        self.locationAuthorization = locationAuthorization
        self.handleRequestLocation = handleRequestLocation
        (eventStream, continuation) = AsyncStream.makeStream()
    }

    /// Tells the delegate an answer, late or without a request.
    public func send(_ answer: Answer) {
        switch answer {
        case .fixes(let fixes): locationFetcherDelegate?.locationFetcher(self, didUpdateLocations: fixes)
        case .failure(let failure): locationFetcherDelegate?.locationFetcher(self, didFailWithError: failure)
        case .nothing: break
        }
    }

    /// Answers as `handleRequestAuthorization` says.
    public func requestWhenInUseAuthorization() {
        record(.requestedAuthorization)
        if let decision = handleRequestAuthorization() { locationAuthorization = decision }
    }

    /// Answers as `handleRequestLocation` says.
    public func requestLocation() {
        record(.requestedLocation)
        send(handleRequestLocation())
    }

    /// Only takes note.
    public func stopUpdatingLocation() {
        record(.stopped)
    }

    private func record(_ event: Event) {
        events.append(event)
        continuation.yield(event)
    }
}
