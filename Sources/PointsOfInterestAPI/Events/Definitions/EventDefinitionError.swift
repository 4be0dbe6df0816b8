#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// A definition of an event that can't be used; its description is one line.
public struct EventDefinitionError: Error, Hashable, Sendable, CustomStringConvertible, LocalizedError {
    /// The file, or the folder.
    public let file: String
    /// What is wrong with it.
    public let reason: String

    /// Makes an error.
    public init(file: String, reason: String) {
        self.file = file
        self.reason = reason
    }

    /// The file and what is wrong with it, on one line.
    public var description: String { "\(file): \(reason)" }

    /// The file and what is wrong with it, on one line.
    public var errorDescription: String? { description }
}
