import Bytes
import PointsOfInterestAPI

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

    /// Whether the parameter is there as `all`, the only value that it may have.
    mutating func all(_ parameter: Parameter) -> Bool {
        guard let isAll = withValue(of: parameter, { $0.isSame(as: "all") }) else { return false }
        if !isAll { report(parameter, .outOfRange, "must be all") }
        return isAll
    }

    /// A coordinate whose two numbers are both there or both absent; nil where they are absent or have a fault.
    mutating func optionalCoordinate(latitude: Parameter, longitude: Parameter) -> Coordinate? {
        guard has(latitude) || has(longitude) else { return nil }
        return coordinate(latitude: latitude, longitude: longitude)
    }

    /// A box: `west,south,east,north`; nil where the parameter is absent or has a fault.
    mutating func box(_ parameter: Parameter) -> BoundingBox? {
        let rule = "must be west,south,east,north in degrees"
        guard
            let list = withValue(
                of: parameter, { Self.list($0, atMost: 4)?.map { DecimalNumber.parse(Array($0)) } })
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
    static func list<Text: Collection<UInt8>>(
        _ text: Text, atMost maximumCount: Int
    ) -> [Text.SubSequence]? {
        let comma = UInt8(ascii: ",")
        guard text.count(where: { $0 == comma }) < maximumCount else { return nil }
        var (items, rest): ([Text.SubSequence], _) = ([], text[...])
        while let end = rest.firstIndex(of: comma) {
            items.append(rest[..<end])
            rest = rest[rest.index(after: end)...]
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

    mutating func requireValue(of parameter: Parameter, _ rule: String = "must be given") {
        if !has(parameter) { report(parameter, .missingParameter, rule) }
    }

    private mutating func number(_ parameter: Parameter, _ rule: String) -> Double? {
        guard let parsed = withValue(of: parameter, { DecimalNumber.parse($0) }) else { return nil }
        if parsed == nil { report(parameter, .notANumber, rule) }
        return parsed
    }
}
