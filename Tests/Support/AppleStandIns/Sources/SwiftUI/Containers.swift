// Apple's pages say what each declaration is for.
// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

// Views with views inside. What is inside is made at once, as far as it doesn't depend on the screen.

/// swiftui/horizontalalignment
public enum HorizontalAlignment { case leading, center, trailing }
/// swiftui/verticalalignment
public enum VerticalAlignment { case top, center, bottom }
/// swiftui/alignment
public enum Alignment { case top, center, bottom, leading, trailing }

/// swiftui/hstack
public struct HStack<Content: View> {
    /// swiftui/hstack/init(alignment:spacing:content:)
    nonisolated public init(
        alignment: VerticalAlignment = .center, spacing: CGFloat? = nil, @ViewBuilder content: () -> Content
    ) { _ = content() }
}
extension HStack: View, Primitive {}

/// swiftui/vstack
public struct VStack<Content: View> {
    /// swiftui/vstack/init(alignment:spacing:content:)
    nonisolated public init(
        alignment: HorizontalAlignment = .center, spacing: CGFloat? = nil, @ViewBuilder content: () -> Content
    ) { _ = content() }
}
extension VStack: View, Primitive {}

/// swiftui/spacer
public struct Spacer {
    nonisolated public init(minLength: CGFloat? = nil) {}
}
extension Spacer: View, Primitive {}

/// swiftui/list
public struct List<SelectionValue: Hashable, Content: View> {}
extension List: View, Primitive {}

extension List where SelectionValue == Never {
    /// swiftui/list/init(content:)
    nonisolated public init(@ViewBuilder content: () -> Content) { _ = content() }
}

/// swiftui/form
public struct Form<Content: View> {
    /// swiftui/form/init(content:)
    nonisolated public init(@ViewBuilder content: () -> Content) { _ = content() }
}
extension Form: View, Primitive {}

/// swiftui/foreach
public struct ForEach<Data: RandomAccessCollection, ID: Hashable, Content> {
    public let data: Data
}
extension ForEach: View, Primitive where Content: View {}

extension ForEach where ID == Data.Element.ID, Content: View, Data.Element: Identifiable {
    /// swiftui/foreach/init(_:content:)
    nonisolated public init(_ data: Data, @ViewBuilder content: @escaping (Data.Element) -> Content) {
        self.data = data
        for element in data { _ = content(element) }
    }
}

extension ForEach where Content: View {
    /// swiftui/foreach/init(_:id:content:)
    nonisolated public init(
        _ data: Data, id: KeyPath<Data.Element, ID>, @ViewBuilder content: @escaping (Data.Element) -> Content
    ) {
        self.data = data
        for element in data { _ = content(element) }
    }
}

/// swiftui/dynamicviewcontent
public protocol DynamicViewContent: View {
    associatedtype Data: Collection
    var data: Data { get }
}

extension ForEach: DynamicViewContent where Content: View {}

extension DynamicViewContent {
    /// swiftui/dynamicviewcontent/ondelete(perform:)
    nonisolated public func onDelete(perform action: ((IndexSet) -> Void)?) -> some DynamicViewContent {
        self
    }
    /// swiftui/dynamicviewcontent/onmove(perform:)
    nonisolated public func onMove(perform action: ((IndexSet, Int) -> Void)?) -> some DynamicViewContent {
        self
    }
}

/// swiftui/geometryreader
public struct GeometryReader<Content: View> {
    /// swiftui/geometryreader/init(content:)
    nonisolated public init(@ViewBuilder content: @escaping (GeometryProxy) -> Content) {
        _ = content(GeometryProxy())
    }
}
extension GeometryReader: View, Primitive {}

/// swiftui/geometryproxy
public struct GeometryProxy {
    /// swiftui/geometryproxy/size
    public var size: CGSize { CGSize(width: 375, height: 667) }
}

/// swiftui/section
public struct Section<Parent, Content, Footer> {}
extension Section: View, Primitive where Parent: View, Content: View, Footer: View {}

extension Section where Parent == EmptyView, Content: View, Footer == EmptyView {
    /// swiftui/section/init(content:)
    nonisolated public init(@ViewBuilder content: () -> Content) { _ = content() }
}
extension Section where Parent == EmptyView, Content: View, Footer: View {
    /// swiftui/section/init(content:footer:)
    nonisolated public init(@ViewBuilder content: () -> Content, @ViewBuilder footer: () -> Footer) {
        _ = (content(), footer())
    }
}
extension Section where Parent: View, Content: View, Footer: View {
    /// swiftui/section/init(content:header:footer:)
    nonisolated public init(
        @ViewBuilder content: () -> Content, @ViewBuilder header: () -> Parent,
        @ViewBuilder footer: () -> Footer
    ) { _ = (content(), header(), footer()) }
}

/// swiftui/labeledcontent
public struct LabeledContent<Label, Content> {}
extension LabeledContent: View, Primitive where Label: View, Content: View {}

extension LabeledContent where Label == Text, Content: View {
    /// swiftui/labeledcontent/init(_:content:)
    nonisolated public init<S: StringProtocol>(_ title: S, @ViewBuilder content: () -> Content) {
        Drawing.add(title)
        _ = content()
    }
}

/// swiftui/tabview
public struct TabView<SelectionValue: Hashable, Content: View> {
    /// swiftui/tabview/init(selection:content:)
    nonisolated public init(selection: Binding<SelectionValue>?, @ViewBuilder content: () -> Content) {
        _ = content()
    }
}
extension TabView: View, Primitive {}

/// swiftui/navigationpath
public struct NavigationPath {}

/// swiftui/navigationstack
public struct NavigationStack<Data, Root: View> {}
extension NavigationStack: View, Primitive {}

extension NavigationStack where Data == NavigationPath {
    /// swiftui/navigationstack/init(root:)
    nonisolated public init(@ViewBuilder root: () -> Root) { _ = root() }
}
extension NavigationStack
where
    Data: MutableCollection, Data: RandomAccessCollection, Data: RangeReplaceableCollection,
    Data.Element: Hashable
{
    /// swiftui/navigationstack/init(path:root:)-3bt4q
    nonisolated public init(path: Binding<Data>, @ViewBuilder root: () -> Root) { _ = root() }
}

/// swiftui/navigationlink
public struct NavigationLink<Label: View, Destination: View> {}
extension NavigationLink: View, Primitive {}

extension NavigationLink where Destination == Never {
    /// swiftui/navigationlink/init(value:label:)
    nonisolated public init<P: Hashable>(value: P?, @ViewBuilder label: () -> Label) { _ = label() }
}
