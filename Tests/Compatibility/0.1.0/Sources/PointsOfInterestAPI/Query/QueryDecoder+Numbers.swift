extension QueryDecoder {
    /// A number in a range; nil where the parameter is absent or a fault.
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

    /// A whole number in a range; nil where the parameter is absent or a fault.
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

    /// A coordinate that the request must have; nil where one of its two numbers is missing or a fault.
    mutating func coordinate(latitude: Parameter, longitude: Parameter) -> Coordinate? {
        let latitudeRule = "must be a number of degrees from -90 to 90"
        let longitudeRule = "must be a number of degrees from -180 to 180"
        for parameter in [latitude, longitude] {
            if case .absent = self[parameter] { report(parameter, .missingParameter, "must be given") }
        }
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

    private mutating func number(_ parameter: Parameter, _ rule: String) -> Double? {
        guard let parsed = withValue(of: parameter, { DecimalNumber.parse($0) }) else { return nil }
        if parsed == nil { report(parameter, .notANumber, rule) }
        return parsed
    }

    /// What a parser makes of the value; nil where the parameter is absent or a fault.
    func withValue<Parsed>(
        of parameter: Parameter, _ parse: (UnsafeBufferPointer<UInt8>) -> Parsed
    ) -> Parsed? {
        switch self[parameter] {
        case .absent, .refused: nil
        case .plain(let text): parse(text)
        case .decoded(let text): text.withUnsafeBufferPointer(parse)
        }
    }
}
