import Bytes
@testable import PointsOfInterestAPI
@testable import PointsOfInterestServerAPI

/// The query of a request; the first byte says of which endpoint.
///
/// A query that is accepted encodes to one that is accepted and means the same. One that is refused has at least one fault,
/// none twice, and each names its parameter and says in words what is wrong.
func fuzzQueries(_ input: [UInt8]) {
    guard let first = input.first else { return }
    let query = Array(input.dropFirst())
    switch first % 6 {
    case 0:
        check(query, NearbyPlacesRequest.Parameter.self, encode: \.encodedQuery) {
            query throws(ParameterError) in
            try NearbyPlacesRequest.decode(query: query, vocabulary: vocabulary)
        }
    case 1:
        check(query, ClustersRequest.Parameter.self, encode: \.encodedQuery) { query throws(ParameterError) in
            try withQueryBytes(query) { (bytes) throws(ParameterError) in
                try ClustersRequest.decode(query: bytes, ignoring: ignored, vocabulary: vocabulary)
            }
        }
    case 2:
        check(query, PlaceRequest.Parameter.self, encode: \.encodedQuery) { query throws(ParameterError) in
            guard let request = try PlaceRequest.decode(id: "42", query: query, ignoring: ignored) else {
                fatalError("42 is an id")
            }
            return request
        }
    case 3:
        check(query, DigestRequest.Parameter.self, encode: \.encodedQuery) { query throws(ParameterError) in
            try DigestRequest.decode(query: query, ignoring: ignored, vocabulary: vocabulary)
        }
    case 4:
        check(query, CategoriesRequest.Parameter.self, encode: \.encodedQuery) {
            query throws(ParameterError) in
            try CategoriesRequest.decode(query: query, ignoring: ignored)
        }
    default:
        checkNumber(query)
        check(query, NoParameter.self, encode: { (_: Nothing) in "" }) { query throws(ParameterError) in
            try NoParameter.refuseAll(of: query, ignoring: ignored)
            return Nothing()
        }
    }
}

private let vocabulary = FilterVocabulary(
    categories: ["cafe", "park", "museum", "bücher"], datasets: ["trees", "Trees, Berlin", ","],
    properties: FilterableProperties([("wifi", .boolean), ("cuisine", .text), ("größe, \"&=\"", .text)]))
private let ignored = ["utm_*", "key"].compactMap(ParameterPattern.init)

/// What is read of a query without parameters.
private struct Nothing: Hashable {}

private func check<Request: Hashable, Parameter: QueryParameter>(
    _ query: [UInt8], _: Parameter.Type, encode: (Request) -> String,
    decode: ([UInt8]) throws(ParameterError) -> Request
) {
    let request: Request
    do throws(ParameterError) {
        request = try decode(query)
    } catch {
        return check(error, of: Parameter.self)
    }
    let encoded = encode(request)
    do throws(ParameterError) {
        let again = try decode(Array(encoded.utf8))
        require(again == request, "\(request) is written as \(encoded), and read as \(again)")
        require(encode(again) == encoded, "\(request) is written as \(encoded), then as \(encode(again))")
    } catch {
        fatalError("\(request) is written as \(encoded), which is refused: \(error.faults)")
    }
}

/// Numbers are read as the standard library reads them.
private func checkNumber(_ text: [UInt8]) {
    guard let number = DecimalNumber.parse(text) else { return }
    require(number == Double(text.text), "\(text.text) is read as \(number)")
}

private func check<Parameter: QueryParameter>(_ error: ParameterError, of _: Parameter.Type) {
    let names = Parameter.allCases.map(\.name.description)
    require(!error.faults.isEmpty, "a query is refused without a fault")
    require(Set(error.faults).count == error.faults.count, "a fault comes twice: \(error.faults)")
    for fault in error.faults {
        let isKnown =
            names.contains(fault.parameter)
            // Byte by byte: what follows may be a mark that combines with the point.
            || Parameter.hasProperties && fault.parameter.utf8.starts(with: "property.".utf8)
        switch fault.code {
        case .unknownParameter: require(!isKnown, "a known parameter is called unknown: \(fault)")
        // The name itself may be what can't be decoded.
        case .malformedEncoding, .tooManyParameters: break
        default: require(isKnown, "a fault of no parameter: \(fault)")
        }
        require(
            !fault.detail.isEmpty && ProblemCode.kinds[fault.code]?.status == 400, "not a fault: \(fault)")
    }
    let problem = Problem(error)
    require(problem.errors == error.faults && problem.status == 400, "another problem: \(problem)")
}
