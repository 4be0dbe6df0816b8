/// A path that may have parameters, `/locations/{id}`.
struct PathTemplate: Hashable, Sendable {
    private let segments: [Substring]

    /// Takes a path or a template apart.
    init(_ text: String) {
        segments = text.split(separator: "/", omittingEmptySubsequences: false)
    }

    /// Whether a path is one of the template's; a parameter is any segment that isn't empty.
    func matches(_ path: String) -> Bool {
        let others = path.split(separator: "/", omittingEmptySubsequences: false)
        return others.count == segments.count
            && zip(segments, others).allSatisfy { segment, other in
                segment.hasPrefix("{") && segment.hasSuffix("}") ? !other.isEmpty : segment == other
            }
    }
}
