// Apple's pages say what each declaration is for.
// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

// What Examples/Places uses of SwiftUI, with Apple's names, types and concurrency, and what iOS 16 has of it alone:
// what is newer isn't here, so a view that uses it doesn't compile.
//
// Tests/Support/OutsidePackage has a few names of SwiftUI, too: its client must find no Combine, which this one needs.
//
// Each declaration names its page below https://developer.apple.com/documentation/. Modifiers return some view, as
// Apple's do.

@_exported import Foundation

/// swiftui/view
@MainActor @preconcurrency
public protocol View {
    associatedtype Body: View
    @ViewBuilder @MainActor @preconcurrency var body: Body { get }
}

/// A view of the stand-in itself, which has no views inside that SwiftUI would ask it for.
public protocol Primitive: View where Body == Never {}

extension Primitive {
    public var body: Never { fatalError("nothing is drawn here") }
}

/// swift/never
extension Never: View {
    public var body: Never { fatalError("nothing is drawn here") }
}

/// swift/optional
extension Optional: View where Wrapped: View {
    public var body: Never { fatalError("nothing is drawn here") }
}

/// swiftui/viewbuilder
@resultBuilder
public struct ViewBuilder {
    public static func buildExpression<Content: View>(_ content: Content) -> Content {
        Drawing.draw(content)
        return content
    }
    public static func buildBlock() -> EmptyView { EmptyView() }
    public static func buildBlock<Content: View>(_ content: Content) -> Content { content }
    public static func buildBlock<each Content>(
        _ content: repeat each Content
    ) -> TupleView<(repeat each Content)> where repeat each Content: View {
        TupleView((repeat each content))
    }
    public static func buildIf<Content: View>(_ content: Content?) -> Content? { content }
    public static func buildEither<True: View, False: View>(first: True) -> ConditionalContent<True, False> {
        .first(first)
    }
    public static func buildEither<True: View, False: View>(
        second: False
    ) -> ConditionalContent<True, False> {
        .second(second)
    }
}

/// swiftui/emptyview
public struct EmptyView {
    public init() {}
}
extension EmptyView: Primitive {}

/// swiftui/tupleview
public struct TupleView<Content> {
    public init(_ value: Content) {}
}
extension TupleView: View, Primitive {}

/// SwiftUI's `_ConditionalContent`.
public enum ConditionalContent<True: View, False: View> {
    case first(True)
    case second(False)
}
extension ConditionalContent: View, Primitive {}

/// What a modifier of the stand-in returns.
public struct Modified {
    nonisolated init(of view: some View) { Drawing.draw(view) }
}
extension Modified: View, Primitive {}

/// swiftui/previewprovider
@MainActor @preconcurrency
public protocol PreviewProvider {
    associatedtype Previews: View
    @ViewBuilder @MainActor @preconcurrency static var previews: Previews { get }
}

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
    /// swiftui/windowgroup/init(id:content:)
    nonisolated public init(id: String, @ViewBuilder content: () -> Content) { _ = content() }
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

/// The stand-in's drawing: the texts of a view, in order. It makes the body of each view that it meets. Nothing that waits
/// is started, and nothing is tapped.
public enum Drawing {
    private final class Texts: @unchecked Sendable {
        // Unchecked, because only the main actor draws.
        var lines: [String] = []
    }

    @TaskLocal private static var texts: Texts?

    /// Returns the texts of a view.
    @MainActor
    public static func texts<Content: View>(of view: @autoclosure () -> Content) -> [String] {
        let texts = Texts()
        $texts.withValue(texts) { draw(view()) }
        return texts.lines
    }

    static func add(_ text: some StringProtocol) {
        guard !text.isEmpty else { return }
        texts?.lines.append(String(text))
    }

    /// Makes the body of an app's view. A view of the stand-in made its own when it was made.
    static func draw<Content: View>(_ view: Content) {
        guard texts != nil, Content.Body.self != Never.self else { return }
        nonisolated(unsafe) let view = view
        // Its builder draws what is inside.
        MainActor.assumeIsolated { _ = view.body }
    }
}
