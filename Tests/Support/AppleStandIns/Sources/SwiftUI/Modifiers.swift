// Apple's pages say what each declaration is for.
// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

import UIKit

// What changes a view.

extension View {
    /// swiftui/view/task(priority:_:)
    nonisolated public func task(
        priority: TaskPriority = .userInitiated,
        @_inheritActorContext _ action: @escaping @Sendable () async -> Void
    ) -> some View { Modified(of: self) }
    /// swiftui/view/task(id:priority:_:)
    nonisolated public func task<T: Equatable>(
        id value: T, priority: TaskPriority = .userInitiated,
        @_inheritActorContext _ action: @escaping @Sendable () async -> Void
    ) -> some View { Modified(of: self) }
    /// swiftui/view/refreshable(action:)
    nonisolated public func refreshable(action: @escaping @Sendable () async -> Void) -> some View {
        Modified(of: self)
    }
    /// swiftui/view/onappear(perform:)
    nonisolated public func onAppear(perform action: (() -> Void)? = nil) -> some View { Modified(of: self) }
    /// swiftui/view/onchange(of:perform:), replaced in iOS 17
    nonisolated public func onChange<V: Equatable>(
        of value: V, perform action: @escaping (V) -> Void
    ) -> some View { Modified(of: self) }
    /// swiftui/view/onsubmit(of:_:)
    nonisolated public func onSubmit(
        of triggers: SubmitTriggers = .text, _ action: @escaping (() -> Void)
    ) -> some View { Modified(of: self) }
    /// swiftui/view/searchable(text:placement:prompt:)-1bjj3
    nonisolated public func searchable(
        text: Binding<String>, placement: SearchFieldPlacement = .automatic, prompt: LocalizedStringKey
    ) -> some View { Modified(of: self) }
    /// swiftui/view/searchscopes(_:scopes:)
    nonisolated public func searchScopes<V: Hashable, S: View>(
        _ scope: Binding<V>, @ViewBuilder scopes: () -> S
    ) -> some View {
        _ = scopes()
        return Modified(of: self)
    }
}

// Navigation

extension View {
    /// swiftui/view/navigationtitle(_:)
    nonisolated public func navigationTitle(_ titleKey: LocalizedStringKey) -> some View {
        Modified(of: self)
    }
    @_disfavoredOverload
    nonisolated public func navigationTitle<S: StringProtocol>(_ title: S) -> some View { Modified(of: self) }
    /// swiftui/view/navigationbartitledisplaymode(_:)
    nonisolated public func navigationBarTitleDisplayMode(
        _ displayMode: NavigationBarItem.TitleDisplayMode
    ) -> some View { Modified(of: self) }
    /// swiftui/view/navigationdestination(for:destination:)
    nonisolated public func navigationDestination<D: Hashable, C: View>(
        for data: D.Type, @ViewBuilder destination: @escaping (D) -> C
    ) -> some View { Modified(of: self) }
    /// swiftui/view/toolbar(content:)-5w0tj
    nonisolated public func toolbar<Content: View>(@ViewBuilder content: () -> Content) -> some View {
        _ = content()
        return Modified(of: self)
    }
    /// swiftui/view/tabitem(_:)
    nonisolated public func tabItem<V: View>(@ViewBuilder _ label: () -> V) -> some View {
        _ = label()
        return Modified(of: self)
    }
    /// swiftui/view/tag(_:)
    nonisolated public func tag<V: Hashable>(_ tag: V) -> some View { Modified(of: self) }
    /// swiftui/view/id(_:)
    nonisolated public func id<ID: Hashable>(_ id: ID) -> some View { Modified(of: self) }
}

// What lies above a screen. It is drawn when it is shown, which nothing here does.

extension View {
    /// swiftui/view/sheet(ispresented:ondismiss:content:)
    nonisolated public func sheet<Content: View>(
        isPresented: Binding<Bool>, onDismiss: (() -> Void)? = nil,
        @ViewBuilder content: @escaping () -> Content
    ) -> some View { Modified(of: self) }
    /// swiftui/view/interactivedismissdisabled(_:)
    nonisolated public func interactiveDismissDisabled(_ isDisabled: Bool = true) -> some View {
        Modified(of: self)
    }
    /// swiftui/view/confirmationdialog(_:ispresented:titlevisibility:actions:)
    nonisolated public func confirmationDialog<A: View>(
        _ titleKey: LocalizedStringKey, isPresented: Binding<Bool>, titleVisibility: Visibility = .automatic,
        @ViewBuilder actions: () -> A
    ) -> some View { Modified(of: self) }
}

/// swiftui/visibility
public enum Visibility: Hashable, CaseIterable { case automatic, visible, hidden }

// Appearance

