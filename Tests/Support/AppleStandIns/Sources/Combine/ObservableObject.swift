// What the client uses of Combine, with its names and its concurrency: nothing here is Sendable.

/// A publisher of changes to come.
public protocol Publisher {}

/// The publisher of an observable object.
public final class ObservableObjectPublisher: Publisher {
    /// A stand-in for subscribing.
    public var handleSend: () -> Void = {}

    /// Makes a publisher.
    public init() {}

    /// Says that there will be a change.
    public func send() { handleSend() }
}

/// An object that says before each change that there will be one.
public protocol ObservableObject: AnyObject {
    /// What it says it with.
    associatedtype ObjectWillChangePublisher: Publisher = ObservableObjectPublisher

    /// Says that there will be a change.
    var objectWillChange: ObjectWillChangePublisher { get }
}
