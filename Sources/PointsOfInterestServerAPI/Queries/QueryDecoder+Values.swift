extension QueryDecoder {
    /// Whether the query has the parameter, with a fault or without.
    @inline(__always)
    func has(_ parameter: Parameter) -> Bool {
        if case .absent = self[parameter] { return false }
        return true
    }

    /// A text; nil where the parameter is absent or has a fault.
    func text(_ parameter: Parameter) -> String? {
        withValue(of: parameter) { String(decoding: $0, as: UTF8.self) }
    }

    /// A text whose length in Unicode scalars is in a range; nil where the parameter is absent or has a fault.
    mutating func text(_ parameter: Parameter, lengths: ClosedRange<Int>, _ rule: String) -> String? {
        guard let text = text(parameter) else { return nil }
        guard lengths.contains(text.unicodeScalars.count) else {
            report(parameter, .outOfRange, rule)
            return nil
        }
        return text
    }

    /// `true` or `false`; nil where the parameter is absent or has a fault.
    mutating func flag(_ parameter: Parameter) -> Bool? {
        guard has(parameter) else { return nil }
        let isTrue = withValue(of: parameter) { $0.isSame(as: "true") }
        let isFalse = withValue(of: parameter) { $0.isSame(as: "false") }
        if isTrue == false, isFalse == false { report(parameter, .notABoolean, "must be true or false") }
        return isTrue == true ? true : isFalse == true ? false : nil
    }

    /// A coordinate whose two numbers are both there or both absent; nil where they are absent or have a fault.
    mutating func optionalCoordinate(latitude: Parameter, longitude: Parameter) -> Coordinate? {
        guard has(latitude) || has(longitude) else { return nil }
        return coordinate(latitude: latitude, longitude: longitude)
    }

    /// A box: `west,south,east,north`; nil where the parameter is absent or has a fault.
    mutating func box(_ parameter: Parameter) -> BoundingBox? {
        let rule = "must be west,south,east,north in degrees"
        guard let list = withValue(of: parameter, { Self.list($0, atMost: 4)?.map(DecimalNumber.parse) })
        else {
            return nil
        }
        guard let edges = list, edges.count == 4 else {
            report(parameter, .malformedBox, "\(rule): four numbers")
            return nil
        }
        let numbers = edges.compactMap(\.self)
        guard numbers.count == 4 else {
            report(parameter, .notANumber, rule)
            return nil
        }
        guard Coordinate.longitudes.contains(numbers[0]), Coordinate.latitudes.contains(numbers[1]),
            Coordinate.longitudes.contains(numbers[2]), Coordinate.latitudes.contains(numbers[3])
        else {
            report(parameter, .outOfRange, "\(rule): longitudes from -180 to 180, latitudes from -90 to 90")
            return nil
        }
        guard
            let box = BoundingBox(west: numbers[0], south: numbers[1], east: numbers[2], north: numbers[3])
        else {
            report(parameter, .malformedBox, "\(rule): south must not be greater than north")
            return nil
        }
        return box
    }

    /// The items of a comma-separated list; nil where there are too many.
    static func list(
        _ text: UnsafeBufferPointer<UInt8>, atMost maximumCount: Int
    ) -> [UnsafeBufferPointer<UInt8>]? {
        let comma = UInt8(ascii: ",")
        guard text.count(where: { $0 == comma }) < maximumCount else { return nil }
        var (items, rest): ([UnsafeBufferPointer<UInt8>], _) = ([], text)
        while let end = rest.firstIndex(of: comma) {
            items.append(UnsafeBufferPointer(rebasing: rest[..<end]))
            rest = UnsafeBufferPointer(rebasing: rest[(end + 1)...])
        }
        items.append(rest)
        return items
    }

    /// A value as the detail of a fault shows it, shortened.
    static func shown(_ value: String) -> String {
        value.unicodeScalars.count > 40
            ? String(String.UnicodeScalarView(value.unicodeScalars.prefix(40))) + "…" : value
    }

    // MARK: - Numbers

    /// A number in a range; nil where the parameter is absent or has a fault.
    mutating func number(
        _ parameter: Parameter, in range: ClosedRange<Double>, _ rule: String
    ) -> Double? {
        guard let number = number(parameter, rule) else { return nil }
        guard range.contains(number) else {
            report(parameter, .outOfRange, rule)
            return nil
        }
        return number
    }

    /// A whole number in a range; nil where the parameter is absent or has a fault.
    mutating func integer(_ parameter: Parameter, in range: ClosedRange<Int>, _ rule: String) -> Int? {
        let digits = withValue(of: parameter) { DecimalNumber.parseInteger($0) }
        switch digits {
        case nil: return nil
        case .some(.notAnInteger): report(parameter, .notAnInteger, rule)
        case .some(.tooLarge): report(parameter, .outOfRange, rule)
        case .some(.integer(let integer)):
            if range.contains(integer) { return integer }
            report(parameter, .outOfRange, rule)
        }
        return nil
    }

    /// A coordinate that the request must have; nil where one of its two numbers is missing or has a fault.
    mutating func coordinate(latitude: Parameter, longitude: Parameter) -> Coordinate? {
        let latitudeRule = "must be a number of degrees from -90 to 90"
        let longitudeRule = "must be a number of degrees from -180 to 180"
        requireValue(of: latitude)
        requireValue(of: longitude)
        let north = number(latitude, latitudeRule)
        let east = number(longitude, longitudeRule)
        if let north, let east, !Coordinate.latitudes.contains(north),
            (try? Coordinate(latitude: east, longitude: north)) != nil
        {
            report(
                latitude, .swappedCoordinates,
                "\(latitudeRule); \(latitude.name) and \(longitude.name) look swapped")
            return nil
        }
        if let north, !Coordinate.latitudes.contains(north) { report(latitude, .outOfRange, latitudeRule) }
        if let east, !Coordinate.longitudes.contains(east) { report(longitude, .outOfRange, longitudeRule) }
        guard let north, let east else { return nil }
        return try? Coordinate(latitude: north, longitude: east)
    }

    /// Reports a parameter that is absent.
    mutating func requireValue(of parameter: Parameter, _ rule: String = "must be given") {
        if !has(parameter) { report(parameter, .missingParameter, rule) }
    }

    private mutating func number(_ parameter: Parameter, _ rule: String) -> Double? {
        guard let parsed = withValue(of: parameter, { DecimalNumber.parse($0) }) else { return nil }
        if parsed == nil { report(parameter, .notANumber, rule) }
        return parsed
    }

    /// The parsed value; nil where the parameter is absent or has a fault.
    @inline(__always)
    func withValue<Parsed>(
        of parameter: Parameter, _ parse: (UnsafeBufferPointer<UInt8>) -> Parsed
    ) -> Parsed? {
        switch self[parameter] {
        case .absent, .refused: nil
        case .plain(let text): parse(text)
        case .decoded(let index): decoded[index].withUnsafeBufferPointer(parse)
        }
    }
}

