// The names of SwiftUI that an app's files use beside the client's, with the signatures of Apple's documentation
// (https://developer.apple.com/documentation/swiftui), as far as the files here need them. Nothing is drawn.

/// A part of a user interface.
@MainActor
public protocol View {
    /// The type of the body.
    associatedtype Body: View
    /// What the view consists of.
    @ViewBuilder var body: Body { get }
}

extension Never: View {
    /// Never called.
    public var body: Never { fatalError("a primitive view has no body") }
}

/// A view that consists of nothing else.
public protocol PrimitiveView: View where Body == Never {}

extension PrimitiveView {
    /// Never called.
    public var body: Never { fatalError("a primitive view has no body") }
}

/// Several views.
public struct TupleView<Content>: PrimitiveView {}

/// A view or another one.
public struct ConditionalView<First, Second>: PrimitiveView {}

/// Makes a view of the statements of a closure.
@resultBuilder
@MainActor
public enum ViewBuilder {
    /// A single view.
    public static func buildBlock<Content: View>(_ content: Content) -> Content { content }

    /// Several views.
    public static func buildBlock<each Content: View>(
        _ content: repeat each Content
    ) -> TupleView<(repeat each Content)> { TupleView() }

    /// An `if` without `else`.
    public static func buildIf<Content: View>(_ content: Content?) -> ConditionalView<Content, Never> {
        ConditionalView()
    }

    /// An `if` with `else`.
    public static func buildEither<First: View, Second: View>(
        first: First
    ) -> ConditionalView<First, Second> { ConditionalView() }

    /// An `if` with `else`.
    public static func buildEither<First: View, Second: View>(
        second: Second
    ) -> ConditionalView<First, Second> { ConditionalView() }
}

/// A text.
public struct Text: PrimitiveView {
    /// Shows a text.
    public init(_ content: String) {}
}

/// A button.
public struct Button: PrimitiveView {
    /// Makes a button with a title.
    public init(_ title: String, action: @escaping @MainActor () -> Void) {}
}

/// A field for a text.
public struct TextField: PrimitiveView {
    /// Makes a field with a title.
    public init(_ title: String, text: Binding<String>) {}
}

/// Controls in groups.
public struct Form: PrimitiveView {
    /// Makes a form.
    public init<Content: View>(@ViewBuilder content: () -> Content) {}
}

/// Rows of data.
public struct List: PrimitiveView {
    /// Makes a row for each element.
    public init<Data: RandomAccessCollection, Row: View>(
        _ data: Data, @ViewBuilder rowContent: @escaping (Data.Element) -> Row
    ) where Data.Element: Identifiable {}
}

extension View {
    /// Starts a task when the view appears, and cancels it when it disappears.
    public func task(_ action: @escaping @MainActor @Sendable () async -> Void) -> some View { self }

    /// Calls an action for pull to refresh.
    public func refreshable(action: @escaping @MainActor @Sendable () async -> Void) -> some View { self }

    /// Calls an action when the view appears.
    public func onAppear(perform action: (@MainActor () -> Void)? = nil) -> some View { self }
}

/// A value that a view owns.
@propertyWrapper
@MainActor
public struct State<Value> {
    private final class Storage {
        var value: Value
        init(_ value: Value) { self.value = value }
    }

    private let storage: Storage

    /// The value.
    public var wrappedValue: Value {
        get { storage.value }
        nonmutating set { storage.value = newValue }
    }
    /// A binding to the value.
    public var projectedValue: Binding<Value> {
        Binding(get: { storage.value }, set: { storage.value = $0 })
    }

    /// Makes a state.
    public init(wrappedValue: Value) { storage = Storage(wrappedValue) }
}

/// A value that somebody else owns.
@propertyWrapper
@MainActor
public struct Binding<Value> {
    private let read: @MainActor () -> Value
    private let write: @MainActor (Value) -> Void

    /// The value.
    public var wrappedValue: Value {
        get { read() }
        nonmutating set { write(newValue) }
    }

    /// Makes a binding of two closures.
    public init(get: @escaping @MainActor () -> Value, set: @escaping @MainActor (Value) -> Void) {
        read = get
        write = set
    }
}

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
