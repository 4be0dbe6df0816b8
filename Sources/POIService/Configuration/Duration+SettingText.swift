extension Duration {
    /// Reads `250ms`, `2s`, `1.5s`, `1m`, or a plain number of seconds; nil for anything else.
    init?(settingText text: String) {
        let units: [(suffix: String, milliseconds: Double)] = [
            ("ms", 1), ("s", 1000), ("m", 60_000), ("", 1000),
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

    /// The text that reads back as this time, in whole milliseconds or seconds.
    var settingText: String {
        let milliseconds = components.seconds * 1000 + components.attoseconds / 1_000_000_000_000_000
        return milliseconds % 1000 == 0 ? "\(milliseconds / 1000)s" : "\(milliseconds)ms"
    }
}
