import EventLoop

package struct Setting<Value: Sendable>: Sendable {
    package let name: SettingName
    /// In half a sentence, for error messages.
    package let purpose: String
    package let defaultText: String?
    package let isSecret: Bool
    package let parse: @Sendable (String) throws(SettingRejection) -> Value

    package init(
        _ name: SettingName, _ purpose: String, default defaultText: String? = nil, isSecret: Bool = false,
        parse: @escaping @Sendable (String) throws(SettingRejection) -> Value
    ) {
        self.name = name
        self.purpose = purpose
        self.defaultText = defaultText
        self.isSecret = isSecret
        self.parse = parse
    }
}

package struct SettingRejection: Error {
    package let expected: String

    /// - Parameter expected: the values that are valid, in words.
    package init(expected: String) {
        self.expected = expected
    }
}

extension Setting where Value == Int {
    package static func integer(
        _ name: SettingName, _ purpose: String, in range: ClosedRange<Int>, default defaultValue: Int
    ) -> Setting {
        Setting(name, purpose, default: String(defaultValue)) { (text) throws(SettingRejection) in
            try parse(text, in: range)
        }
    }

    package static func optionalInteger(
        _ name: SettingName, _ purpose: String, in range: ClosedRange<Int>
    ) -> Setting {
        Setting(name, purpose) { (text) throws(SettingRejection) in try parse(text, in: range) }
    }

    /// Such as `13 months`.
    package static func optionalMonths(
        _ name: SettingName, _ purpose: String, in range: ClosedRange<Int>
    ) -> Setting {
        Setting(name, purpose) { (text) throws(SettingRejection) in
            try parse(text, of: "month", in: range, example: 13)
        }
    }

    /// Such as `400 days`.
    package static func days(
        _ name: SettingName, _ purpose: String, default defaultCount: Int, in range: ClosedRange<Int>
    ) -> Setting {
        Setting(name, purpose, default: "\(defaultCount) days") { (text) throws(SettingRejection) in
            try parse(text, of: "day", in: range, example: defaultCount)
        }
    }

    /// A number and its unit, in the singular or the plural.
    private static func parse(
        _ text: String, of unit: String, in range: ClosedRange<Int>, example: Int
    ) throws(SettingRejection) -> Int {
        let words = text.split(separator: " ", omittingEmptySubsequences: false)
        guard words.count == 2, words[1] == unit || words[1] == unit + "s", let count = Int(words[0]),
            range.contains(count)
        else {
            throw SettingRejection(
                expected: "\(range.lowerBound) to \(range.upperBound) \(unit)s, such as \(example) \(unit)s")
        }
        return count
    }

    /// Such as `512MiB` or `2GiB`.
    package static func optionalBytes(
        _ name: SettingName, _ purpose: String, in range: ClosedRange<Int>
    ) -> Setting {
        Setting(name, purpose) { (text) throws(SettingRejection) in
            guard let bytes = bytes(text), range.contains(bytes) else {
                throw SettingRejection(
                    expected: "bytes, such as 512MiB or 2GiB, at least \(range.lowerBound)")
            }
            return bytes
        }
    }

    /// Nil for anything else than such a number.
    package static func bytes(_ text: String) -> Int? {
        let units = [("KiB", 10), ("MiB", 20), ("GiB", 30), ("TiB", 40), ("", 0)]
        let unit = units.first { text.hasSuffix($0.0) } ?? ("", 0)
        let product = Int(text.dropLast(unit.0.count))?.multipliedReportingOverflow(by: 1 << unit.1)
        return product?.overflow == false ? product?.partialValue : nil
    }

    private static func parse(_ text: String, in range: ClosedRange<Int>) throws(SettingRejection) -> Int {
        guard let value = Int(text), range.contains(value) else {
            throw SettingRejection(
                expected: "a whole number from \(range.lowerBound) to \(range.upperBound)")
        }
        return value
    }
}

extension Setting where Value == Bool {
    /// `true`, `on`, `yes`, `1` or their opposites.
    package static func flag(_ name: SettingName, _ purpose: String, default defaultValue: Bool) -> Setting {
        Setting(name, purpose, default: defaultValue ? "true" : "false") {
            (text) throws(SettingRejection) in
            switch text.lowercased() {
            case "true", "on", "yes", "1": return true
            case "false", "off", "no", "0": return false
            default: throw SettingRejection(expected: "true or false")
            }
        }
    }
}

