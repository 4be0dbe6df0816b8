/// The version of a program, `1.4.0`: three numbers, of which the left ones count more.
public struct ProgramVersion: Sendable, Hashable, Comparable, CustomStringConvertible {
    private let numbers: [UInt32]

    /// Reads a version; nil for anything but three numbers with points between them.
    public init?(_ text: String) {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        // UInt32 would take a sign, too.
        let numbers = parts.compactMap { part in part.allSatisfy(\.isNumber) ? UInt32(part) : nil }
        guard parts.count == 3, numbers.count == 3 else { return nil }
        self.numbers = numbers
    }

    /// Whether the left version is the older one.
    public static func < (left: ProgramVersion, right: ProgramVersion) -> Bool {
        left.numbers.lexicographicallyPrecedes(right.numbers)
    }

    /// The version as it is written.
    public var description: String { numbers.map(String.init).joined(separator: ".") }
}
