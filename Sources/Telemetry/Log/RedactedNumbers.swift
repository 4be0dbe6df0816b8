extension String {
    /// Removes what may be a coordinate: `…` replaces each word that begins with a digit, and its sign.
    ///
    /// The database's messages quote values, as numbers or as geometries in hexadecimal digits. Words that end with
    /// digits stay: `float8`, `locations_pkey1`.
    package var redactingNumbers: String {
        var kept: [UInt8] = []
        var isInWord = false
        var isInNumber = false
        for byte in utf8 {
            let isDigit = (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
            let isLetter = Self.isLetter(byte)
            if isInNumber, isDigit || isLetter || Self.isPartOfNumber(byte) { continue }
            isInNumber = isDigit && !isInWord
            if isInNumber {
                while let sign = kept.last, "+-.".utf8.contains(sign) { kept.removeLast() }
                kept += Array("…".utf8)
            } else {
                kept.append(byte)
            }
            isInWord = !isInNumber && (isLetter || isInWord && isDigit)
        }
        return String(decoding: kept, as: UTF8.self)
    }

    private static func isLetter(_ byte: UInt8) -> Bool {
        let lowercase = byte | 0x20
        return (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(lowercase) || byte == UInt8(ascii: "_")
    }

    /// Whether a byte may be inside a number: `37.32`, `1e-5`.
    private static func isPartOfNumber(_ byte: UInt8) -> Bool {
        ".+-".utf8.contains(byte)
    }
}
