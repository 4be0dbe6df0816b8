extension QueryDecoder {
    /// Whether the parameter is there, as a fault or not.
    func has(_ parameter: Parameter) -> Bool {
        if case .absent = self[parameter] { return false }
        return true
    }

    /// A text; nil where the parameter is absent or a fault.
    func text(_ parameter: Parameter) -> String? {
        withValue(of: parameter) { String(decoding: $0, as: UTF8.self) }
    }

    /// A text of so many Unicode scalars; nil where the parameter is absent or a fault.
    mutating func text(_ parameter: Parameter, lengths: ClosedRange<Int>, _ rule: String) -> String? {
        guard let text = text(parameter) else { return nil }
        guard lengths.contains(text.unicodeScalars.count) else {
            report(parameter, .outOfRange, rule)
            return nil
        }
        return text
    }

    /// `true` or `false`; nil where the parameter is absent or a fault.
    mutating func flag(_ parameter: Parameter) -> Bool? {
        switch text(parameter) {
        case nil: return nil
        case "true": return true
        case "false": return false
        default:
            report(parameter, .notABoolean, "must be true or false")
            return nil
        }
    }

    /// A coordinate whose two numbers are both there or both absent; nil where they are absent or a fault.
    mutating func optionalCoordinate(latitude: Parameter, longitude: Parameter) -> Coordinate? {
        guard has(latitude) || has(longitude) else { return nil }
        return coordinate(latitude: latitude, longitude: longitude)
    }

    /// A box: `west,south,east,north`; nil where the parameter is absent or a fault.
    mutating func box(_ parameter: Parameter) -> BoundingBox? {
        let rule = "must be west,south,east,north in degrees"
        guard let edges = withValue(of: parameter, { Self.list($0).map(DecimalNumber.parse) }) else {
            return nil
        }
        guard edges.count == 4 else {
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

    /// A comma-separated list of categories, each once and in order; empty where the parameter is absent or a
    /// fault.
    mutating func categories(
        _ parameter: Parameter, atMost greatestCount: Int, _ vocabulary: CategoryVocabulary?
    ) -> [String] {
        let texts = withValue(of: parameter) { Self.list($0).map { String(decoding: $0, as: UTF8.self) } }
        guard let texts else { return [] }
        guard texts.count <= greatestCount else {
            report(parameter, .tooManyValues, "must name at most \(greatestCount) categories")
            return []
        }
        let names = Set(texts).sorted()
        for name in names {
            if name.isEmpty {
                report(parameter, .emptyParameter, "must have a name between any two commas")
            } else if let vocabulary, !vocabulary.contains(name) {
                let hint = vocabulary.nearest(to: name).map { "; did you mean \($0)?" } ?? ""
                report(parameter, .unknownCategory, "has no category \(Self.shown(name))\(hint)")
            }
        }
        return names
    }

    private static func list(_ text: UnsafeBufferPointer<UInt8>) -> [UnsafeBufferPointer<UInt8>] {
        text.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false)
            .map { UnsafeBufferPointer(rebasing: $0) }
    }

    private static func shown(_ value: String) -> String {
        value.unicodeScalars.count > 40
            ? String(String.UnicodeScalarView(value.unicodeScalars.prefix(40))) + "…" : value
    }
}
