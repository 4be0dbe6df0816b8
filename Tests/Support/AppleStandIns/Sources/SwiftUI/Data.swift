// Apple's pages say what each declaration is for.
// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

import Combine

// Where a view's values are: property wrappers.

/// swiftui/dynamicproperty
public protocol DynamicProperty {}

/// Where a wrapper of the stand-in keeps its value.
private final class Storage<Value> {
    var value: Value

    init(_ value: Value) {
        self.value = value
    }
}

/// swiftui/state
@propertyWrapper
public struct State<Value>: DynamicProperty {
    private let storage: Storage<Value>

    public init(wrappedValue value: Value) { storage = Storage(value) }
    public init(initialValue value: Value) { storage = Storage(value) }

    public var wrappedValue: Value {
        get { storage.value }
        nonmutating set { storage.value = newValue }
    }
    public var projectedValue: Binding<Value> {
        Binding(read: { [storage] in storage.value }, write: { [storage] in storage.value = $0 })
    }
}

/// swiftui/binding
@propertyWrapper @dynamicMemberLookup
public struct Binding<Value> {
    private let read: () -> Value
    private let write: (Value) -> Void

    init(read: @escaping () -> Value, write: @escaping (Value) -> Void) {
        self.read = read
        self.write = write
    }

    /// swiftui/binding/constant(_:)
    public static func constant(_ value: Value) -> Binding<Value> {
        Binding(read: { value }, write: { _ in })
    }

    public var wrappedValue: Value {
        get { read() }
        nonmutating set { write(newValue) }
    }
    public var projectedValue: Binding<Value> { self }

    public subscript<Subject>(dynamicMember keyPath: WritableKeyPath<Value, Subject>) -> Binding<Subject> {
        Binding<Subject>(
            read: { read()[keyPath: keyPath] },
            write: { subject in
                var value = read()
                value[keyPath: keyPath] = subject
                write(value)
            })
    }
}

/// swiftui/observedobject
@MainActor @preconcurrency @propertyWrapper
public struct ObservedObject<ObjectType: ObservableObject>: DynamicProperty {
    public var wrappedValue: ObjectType

    public init(wrappedValue: ObjectType) { self.wrappedValue = wrappedValue }
    public init(initialValue: ObjectType) { wrappedValue = initialValue }

    public var projectedValue: Wrapper { Wrapper(object: wrappedValue) }

    /// swiftui/observedobject/wrapper
    @MainActor @preconcurrency @dynamicMemberLookup
    public struct Wrapper {
        let object: ObjectType

        public subscript<Subject>(
            dynamicMember keyPath: ReferenceWritableKeyPath<ObjectType, Subject>
        ) -> Binding<Subject> {
            Binding(
                read: { [object] in object[keyPath: keyPath] },
                write: { [object] in object[keyPath: keyPath] = $0 })
        }
    }
}

/// swiftui/stateobject
@MainActor @preconcurrency @propertyWrapper
public struct StateObject<ObjectType: ObservableObject>: DynamicProperty {
    // Unsafe, because this module is compiled in Swift 6 mode: only the main actor makes views and draws them.
    nonisolated(unsafe) private let storage: Storage<ObjectType>

    nonisolated public init(wrappedValue thunk: @autoclosure @escaping () -> ObjectType) {
        storage = Storage(thunk())
    }

    public var wrappedValue: ObjectType { storage.value }
}

/// swiftui/environment
@propertyWrapper
public struct Environment<Value>: DynamicProperty {
    public let wrappedValue: Value

    public init(_ keyPath: KeyPath<EnvironmentValues, Value>) {
        wrappedValue = EnvironmentValues()[keyPath: keyPath]
    }
}

/// swiftui/environmentvalues
public struct EnvironmentValues {
    public init() {}

    /// swiftui/environmentvalues/scenephase
    public var scenePhase = ScenePhase.active
    /// swiftui/environmentvalues/openwindow
    public var openWindow = OpenWindowAction()
    /// swiftui/environmentvalues/dismiss
    public var dismiss = DismissAction()
    /// swiftui/environmentvalues/supportsmultiplewindows
    public var supportsMultipleWindows = true
}

/// swiftui/openwindowaction
@MainActor @preconcurrency
public struct OpenWindowAction {
    nonisolated init() {}

    /// swiftui/openwindowaction/callasfunction(id:)
    public func callAsFunction(id: String) {}
}

/// swiftui/dismissaction
@MainActor @preconcurrency
public struct DismissAction {
    nonisolated init() {}

    /// swiftui/dismissaction/callasfunction()
    public func callAsFunction() {}
}

/// swiftui/scenestorage
@propertyWrapper
public struct SceneStorage<Value>: DynamicProperty {
    private let storage: Storage<Value>

    public init(wrappedValue: Value, _ key: String) where Value: RawRepresentable, Value.RawValue == String {
        storage = Storage(wrappedValue)
    }
    public init(wrappedValue: Value, _ key: String) where Value == String { storage = Storage(wrappedValue) }

    public var wrappedValue: Value {
        get { storage.value }
        nonmutating set { storage.value = newValue }
    }
    public var projectedValue: Binding<Value> {
        Binding(read: { [storage] in storage.value }, write: { [storage] in storage.value = $0 })
    }
}
