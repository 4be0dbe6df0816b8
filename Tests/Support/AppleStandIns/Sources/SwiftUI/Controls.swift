// Apple's pages say what each declaration is for.
// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

// Texts, pictures and what is tapped.

/// swiftui/localizedstringkey
public struct LocalizedStringKey: Equatable, ExpressibleByStringInterpolation {
    let text: String

    public init(stringLiteral value: String) { text = value }
}

/// swiftui/text
public struct Text {
    /// swiftui/text/init(_:tablename:bundle:comment:)
    nonisolated public init(
        _ key: LocalizedStringKey, tableName: String? = nil, bundle: Bundle? = nil,
        comment: StaticString? = nil
    ) { Drawing.add(key.text) }
    /// swiftui/text/init(_:)
    @_disfavoredOverload
    nonisolated public init<S: StringProtocol>(_ content: S) { Drawing.add(content) }

    /// swiftui/text/bold()
    nonisolated public func bold() -> Text { self }
    /// swiftui/text/+(_:_:), replaced in iOS 26. Both were drawn when they were made.
    nonisolated public static func + (lhs: Text, rhs: Text) -> Text { lhs }
}
extension Text: View, Primitive {}

/// swiftui/image
public struct Image {
    /// swiftui/image/init(systemname:)
    nonisolated public init(systemName: String) {}
}
extension Image: View, Primitive {}

/// swiftui/label
public struct Label<Title: View, Icon: View> {}
extension Label: View, Primitive {}

extension Label where Title == Text, Icon == Image {
    /// swiftui/label/init(_:systemimage:)
    nonisolated public init(_ titleKey: LocalizedStringKey, systemImage name: String) {
        Drawing.add(titleKey.text)
    }
    @_disfavoredOverload
    nonisolated public init<S: StringProtocol>(_ title: S, systemImage name: String) {
        Drawing.add(title)
    }
}

/// swiftui/button
public struct Button<Label: View> {
    /// swiftui/button/init(action:label:)
    nonisolated public init(action: @escaping @MainActor () -> Void, @ViewBuilder label: () -> Label) {
        _ = label()
    }
}
extension Button: View, Primitive {}

extension Button where Label == Text {
    /// swiftui/button/init(_:action:)
    nonisolated public init(_ titleKey: LocalizedStringKey, action: @escaping @MainActor () -> Void) {
        Drawing.add(titleKey.text)
    }
    @_disfavoredOverload
    nonisolated public init<S: StringProtocol>(_ title: S, action: @escaping @MainActor () -> Void) {}
}

/// swiftui/buttonrole
public struct ButtonRole: Equatable, Sendable {
    public static let destructive = ButtonRole()
}

extension Button where Label == Text {
    /// swiftui/button/init(_:role:action:)
    nonisolated public init(
        _ titleKey: LocalizedStringKey, role: ButtonRole?, action: @escaping @MainActor () -> Void
    ) { Drawing.add(titleKey.text) }
}

/// swiftui/picker
public struct Picker<Label: View, SelectionValue: Hashable, Content: View> {}
extension Picker: View, Primitive {}

extension Picker where Label == Text {
    /// swiftui/picker/init(_:selection:content:)
    nonisolated public init(
        _ titleKey: LocalizedStringKey, selection: Binding<SelectionValue>,
        @ViewBuilder content: () -> Content
    ) {
        Drawing.add(titleKey.text)
        _ = content()
    }
    @_disfavoredOverload
    nonisolated public init<S: StringProtocol>(
        _ title: S, selection: Binding<SelectionValue>, @ViewBuilder content: () -> Content
    ) {
        Drawing.add(title)
        _ = content()
    }
}

/// swiftui/editbutton
public struct EditButton {
    nonisolated public init() {}
}
extension EditButton: View, Primitive {}

/// swiftui/link
public struct Link<Label: View> {}
extension Link: View, Primitive {}

extension Link where Label == Text {
    /// swiftui/link/init(_:destination:)
    nonisolated public init(_ titleKey: LocalizedStringKey, destination: URL) { Drawing.add(titleKey.text) }
}

/// swiftui/textfield
public struct TextField<Label: View> {}
extension TextField: View, Primitive {}

extension TextField where Label == Text {
    /// swiftui/textfield/init(_:text:)
    nonisolated public init(_ titleKey: LocalizedStringKey, text: Binding<String>) {}
    @_disfavoredOverload
    nonisolated public init<S: StringProtocol>(_ title: S, text: Binding<String>) {}
    /// swiftui/textfield/init(_:text:axis:)
    nonisolated public init(_ titleKey: LocalizedStringKey, text: Binding<String>, axis: Axis) {}
}

/// swiftui/axis
public enum Axis: Int8 { case horizontal, vertical }

/// swiftui/securefield
public struct SecureField<Label: View> {}
extension SecureField: View, Primitive {}

extension SecureField where Label == Text {
    /// swiftui/securefield/init(_:text:)
    nonisolated public init(_ titleKey: LocalizedStringKey, text: Binding<String>) {}
}

/// swiftui/progressview
public struct ProgressView<Label: View, CurrentValueLabel: View> {}
extension ProgressView: View, Primitive {}

extension ProgressView where CurrentValueLabel == EmptyView {
    /// swiftui/progressview/init()
    nonisolated public init() where Label == EmptyView {}
}
