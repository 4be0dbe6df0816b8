/// What `poi doctor` found of one subject, and what to do about it.
package struct Finding: Hashable, Sendable {
    /// How bad it is. The raw value is the exit code that says so, as monitoring plugins have it (Monitoring Plugins
    /// Development Guidelines, "Plugin Return Codes").
    package enum Grade: Int32, Hashable, Sendable, Comparable {
        /// Nothing needs to be done.
        case good = 0
        /// It works, but will fail or be slow some day.
        case warning = 1
        /// It doesn't work, or loses data.
        case fault = 2

        /// A warning is worse than nothing, and a fault worse than a warning.
        package static func < (first: Self, second: Self) -> Bool { first.rawValue < second.rawValue }
    }

    /// How bad it is.
    package let grade: Grade
    /// What was looked at, in a word or two.
    package let subject: String
    package let text: String
    /// What to do, on one line; nil where nothing needs to be done.
    package let advice: String?

    /// Makes a finding that needs nothing to be done.
    package init(_ subject: String, good text: String) {
        (grade, self.subject, self.text, advice) = (.good, subject, text, nil)
    }

    package init(_ subject: String, _ grade: Grade, _ text: String, advice: String) {
        (self.grade, self.subject, self.text, self.advice) = (grade, subject, text, advice)
    }
}

extension Finding: CustomStringConvertible {
    package var description: String {
        let line = "\("\(grade)".padded(to: 8)) \(subject): \(text)"
        return advice.map { "\(line)\n\("".padded(to: 8)) -> \($0)" } ?? line
    }
}

extension String {
    fileprivate func padded(to count: Int) -> String {
        self + String(repeating: " ", count: max(0, count - self.count))
    }
}