extension Setting where Value == Duration {
    /// Such as `250ms`, `2s` or `1m`, or a number of seconds.
    package static func duration(
        _ name: SettingName, _ purpose: String, in range: ClosedRange<Duration>, default defaultText: String
    ) -> Setting {
        Setting(name, purpose, default: defaultText) { (text) throws(SettingRejection) in
            guard let value = Duration(settingText: text), range.contains(value) else {
                throw SettingRejection(
                    expected:
                        "a time such as 250ms or 2s, from \(range.lowerBound.settingText) to \(range.upperBound.settingText)"
                )
            }
            return value
        }
    }
}

extension Setting where Value == String {
    package static func text(
        _ name: SettingName, _ purpose: String, default defaultText: String? = nil, isSecret: Bool = false
    ) -> Setting {
        Setting(name, purpose, default: defaultText, isSecret: isSecret) {
            (text) throws(SettingRejection) in
            guard !text.isEmpty, !text.contains("\0") else { throw SettingRejection(expected: "a text") }
            return text
        }
    }
}

extension Setting {
    /// Comma-separated, empty by default.
    package static func list<Element>(
        _ name: SettingName, _ purpose: String, isSecret: Bool = false, expected: String,
        element: @escaping @Sendable (String) -> Element?
    ) -> Setting where Value == [Element] {
        Setting(name, purpose, default: "", isSecret: isSecret) { (text) throws(SettingRejection) in
            var elements: [Element] = []
            for part in text.split(separator: ",") {
                guard let element = element(part.trimmingSpaces()) else {
                    throw SettingRejection(expected: expected)
                }
                elements.append(element)
            }
            // A text that has only commas is a mistake.
            guard text.isEmpty || !elements.isEmpty else { throw SettingRejection(expected: expected) }
            return elements
        }
    }
}

extension Setting where Value: CaseIterable & RawRepresentable, Value.RawValue == String {
    package static func choice(_ name: SettingName, _ purpose: String, default defaultValue: Value) -> Setting
    {
        Setting(name, purpose, default: defaultValue.rawValue) { (text) throws(SettingRejection) in
            guard let value = Value(rawValue: text) else {
                throw SettingRejection(
                    expected: "one of " + Value.allCases.map(\.rawValue).joined(separator: ", "))
            }
            return value
        }
    }
}

extension Substring {
    fileprivate func trimmingSpaces() -> String {
        String(drop { $0 == " " }.reversed().drop { $0 == " " }.reversed())
    }
}

extension Setting where Value == String {
    package static var host: Setting {
        Setting(.host, "address to listen on, or unix:/path of a socket", default: "127.0.0.1") {
            (text) throws(SettingRejection) in
            guard !text.isEmpty, !text.contains("\0") else { throw SettingRejection(expected: "an address") }
            guard !text.hasPrefix("unix:") || UnixSocketAddress(host: text) != nil else {
                throw SettingRejection(expected: "unix: and an absolute path of at most 107 bytes")
            }
            return text
        }
    }
}

extension Setting where Value == Int {
    package static var port: Setting {
        .integer(.port, "port to listen on; 0 lets the system choose", in: 0...65535, default: 8080)
    }
}

extension Duration {
    /// Parses `250ms`, `2s`, `1.5s`, `1m`, or a number of seconds; nil for anything else.
    package init?(settingText text: String) {
        let units: [(suffix: String, milliseconds: Double)] = [
            ("ms", 1), ("s", 1000), ("m", 60_000), ("h", 3_600_000), ("", 1000),
        ]
        guard let unit = units.first(where: { text.hasSuffix($0.suffix) }) else { return nil }
        let number = text.dropLast(unit.suffix.count)
        guard !number.isEmpty, number.utf8.allSatisfy({ (0x30...0x39).contains($0) || $0 == 0x2E }),
            let value = Double(number)
        else { return nil }
        let milliseconds = (value * unit.milliseconds).rounded()
        guard milliseconds <= 1e12 else { return nil }
        self = .milliseconds(Int64(milliseconds))
    }

    /// In whole milliseconds or seconds.
    package var settingText: String {
        let milliseconds = wholeMilliseconds
        return milliseconds % 1000 == 0 ? "\(milliseconds / 1000)s" : "\(milliseconds)ms"
    }
    /// Rounded down. Only for times that a setting may have: much longer ones overflow.
    package var wholeMilliseconds: Int64 {
        components.seconds * 1000 + components.attoseconds / 1_000_000_000_000_000
    }
}
