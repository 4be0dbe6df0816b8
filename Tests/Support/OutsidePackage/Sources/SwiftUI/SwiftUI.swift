// The names of SwiftUI that an app's file may use beside the client's.

/// Reads a value of a view's environment.
@propertyWrapper
public struct Environment<Value> {
    /// The value.
    public var wrappedValue: Value

    /// Reads the value at a key path.
    public init(_ keyPath: KeyPath<EnvironmentValues, Value>) {
        wrappedValue = EnvironmentValues()[keyPath: keyPath]
    }
}

/// The values of a view's environment.
public struct EnvironmentValues {
    /// Dismisses the view.
    public var dismiss: DismissAction { DismissAction() }
}

/// Dismisses a view.
public struct DismissAction {
    /// Dismisses the view.
    public func callAsFunction() {}
}

/// A part of a user interface.
public protocol View {}