/// Numbers in a query or a file: `[+-] digits [. digits] [(e|E) [+-] digits]`, without blanks around them.
package enum DecimalNumber {
    enum Integer: Equatable {
        case integer(Int), tooLarge, notAnInteger
    }

    /// The powers of ten that a `Double` holds exactly.
    private static let powersOfTen: [Double] = [
        1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17,
        1e18, 1e19, 1e20, 1e21, 1e22,
    ]

    /// The nearest double, an infinity if it is beyond all of them; nil if the text is not such a number.
    package static func parse(_ text: UnsafeBufferPointer<UInt8>) -> Double? {
        var reader = Reader(text)
        let isNegative = reader.takeSign()
        var digits = Digits()
        guard reader.takeDigits(&digits) > 0 else { return nil }
        var exponent = 0
        if reader.take(UInt8(ascii: ".")) {
            let fraction = reader.takeDigits(&digits)
            guard fraction > 0 else { return nil }
            exponent = -fraction
        }
        if reader.take(UInt8(ascii: "e")) || reader.take(UInt8(ascii: "E")) {
            let isExponentNegative = reader.takeSign()
            var exponentDigits = Digits()
            guard reader.takeDigits(&exponentDigits) > 0 else { return nil }
            // Larger than any exponent that is used below.
            let magnitude = exponentDigits.isExact ? Int(exponentDigits.value) : 1 << 53
            exponent += isExponentNegative ? -magnitude : magnitude
        }
        guard reader.isAtEnd else { return nil }
        // Both operands are exact, so only the result is rounded, and correctly (Clinger 1990).
        guard digits.isExact, abs(exponent) < powersOfTen.count else {
            return Double(String(decoding: text, as: UTF8.self))
        }
        let value = Double(digits.value)
        let magnitude = exponent < 0 ? value / powersOfTen[-exponent] : value * powersOfTen[exponent]
        return isNegative ? -magnitude : magnitude
    }

    /// A whole number without a point or an exponent.
    static func parseInteger(_ text: UnsafeBufferPointer<UInt8>) -> Integer {
        var reader = Reader(text)
        let isNegative = reader.takeSign()
        var digits = Digits()
        guard reader.takeDigits(&digits) > 0, reader.isAtEnd else { return .notAnInteger }
        guard digits.isExact, let magnitude = Int(exactly: digits.value) else { return .tooLarge }
        return .integer(isNegative ? -magnitude : magnitude)
    }

    /// The value of decimal digits, as long as a `Double` can hold it exactly.
    private struct Digits {
        private(set) var value: UInt64 = 0

        /// False once the value is more than 2⁵³: then digits are missing at its end.
        var isExact: Bool { value <= 1 << 53 }

        @inline(__always)
        mutating func append(_ digit: UInt8) {
            if isExact { value = value &* 10 &+ UInt64(digit) }
        }
    }

    /// Reads a text from its start.
    private struct Reader {
        private let text: UnsafeBufferPointer<UInt8>
        private var index = 0

        init(_ text: UnsafeBufferPointer<UInt8>) {
            self.text = text
        }

        var isAtEnd: Bool { index == text.count }

        /// Takes a byte if it is next.
        @inline(__always)
        mutating func take(_ byte: UInt8) -> Bool {
            guard index < text.count, text[index] == byte else { return false }
            index += 1
            return true
        }

        /// Takes a sign if there is one; true if it is a minus.
        @inline(__always)
        mutating func takeSign() -> Bool {
            if take(UInt8(ascii: "-")) { return true }
            _ = take(UInt8(ascii: "+"))
            return false
        }

        /// Takes the digits that are next and returns how many there were.
        @inline(__always)
        mutating func takeDigits(_ digits: inout Digits) -> Int {
            let start = index
            while index < text.count {
                let digit = text[index] &- UInt8(ascii: "0")
                guard digit < 10 else { break }
                digits.append(digit)
                index &+= 1
            }
            return index - start
        }
    }
}
