import Foundation

/// Why a queue can't be opened.
public enum EventQueueError: Error, Hashable, Sendable {
    /// Another process, or another queue of this one, has the folder.
    case inUse
    /// The folder or a file in it can't be made, read or written; `code` is an `errno`.
    case file(operation: String, code: Int32)
}

extension EventQueueError: LocalizedError {
    /// One sentence for a developer.
    public var errorDescription: String? {
        switch self {
        case .inUse: "The folder of the queue of events is in use."
        case .file(let operation, let code): "\(operation): \(String(cString: strerror(code)))."
        }
    }
}