extension View {
    /// swiftui/view/font(_:)
    nonisolated public func font(_ font: Font?) -> some View { Modified(of: self) }
    /// swiftui/view/foregroundstyle(_:)
    nonisolated public func foregroundStyle<S: ShapeStyle>(_ style: S) -> some View { Modified(of: self) }
    /// swiftui/view/background(_:ignoressafeareaedges:)
    nonisolated public func background<S: ShapeStyle>(
        _ style: S, ignoresSafeAreaEdges edges: Edge.Set = .all
    ) -> some View { Modified(of: self) }
    /// swiftui/view/background(_:in:fillstyle:)-3h41k
    nonisolated public func background<S: ShapeStyle, T: Shape>(_ style: S, in shape: T) -> some View {
        Modified(of: self)
    }
    /// swiftui/view/padding(_:_:)
    nonisolated public func padding(_ edges: Edge.Set = .all, _ length: CGFloat? = nil) -> some View {
        Modified(of: self)
    }
    /// swiftui/view/overlay(alignment:content:)
    nonisolated public func overlay<V: View>(
        alignment: Alignment = .center, @ViewBuilder content: () -> V
    ) -> some View {
        _ = content()
        return Modified(of: self)
    }
    /// swiftui/view/safeareainset(edge:alignment:spacing:content:)-4s51l
    nonisolated public func safeAreaInset<V: View>(
        edge: VerticalEdge, alignment: HorizontalAlignment = .center, spacing: CGFloat? = nil,
        @ViewBuilder content: () -> V
    ) -> some View {
        _ = content()
        return Modified(of: self)
    }
    /// swiftui/view/disabled(_:)
    nonisolated public func disabled(_ disabled: Bool) -> some View { Modified(of: self) }
    /// swiftui/view/previewdisplayname(_:)
    nonisolated public func previewDisplayName(_ value: String?) -> some View { Modified(of: self) }
}

// Keyboard and accessibility

extension View {
    /// swiftui/view/keyboardtype(_:)
    nonisolated public func keyboardType(_ type: UIKeyboardType) -> some View { Modified(of: self) }
    /// swiftui/view/textinputautocapitalization(_:)
    nonisolated public func textInputAutocapitalization(
        _ autocapitalization: TextInputAutocapitalization?
    ) -> some View { Modified(of: self) }
    /// swiftui/view/autocorrectiondisabled(_:)
    nonisolated public func autocorrectionDisabled(_ disable: Bool = true) -> some View { Modified(of: self) }
    /// swiftui/view/accessibilitylabel(_:)
    nonisolated public func accessibilityLabel(_ labelKey: LocalizedStringKey) -> some View {
        Drawing.add(labelKey.text)
        return Modified(of: self)
    }
    @_disfavoredOverload
    nonisolated public func accessibilityLabel<S: StringProtocol>(_ label: S) -> some View {
        Drawing.add(label)
        return Modified(of: self)
    }
    /// swiftui/view/accessibilityelement(children:)
    nonisolated public func accessibilityElement(
        children: AccessibilityChildBehavior = .ignore
    ) -> some View { Modified(of: self) }
}

/// swiftui/navigationbaritem
public struct NavigationBarItem: Sendable {
    /// swiftui/navigationbaritem/titledisplaymode
    public enum TitleDisplayMode: Sendable { case automatic, inline, large }
}

/// swiftui/submittriggers
public struct SubmitTriggers: OptionSet, Sendable {
    public let rawValue: Int
    public init(rawValue: Int) { self.rawValue = rawValue }
    public static let text = SubmitTriggers(rawValue: 1)
    public static let search = SubmitTriggers(rawValue: 2)
}

/// swiftui/searchfieldplacement
public struct SearchFieldPlacement: Sendable {
    public static let automatic = SearchFieldPlacement()
}

/// swiftui/textinputautocapitalization
public struct TextInputAutocapitalization: Sendable {
    public static var never: TextInputAutocapitalization { TextInputAutocapitalization() }
}

/// swiftui/accessibilitychildbehavior
public struct AccessibilityChildBehavior: Hashable, Sendable {
    public static let ignore = AccessibilityChildBehavior()
    public static let combine = AccessibilityChildBehavior()
}

/// swiftui/verticaledge
public enum VerticalEdge: Int8 { case top, bottom }

/// swiftui/edge
public enum Edge: Int8 {
    case top, leading, bottom, trailing

    /// swiftui/edge/set
    public struct Set: OptionSet, Sendable {
        public let rawValue: Int8
        public init(rawValue: Int8) { self.rawValue = rawValue }
        public static let all = Edge.Set(rawValue: 15)
    }
}

/// swiftui/font
public struct Font: Hashable, Sendable {
    public static let title = Font()
    public static let headline = Font()
    public static let footnote = Font()
}

/// swiftui/shape
public protocol Shape: Sendable {}

/// swiftui/circle
public struct Circle: Shape {
    nonisolated public init() {}
}

/// swiftui/shapestyle
public protocol ShapeStyle: Sendable {}

/// swiftui/color
public struct Color: ShapeStyle, Hashable {}
extension ShapeStyle where Self == Color {
    public static var red: Color { Color() }
}

/// swiftui/hierarchicalshapestyle
public struct HierarchicalShapeStyle: ShapeStyle {}
extension ShapeStyle where Self == HierarchicalShapeStyle {
    public static var secondary: HierarchicalShapeStyle { HierarchicalShapeStyle() }
}

/// swiftui/material
public struct Material: ShapeStyle {}
extension ShapeStyle where Self == Material {
    public static var thinMaterial: Material { Material() }
    public static var bar: Material { Material() }
}
