import PointsOfInterestServerAPI

struct ReferencePage {
    private let definitions: [EventDefinition]
    private let folder: String

    init(_ definitions: [EventDefinition], folder: String) {
        self.definitions = definitions
        self.folder = folder
    }

    var text: String {
        var lines = [
            "# Events", "",
            "<!-- Made by generate-events from the definitions in \(folder). Changes belong there. -->",
        ]
        for definition in definitions { lines += section(definition) }
        return lines.joined(separator: "\n") + "\n"
    }

    private func section(_ definition: EventDefinition) -> [String] {
        var lines = ["", "## `\(definition.name)`", "", Self.escaped(definition.description)]
        if !definition.parameters.isEmpty {
            lines += ["", "| value | what it is | what it may be | |", "|---|---|---|---|"]
            lines += definition.parameters.map { parameter in
                "| `\(parameter.name)` | \(Self.escaped(parameter.description)) | "
                    + "\(Self.escaped(Self.text(parameter.kind))) | \(parameter.isRequired ? "always" : "optional") |"
            }
        }
        if !definition.allowsOthers { lines += ["", "It has no other values."] }
        return lines
    }

    private static func text(_ kind: EventParameter.Kind) -> String {
        switch kind {
        case .text(let length): "a text\(text(length))"
        case .choice(let values): "one of \(list(values))"
        case .openChoice(let values, let length): "\(list(values)), or another text\(text(length))"
        case .integer(let range): "a whole number" + text(range, minimum: .min, maximum: .max)
        case .number(let range):
            "a number" + text(range, minimum: -.greatestFiniteMagnitude, maximum: .greatestFiniteMagnitude)
        case .boolean: "`true` or `false`"
        }
    }

    private static func list(_ values: [String]) -> String {
        values.map { "`\($0)`" }.joined(separator: ", ")
    }

    private static func text(_ length: ClosedRange<Int>) -> String {
        let end = length.upperBound == EventParameter.anyLength.upperBound ? nil : length.upperBound
        return switch (length.lowerBound, end) {
        case (0, nil): ""
        case (let start, nil): " of at least \(start) characters"
        case (0, let end?): " of at most \(end) characters"
        case (let start, let end?): " of \(start) to \(end) characters"
        }
    }

    private static func text<Number: Comparable>(
        _ range: ClosedRange<Number>, minimum: Number, maximum: Number
    ) -> String {
        switch (range.lowerBound == minimum, range.upperBound == maximum) {
        case (true, true): ""
        case (false, true): " from \(range.lowerBound)"
        case (true, false): " up to \(range.upperBound)"
        case (false, false): " from \(range.lowerBound) to \(range.upperBound)"
        }
    }

    /// Text that Markdown takes as it is, in a table too.
    private static func escaped(_ text: String) -> String {
        text.replacing("|", with: "\\|").replacing("<", with: "&lt;")
    }
}
