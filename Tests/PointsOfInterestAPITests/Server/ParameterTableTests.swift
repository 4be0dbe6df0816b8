import PointsOfInterestServerAPI
import Testing

@Suite("A parameter of a locations request")
struct ParameterTableTests {
    private func decode(_ query: String) throws(ParameterError) -> NearbyPlacesRequest {
        try NearbyPlacesRequest.decode(query: query.utf8, vocabulary: ParameterRow.vocabulary)
    }

    private func faults(of query: String) -> [ParameterFault] {
        do {
            _ = try decode(query)
            return []
        } catch {
            return error.faults
        }
    }

    @Test(
        "A parameter's minimum, maximum and values in between are accepted, and decoded",
        arguments: ParameterRow.all)
    func takes(row: ParameterRow) throws {
        for (value, isUnderstood) in row.taken {
            let request = try decode("\(row.beside)&\(row.parameter)=\(value)")
            #expect(isUnderstood(request), "\(row.parameter)=\(value)")
            let again = try decode(request.encodedQuery)
            #expect(again == request, "\(row.parameter)=\(value)")
        }
    }

    @Test("A value just out of range, or garbage, is refused with one fault", arguments: ParameterRow.all)
    func refuses(row: ParameterRow) {
        for (value, code) in row.refused {
            let faults = faults(of: "\(row.beside)&\(row.parameter)=\(value)")
            #expect(faults.map(\.parameter) == [row.parameter], "\(row.parameter)=\(value)")
            #expect(faults.map(\.code) == [code], "\(row.parameter)=\(value)")
            #expect(faults.allSatisfy { !$0.detail.isEmpty && $0.detail.utf8.count < 300 })
        }
    }

    @Test("An empty parameter is refused, with and without its equals sign", arguments: ParameterRow.all)
    func refusesEmptyValues(row: ParameterRow) {
        for query in ["\(row.beside)&\(row.parameter)=", "\(row.parameter)&\(row.beside)"] {
            let faults = faults(of: query)
            #expect(faults.map(\.parameter) == [row.parameter], "\(query)")
            #expect(faults.map(\.code) == [.emptyParameter], "\(query)")
        }
    }

    @Test(
        "A repeated parameter is refused, with the same value or another, its name encoded or not",
        arguments: ParameterRow.all)
    func refusesRepetition(row: ParameterRow) throws {
        let value = try #require(row.taken.first?.key)
        let other = try #require(row.taken.last?.key)
        let encodedName = row.parameter.utf8.map { "%" + String($0, radix: 16) }.joined()
        for second in ["\(row.parameter)=\(value)", "\(row.parameter)=\(other)", "\(encodedName)=\(value)"] {
            let faults = faults(of: "\(row.beside)&\(row.parameter)=\(value)&\(second)")
            #expect(faults.map(\.parameter) == [row.parameter], "\(second)")
            #expect(faults.map(\.code) == [.repeatedParameter], "\(second)")
        }
    }

    @Test("A parameter's name is case-sensitive", arguments: ParameterRow.all)
    func isCaseSensitive(row: ParameterRow) throws {
        let value = try #require(row.taken.first?.key)
        let faults = faults(of: "\(row.beside)&\(row.parameter.uppercased())=\(value)")
        let fault = try #require(faults.first { $0.code == .unknownParameter })
        #expect(fault.detail == "is not known; did you mean \(row.parameter)?")
    }

    @Test("The faults of all parameters are reported together")
    func tellsAllFaultsAtOnce() {
        let query =
            "lat=x&long=y&radius=0&limit=0&bbox=1&category=cafes&q=&featured=maybe&cursor=%zz&colour=3"
        #expect(
            Set(faults(of: query).map { "\($0.parameter) \($0.code.rawValue)" }) == [
                "lat not-a-number", "long not-a-number", "radius out-of-range",
                "radius conflicting-parameters", "limit out-of-range", "bbox malformed-box",
                "category unknown-category", "q empty-parameter", "featured not-a-boolean",
                "cursor malformed-encoding", "colour unknown-parameter",
            ])
    }

    @Test(
        "A parameter excludes another one, or needs it, as the table says",
        arguments: [
            ("", ["lat missing-parameter", "long missing-parameter"]),
            ("radius=1", ["lat missing-parameter", "long missing-parameter"]),
            ("bbox=0,0,1,1", []), ("bbox=0,0,1,1&lat=5&long=5", []),
            ("bbox=0,0,1,1&lat=5", ["long missing-parameter"]),
            ("bbox=0,0,1,1&long=5", ["lat missing-parameter"]),
            ("bbox=0,0,1,1&radius=5", ["radius conflicting-parameters"]),
            ("bbox=0,0,1,1&lat=5&long=5&radius=5", ["radius conflicting-parameters"]),
            ("bbox=&radius=5", ["bbox empty-parameter", "radius conflicting-parameters"]),
        ])
    func combines(query: String, expected: [String]) {
        #expect(faults(of: query).map { "\($0.parameter) \($0.code.rawValue)" } == expected)
    }

    @Test("A cursor is checked only if all the other parameters are right")
    func looksAtCursorsLast() {
        #expect(faults(of: "lat=0&long=0&limit=0&cursor=x").map(\.parameter) == ["limit"])
    }
}
