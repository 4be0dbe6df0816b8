// Apple's pages say what each declaration is for.
// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

// What is around the views.

/// swiftui/app
@MainActor @preconcurrency
public protocol App {
    associatedtype Body: Scene
    @SceneBuilder @MainActor @preconcurrency var body: Body { get }
    @MainActor @preconcurrency init()
}

extension App {
    /// swiftui/app/main()
    @MainActor public static func main() { _ = Self.init().body }
}

/// swiftui/scene
@MainActor @preconcurrency
public protocol Scene {
    associatedtype Body: Scene
    @SceneBuilder @MainActor @preconcurrency var body: Body { get }
}

extension Never: Scene {}

extension Scene where Body == Never {
    public var body: Never { fatalError("nothing is drawn here") }
}

extension Scene {
    /// swiftui/scene/onchange(of:perform:), replaced in iOS 17
    nonisolated public func onChange<V: Equatable>(
        of value: V, perform action: @escaping (V) -> Void
    ) -> some Scene {
        ModifiedScene()
    }
}

/// What a modifier of the stand-in returns.
struct ModifiedScene {}
extension ModifiedScene: Scene {
    typealias Body = Never
}

/// swiftui/scenebuilder
@resultBuilder
public struct SceneBuilder {
    public static func buildExpression<Content: Scene>(_ content: Content) -> Content { content }
    public static func buildBlock<Content: Scene>(_ content: Content) -> Content { content }
}

/// swiftui/windowgroup
public struct WindowGroup<Content: View> {
    /// swiftui/windowgroup/init(content:)
    nonisolated public init(@ViewBuilder content: () -> Content) { _ = content() }
}
extension WindowGroup: Scene {
    public typealias Body = Never
}

/// swiftui/scenephase
public enum ScenePhase: Comparable, Hashable, Sendable {
    case background
    case inactive
    case active
}
