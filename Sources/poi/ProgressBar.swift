import POIService

/// How far something has come, on one line of a terminal.
///
/// Unchecked, since a command has it to itself: its loop shows while its thread waits.
final class ProgressBar: @unchecked Sendable {
    private let unit: String
    private var shownPerMille = -1
    private var text = ""
    private var isFinished = false

    private static let width = 40

    init(unit: String) {
        self.unit = unit
    }

    /// Shows it, unless it would look the same.
    func show(_ done: Int, of total: Int) {
        let perMille = total > 0 ? min(1000, done * 1000 / total) : 1000
        text = Self.line(done, of: total, perMille: perMille, unit: unit)
        guard perMille != shownPerMille else { return }
        shownPerMille = perMille
        write("\r" + text)
    }

    /// Shows the end, and leaves the line; does nothing where nothing was shown, or the second time.
    func finish() {
        guard !isFinished, !text.isEmpty else { return }
        isFinished = true
        write("\r" + text + "\n")
    }

    deinit {
        // What went wrong is told on a line of its own.
        if !text.isEmpty, !isFinished { write("\n") }
    }

    private static func line(_ done: Int, of total: Int, perMille: Int, unit: String) -> String {
        let full = perMille * width / 1000
        let bar = String(repeating: "#", count: full) + String(repeating: "-", count: width - full)
        return "[\(bar)] \(perMille / 10) %  \(done) of \(max(done, total)) \(unit)"
    }

    private func write(_ text: String) {
        Terminal.showProgress(text)
    }
}
