import Foundation

/// Whole lines to standard output and standard error, at once also where they are pipes.
package enum Terminal {
    /// Writes a line to standard output.
    package static func print(_ text: String) {
        FileHandle.standardOutput.write(Data((text + "\n").utf8))
    }

    /// Writes a line to standard error.
    package static func printError(_ text: String) {
        FileHandle.standardError.write(Data((text + "\n").utf8))
    }
}
