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
