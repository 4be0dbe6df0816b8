import PointsOfInterestClient

/// The members of a place that have to be the same in every response: all but the distance.
///
/// Texts are compared by their code points: `==` takes é for e with an accent behind it.
struct PlaceMembers {
    private(set) var differences: [String] = []

    /// Notes a text unless it is the expected one.
    mutating func compare(_ member: String, _ text: String?, _ expected: String?) {
        let isSame = text.map { text in expected.map { text.isExactly($0) } ?? false } ?? (expected == nil)
        if !isSame { differences.append("\(member): \(Self.shown(text)) instead of \(Self.shown(expected))") }
    }

    /// Notes a value unless it is the expected one.
    mutating func compare<Value: Equatable>(_ member: String, _ value: Value, _ expected: Value) {
        if value != expected { differences.append("\(member): \(value) instead of \(expected)") }
    }

    /// A text with its code points beyond ASCII as numbers.
    private static func shown(_ text: String?) -> String {
        guard let text else { return "nothing" }
        return text.unicodeScalars.map { $0.escaped(asASCII: true) }.joined()
    }
}

extension PointOfInterest {
    /// The members that differ from those of the same place elsewhere, without the distance.
    func differences(from place: PointOfInterest) -> [String] {
        var members = PlaceMembers()
        members.compare("id", id, place.id)
        members.compare("name", name, place.name)
        members.compare("category", category, place.category)
        members.compare("latitude", latitude, place.latitude)
        members.compare("longitude", longitude, place.longitude)
        members.compare("featured", featured, place.featured)
        members.compare("address", address, place.address)
        members.compare("website", website, place.website)
        members.compare("source.dataset", source?.dataset, place.source?.dataset)
        members.compare("source.id", source?.id, place.source?.id)
        members.compare("source.license", source?.license, place.source?.license)
        return members.differences
    }

    /// The same place as a response without a centre has it.
    var withoutDistance: PointOfInterest {
        PointOfInterest(
            id: id, name: name, category: category, latitude: latitude, longitude: longitude,
            featured: featured, address: address, website: website, source: source)
    }
}

extension String {
    /// Whether two texts have the same code points.
    func isExactly(_ other: String) -> Bool { utf8.elementsEqual(other.utf8) }
}
