import PointsOfInterestAPI
import Testing

@testable import PointsOfInterestServerAPI

@Suite("A filter by properties in a query")
struct PropertyFilterRequestTests {
    private static let vocabulary = FilterVocabulary(
        categories: ["cafe"],
        properties: FilterableProperties([
            ("open", .boolean), ("material", .text), ("caf\u{E9}", .text), ("a=b&c", .text), ("d", .text),
            ("e", .text),
        ]))

    private func request(_ query: String) throws(ParameterError) -> NearbyPlacesRequest {
        try NearbyPlacesRequest.decode(query: "lat=0&long=0&\(query)".utf8, vocabulary: Self.vocabulary)
    }

    private func faults(of query: String) -> [ParameterFault] {
        do {
            _ = try request(query)
            return []
        } catch {
            return error.faults
        }
    }

    @Test(
        "The values of a property are read, each once and in order",
        arguments: [
            ("property.open=true", [PropertyFilter("open", is: true)]),
            ("property.open=true,false", [PropertyFilter("open", anyOf: ["false", "true"])]),
            ("pr%6fperty%2Eopen=f%61lse", [PropertyFilter("open", is: false)]),
            ("property.material=steel,brick,steel", [PropertyFilter("material", anyOf: ["brick", "steel"])]),
            ("property.material=steel%2Cbrick", [PropertyFilter("material", anyOf: ["brick", "steel"])]),
            ("property.material=wrought+iron", [PropertyFilter("material", anyOf: ["wrought iron"])]),
            ("property.material=e%CC%81", [PropertyFilter("material", anyOf: ["\u{E9}"])]),
            ("property.material=e%CC%81,%C3%A9", [PropertyFilter("material", anyOf: ["\u{E9}"])]),
            ("property.material=a=b", [PropertyFilter("material", anyOf: ["a=b"])]),
            ("property.a%3Db%26c=x", [PropertyFilter("a=b&c", anyOf: ["x"])]),
            ("property.caf%C3%A9=x", [PropertyFilter("caf\u{E9}", anyOf: ["x"])]),
            (
                "property.open=true&property.material=x",
                [PropertyFilter("material", anyOf: ["x"]), PropertyFilter("open", is: true)]
            ),
            (
                "property.material=\(many(20))",
                [PropertyFilter("material", anyOf: (10...29).map(String.init))]
            ),
            (
                "property.material=\(String(repeating: "%F0%9F%92%99", count: 200))",
                [PropertyFilter("material", anyOf: [String(repeating: "\u{1F499}", count: 200)])]
            ),
            (
                "property.material=\(String(repeating: "e%CC%81", count: 100))",
                [PropertyFilter("material", anyOf: [String(repeating: "\u{E9}", count: 100)])]
            ),
        ] as [(String, [PropertyFilter])])
    func reads(query: String, filters: [PropertyFilter]) throws {
        let request = try request(query)
        #expect(request.propertyFilters.map(\.name) == filters.map(\.name))
        #expect(
            request.propertyFilters.map { $0.values.map { Array($0.utf8) } }
                == filters.map { $0.values.map { Array($0.utf8) } })
        #expect(
            try NearbyPlacesRequest.decode(query: request.encodedQuery.utf8, vocabulary: Self.vocabulary)
                == request)
    }

    @Test(
        "A filter that can't be asked for is refused with one fault",
        arguments: [
            ("property.opened=true", "property.opened", ProblemCode.unknownProperty),
            ("property.Open=true", "property.Open", .unknownProperty),
            ("property.cafe%CC%81=x", "property.cafe\u{301}", .unknownProperty),
            ("property.=true", "property.", .unknownProperty),
            ("property.\(String(repeating: "x", count: 7000))=1", nil, .unknownProperty),
            ("property.\(String(repeating: "%CC%81", count: 2000))=1", nil, .unknownProperty),
            ("property.open", "property.open", .emptyParameter),
            ("property.open=", "property.open", .emptyParameter),
            ("property.open=true,", "property.open", .emptyParameter),
            ("property.open=yes", "property.open", .notABoolean),
            ("property.open=True", "property.open", .notABoolean),
            ("property.open=true,1", "property.open", .notABoolean),
            ("property.open=%FE", "property.open", .malformedEncoding),
            ("property.material=%zz", "property.material", .malformedEncoding),
            ("property.material=a%00", "property.material", .malformedEncoding),
            ("property.ma%zz=a", "property.ma%zz", .malformedEncoding),
            ("property.material=\(many(21))", "property.material", .tooManyValues),
            ("property.material=\(String(repeating: ",", count: 7000))", "property.material", .tooManyValues),
            ("property.material=,", "property.material", .emptyParameter),
            ("property.material=\(String(repeating: "x", count: 201))", "property.material", .outOfRange),
            (
                "property.material=\(String(repeating: "e%CC%81", count: 101))", "property.material",
                .outOfRange
            ),
            (
                "property.material=\(String(repeating: "%CC%81", count: 2000))", "property.material",
                .outOfRange
            ),
            ("property.open=true&property.open=true", "property.open", .repeatedParameter),
            ("property.open=true&property.op%65n=false", "property.open", .repeatedParameter),
            ("property=open", "property", .unknownParameter),
            ("PROPERTY.open=true", "PROPERTY.open", .unknownParameter),
        ] as [(String, String?, ProblemCode)])
    func refuses(query: String, parameter: String?, code: ProblemCode) {
        let faults = faults(of: query)
        #expect(faults.map(\.code) == [code])
        if let parameter { #expect(faults.map { Array($0.parameter.utf8) } == [Array(parameter.utf8)]) }
        #expect(faults.allSatisfy { !$0.detail.isEmpty && ($0.parameter + $0.detail).utf8.count < 300 })
    }

    @Test("The fault of an unknown property names the nearest one")
    func namesTheNearest() {
        #expect(
            faults(of: "property.materials=x").first?.detail
                == "is no property that places can be filtered by; did you mean property.material?")
        #expect(
            faults(of: "property.colour=x").first?.detail == "is no property that places can be filtered by")
    }

    @Test("Five properties are taken, one more is refused, however many follow")
    func countsProperties() throws {
        let names = ["open=true", "material=x", "caf%C3%A9=x", "d=x", "e=x"].map { "property.\($0)" }
        #expect(try request(names.joined(separator: "&")).propertyFilters.count == 5)
        let more = (0..<90).map { "property.x\($0)=1" }
        let faults = faults(of: (names + more).joined(separator: "&"))
        #expect(faults.map(\.code) == [.tooManyParameters])
        #expect(faults.map(\.parameter) == ["property.x0"])
    }

    @Test("Without a vocabulary any name and value is taken, to be checked later")
    func unchecked() throws {
        let query = "lat=0&long=0&property.anything=x"
        let request = try NearbyPlacesRequest.decode(query: query.utf8)
        #expect(request.propertyFilters == [PropertyFilter("anything", anyOf: ["x"])])
        #expect(request.filter.hasNames)
    }

    @Test("Clusters are filtered as places are, one place and ids are not")
    func otherRequests() throws {
        let query = Array("zoom=1&bbox=0,0,1,1&property.open=true".utf8)
        let clusters = try query.withUnsafeBufferPointer { query in
            try ClustersRequest.decode(query: query, ignoring: [], vocabulary: Self.vocabulary)
        }
        #expect(clusters.propertyFilters == [PropertyFilter("open", is: true)])
        #expect(clusters.encodedQuery.hasSuffix("&property.open=true"))
        let place = #expect(throws: ParameterError.self) {
            try PlaceRequest.decode(id: "1", query: "property.open=true".utf8)
        }
        #expect(place?.faults.map(\.code) == [.unknownParameter])
        let ids = #expect(throws: ParameterError.self) {
            try NearbyPlacesRequest.decode(query: "ids=1&property.open=true".utf8)
        }
        #expect(ids?.faults.map(\.code) == [.conflictingParameters])
        #expect(ids?.faults.map(\.parameter) == ["property.open"])
    }

    @Test("A property comes before what a gateway adds under such a name")
    func ignored() throws {
        let pattern = try #require(ParameterPattern("prop*"))
        let request = try NearbyPlacesRequest.decode(
            query: "lat=0&long=0&property.open=true&prop=1".utf8, ignoring: [pattern],
            vocabulary: Self.vocabulary)
        #expect(request.propertyFilters == [PropertyFilter("open", is: true)])
    }

    private static func many(_ count: Int) -> String {
        (10..<10 + count).map(String.init).joined(separator: ",")
    }
}
