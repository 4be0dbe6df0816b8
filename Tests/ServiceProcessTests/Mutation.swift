/// Changes to bytes that make something else of a request.
enum Mutation: CaseIterable {
    case flipBit, replace, insert, delete, duplicate, swap, insertWord, insertRun, truncate

    /// Bytes after one to six random changes, mostly few: many leave nothing but a malformed head.
    static func mutated(_ bytes: [UInt8], _ generator: inout some RandomNumberGenerator) -> [UInt8] {
        var bytes = bytes
        for _ in 0..<[1, 1, 1, 1, 2, 3, 6].picked(&generator) {
            allCases.picked(&generator).change(&bytes, &generator)
        }
        return bytes
    }

    /// What parsers stumble over.
    private static let words = [
        "\r\n", "\r\n\r\n", "\r", "\n", "\0", " ", "\t", ":", "%", "%00", "%zz", "?", "&", "=", ",", ";q=",
        "/", "//", "/../", "#", "\"", "W/\"", "\u{7F}", "é", "-1", "0x10", "1e999", "99999999999999999999",
        "nan",
        "\r\nContent-Length: 3", "\r\nTransfer-Encoding: chunked", "\r\nHost: a", "\r\nExpect: 100-continue",
        "\r\nConnection: close", "\r\n 0", "HTTP/1.1", "GET / HTTP/1.1\r\nHost: a\r\n\r\n", "0\r\n\r\n",
        "ffffffffffffffff\r\n", "&lat=1", "&bbox=1,2,3,4", "&category=,", "&q=%F0%9F%98%80", "&cursor=AQ",
    ]

    private func change(_ bytes: inout [UInt8], _ generator: inout some RandomNumberGenerator) {
        let place = Int.random(in: 0...bytes.count, using: &generator)
        let range = place..<min(bytes.count, place + Int.random(in: 1...16, using: &generator))
        switch self {
        case .flipBit where place < bytes.count:
            bytes[place] ^= 1 << UInt8.random(in: 0..<8, using: &generator)
        case .replace where place < bytes.count: bytes[place] = .random(in: 0 ... .max, using: &generator)
        case .flipBit, .replace: bytes.append(.random(in: 0 ... .max, using: &generator))
        case .insert: bytes.insert(.random(in: 0 ... .max, using: &generator), at: place)
        case .delete: bytes.removeSubrange(range)
        case .duplicate: bytes.insert(contentsOf: bytes[range], at: place)
        case .swap:
            let part = Array(bytes[range])
            bytes.removeSubrange(range)
            bytes.insert(contentsOf: part, at: Int.random(in: 0...bytes.count, using: &generator))
        case .insertWord: bytes.insert(contentsOf: Self.words.picked(&generator).utf8, at: place)
        case .insertRun:
            // Rarely so long that a limit is passed: such a run makes every other change meaningless.
            let length = [2, 64, 256, 9000, 17_000].picked(&generator)
            let byte =
                Int.random(in: 0..<8, using: &generator) == 0
                ? UInt8.random(in: 0 ... .max, using: &generator) : UInt8(ascii: "1")
            let isShort = length < 1000 || Int.random(in: 0..<8, using: &generator) == 0
            bytes.insert(contentsOf: [UInt8](repeating: byte, count: isShort ? length : 3), at: place)
        case .truncate where Int.random(in: 0..<4, using: &generator) == 0: bytes.removeSubrange(place...)
        case .truncate: break
        }
    }
}
