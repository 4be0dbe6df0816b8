import ServerProcess

/// A place to ask from that can't be mistaken for anything else in a log.
package let secretTarget = "/locations?lat=37.32931357&long=-121.88938642"

extension ProgramOutput {
    /// The lines that no program may write: signs of a crash, and what tells from where ``secretTarget`` asks.
    package var unsoundLines: [String] {
        let signs = ["Fatal error", "Assertion", "Precondition", "Crash", "Sanitizer", "corrupt", "SUMMARY"]
        return lines.map(\.text).filter { line in
            line.tellsCoordinates || signs.contains { line.contains($0) }
        }
    }
}

extension String {
    /// Whether it tells from where ``secretTarget`` asks.
    package var tellsCoordinates: Bool { contains("37.3293135") || contains("121.8893864") }
}
