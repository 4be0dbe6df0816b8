import POIService

extension DatasetID {
    /// Reads a UUID as PostgreSQL writes it; nil for anything else.
    init?(text: String) {
        let digits = text.utf8.filter { $0 != UInt8(ascii: "-") }
        guard text.utf8.count == 36, digits.count == 32,
            let high = UInt64(String(decoding: digits.prefix(16), as: UTF8.self), radix: 16),
            let low = UInt64(String(decoding: digits.suffix(16), as: UTF8.self), radix: 16)
        else { return nil }
        self.init(high: high, low: low)
    }
}
