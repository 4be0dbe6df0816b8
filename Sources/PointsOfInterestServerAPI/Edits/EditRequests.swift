import PointsOfInterestAPI

/// A body that has one member, a number: `{"version": 3}`.
package enum NumberBody {
    /// Reads the body of a request to restore a version or to merge places.
    ///
    /// - Returns: the number, at least 0.
    package static func decode(
        _ body: [UInt8], member expected: StaticString
    ) throws(EditContentError) -> Int64 {
        var number: Int?
        var faults: [Problem.MemberFault] = []
        let name = expected.description
        func report(_ path: [String], _ code: EventFault.Code, _ detail: String) {
            if faults.count < EditLimits.faults {
                faults.append(
                    Problem.MemberFault(pointer: JSONPointer.text(of: path), code: code, detail: detail))
            }
        }
        do throws(JSONScanner.SyntaxError) {
            try body.withScanner { (scanner) throws(JSONScanner.SyntaxError) in
                scanner.skipBlanks()
                guard scanner.next == UInt8(ascii: "{") else {
                    try scanner.skipValue()
                    return report([], .wrongType, "must be an object")
                }
                var isGiven = false
                try scanner.object { (token, scanner) throws(JSONScanner.SyntaxError) in
                    let isExpected =
                        token.withContent(in: scanner.bytes, atMost: 40) { $0.isSame(as: name) } == true
                    if !isExpected || isGiven {
                        report(
                            isExpected ? [name] : [], isExpected ? .repeated : .unknown,
                            isExpected ? "must be given once" : "must have no member but \(name)")
                        return try scanner.skipValue()
                    }
                    isGiven = true
                    guard scanner.next.beginsNumber else {
                        try scanner.skipValue()
                        return report([name], .wrongType, "must be a whole number")
                    }
                    number = scanner.integer(ofNumber: try scanner.number())
                    if number ?? -1 < 0 { report([name], .outOfRange, "must be a whole number, at least 0") }
                }
                if !isGiven { report([name], .missing, "must be given") }
                scanner.skipBlanks()
                guard scanner.isAtEnd else { throw scanner.fail("the end") }
            }
        } catch {
            throw .malformed(reason: error.reason)
        }
        guard faults.isEmpty, let number else { throw .invalid(faults) }
        return Int64(number)
    }
}

/// `GET /locations/{id}/versions`: a page of what has changed a place.
package struct VersionsRequest: Hashable, Sendable {
    package static let limits = 1...100
    package static let defaultLimit = 20

    package var limit: Int
    /// Where the page begins, as the page before says it; nil for the first.
    package var position: Int64?

    enum Parameter: Int, QueryParameter {
        case limit, before

        var name: StaticString {
            switch self {
            case .limit: "limit"
            case .before: "before"
            }
        }
    }

    package static func decode(
        query: some Collection<UInt8>, ignoring ignored: [ParameterPattern]
    ) throws(ParameterError) -> VersionsRequest {
        try withQueryBytes(query) { (bytes) throws(ParameterError) in
            var query = QueryDecoder<Parameter>(bytes, ignoring: ignored)
            let page = query.page(limit: .limit, before: .before)
            guard query.faults.isEmpty else { throw ParameterError(faults: query.faults) }
            return VersionsRequest(limit: page.limit, position: page.position)
        }
    }

    /// The query of the page that begins at a position.
    package func query(from position: Int64) -> String {
        (limit == Self.defaultLimit ? "" : "limit=\(limit)&") + "before=\(position)"
    }
}

/// `GET /changes`: a page of what people have changed.
package struct ChangesRequest: Hashable, Sendable {
    /// Where the places were before the change or are now; nil for everywhere.
    package var box: BoundingBox?
    package var limit: Int
    /// Where the page begins, as the page before says it; nil for the first.
    package var position: Int64?

    enum Parameter: Int, QueryParameter {
        case bbox, limit, before

        var name: StaticString {
            switch self {
            case .bbox: "bbox"
            case .limit: "limit"
            case .before: "before"
            }
        }
    }

    package static func decode(
        query: some Collection<UInt8>, ignoring ignored: [ParameterPattern]
    ) throws(ParameterError) -> ChangesRequest {
        try withQueryBytes(query) { (bytes) throws(ParameterError) in
            var query = QueryDecoder<Parameter>(bytes, ignoring: ignored)
            let box = query.box(.bbox)
            let page = query.page(limit: .limit, before: .before)
            guard query.faults.isEmpty else { throw ParameterError(faults: query.faults) }
            return ChangesRequest(box: box, limit: page.limit, position: page.position)
        }
    }

    /// The query of the page that begins at a position.
    package func query(from position: Int64) -> String {
        var query = QueryWriter()
        if let box { query.add("bbox", box) }
        if limit != VersionsRequest.defaultLimit { query.add("limit", limit) }
        query.add("before", Int(position))
        return query.text
    }
}

extension QueryDecoder {
    /// How many changes or reports a page has, and where it begins.
    mutating func page(limit: Parameter, before: Parameter) -> (limit: Int, position: Int64?) {
        let limit = integer(limit, in: VersionsRequest.limits, "must be a whole number from 1 to 100")
        let position = integer(before, in: 0...Int.max, "must be as a Link header has it")
        return (limit ?? VersionsRequest.defaultLimit, position.map { Int64($0) })
    }
}
