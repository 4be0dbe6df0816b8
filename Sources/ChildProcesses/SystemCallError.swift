import Foundation

/// A call to the operating system that failed.
package struct SystemCallError: Error, Hashable, CustomStringConvertible, LocalizedError {
    /// Which call, and on what.
    package let call: String
    /// The `errno` of the failure.
    package let code: Int32

    /// Makes the error of a call.
    package init(_ call: String, code: Int32) {
        self.call = call
        self.code = code
    }

    /// The call and what the system calls the failure.
    package var description: String { "\(call): \(String(cString: strerror(code)))" }

    /// The same as `description`.
    package var errorDescription: String? { description }
}

/// Turns the −1 of a failed system call into an error that names the call.
@discardableResult
package func check(_ result: Int32, _ call: String) throws(SystemCallError) -> Int32 {
    guard result >= 0 else { throw SystemCallError(call, code: errno) }
    return result
}
