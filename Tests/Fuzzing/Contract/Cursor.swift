import Bytes

@testable import PointsOfInterestAPI
@testable import PointsOfInterestServerAPI

/// A page's cursor: as text, and made of bytes to which the fingerprint and the checksum are added, which no fuzzer guesses.
///
/// A cursor that is accepted has a distance that there is on Earth, and is written again as the same text. It doesn't depend on the
/// page's size, it belongs to no other query, and none of its characters can be changed.
func fuzzCursor(_ input: [UInt8]) {
    let text = input.text
    let isByRelevance = input.count > 22
    let request = isByRelevance ? byRelevance : byDistance
    let start = start(at: text, in: request)
    let payload = Array(input.dropFirst().prefix(isByRelevance ? 22 : 20))
    let made = signed([input.first ?? 0] + bigEndian(WrittenQuery(request).fingerprint) + payload)
    guard let madeStart = Fuzzing.start(at: made, in: request) else {
        return require(start == nil || !text.isEmpty, "an empty cursor is accepted")
    }
    check(madeStart, made, in: request)
    if let start { check(start, text, in: request) }
    require(Fuzzing.start(at: made, in: other) == nil, "\(made) is accepted in another query")
    var larger = request
    larger.limit = 100
    require(Fuzzing.start(at: made, in: larger) == madeStart, "\(made) depends on the page's size")
    checkDamage(of: made, input, in: request)
}

private let byDistance = NearbyPlacesRequest(
    center: Coordinate(validLatitude: 60.17, validLongitude: 24.94), limit: 5, categories: ["cafe"])
private let byRelevance = NearbyPlacesRequest(searchText: "a", limit: 5)
private let other = NearbyPlacesRequest(center: Coordinate(validLatitude: 60.17, validLongitude: 24.94))

/// Where the page begins, by the query's decoder, which has to say the same as the cursor itself.
private func start(at text: String, in request: NearbyPlacesRequest) -> PagePosition? {
    var request = request
    request.cursor = PageCursor(rawValue: text)
    let start = try? request.cursor?.start(in: request)
    do throws(ParameterError) {
        let decoded = try NearbyPlacesRequest.decode(query: Array(request.encodedQuery.utf8))
        require(decoded.start == start && start != nil, "\(text) is accepted as \(String(describing: start))")
    } catch {
        require(start == nil, "\(text) is refused: \(error.faults)")
        require(error.faults.map(\.parameter) == ["cursor"], "another fault: \(error.faults)")
    }
    return start
}

private func check(_ start: PagePosition, _ text: String, in request: NearbyPlacesRequest) {
    require((start.rank != nil) == (request.sort != nil), "a position of another order: \(start)")
    require(
        (0...NearbyPlacesRequest.maximumRadiusMeters).contains(start.distanceMeters), "too far: \(start)")
    let again = PageCursor(start, in: request).rawValue
    require(again == text, "\(text) is written again as \(again)")
}

/// Changes a character, and then cuts the text.
private func checkDamage(of text: String, _ input: [UInt8], in request: NearbyPlacesRequest) {
    var random = input.generator
    var characters = Array(text.utf8)
    let index = Int.random(in: 0..<characters.count, using: &random)
    let changed = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_=%/".utf8.randomElement(
        using: &random)
    if let changed, changed != characters[index] {
        characters[index] = changed
        require(
            Fuzzing.start(at: characters.text, in: request) == nil,
            "\(text) is accepted as \(characters.text)")
    }
    require(
        Fuzzing.start(at: String(text.dropLast()), in: request) == nil, "\(text) is accepted without its end")
}

private func signed(_ bytes: [UInt8]) -> String {
    Base64URL.encode(bytes + bigEndian(PageCursor.checksum(of: bytes)))
}

private func bigEndian(_ number: some FixedWidthInteger) -> [UInt8] {
    withUnsafeBytes(of: number.bigEndian) { [UInt8]($0) }
}
