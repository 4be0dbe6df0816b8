// What the client uses of Combine, with its names and its concurrency: nothing here is Sendable.

/// A publisher of changes to come.
public protocol Publisher {}

/// The publisher of an observable object.
public final class ObservableObjectPublisher: Publisher {
    /// A stand-in for subscribing.
    public var handleSend: () -> Void = {}

    public init() {}

    public func send() { handleSend() }
}

public protocol ObservableObject: AnyObject {
    associatedtype ObjectWillChangePublisher: Publisher = ObservableObjectPublisher

    var objectWillChange: ObjectWillChangePublisher { get }
}
