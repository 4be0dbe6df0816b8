import Foundation
import PointsOfInterestServerAPI
import Testing

@Suite("A place's fields")
struct PlaceFieldsTests {
    private static let source = PointOfInterest.Source(dataset: "d\"", id: "", license: "é")

    @Test(
        "A place is read back the same from the JSON of its fields",
        arguments: [
            PointOfInterest(id: 1, name: "", category: "", latitude: 0, longitude: 0),
            PointOfInterest(
                id: .max, name: "Café 👩‍👩‍👧‍👦", category: "cafe\0", latitude: -90, longitude: 180, featured: true,
                distance: 12.3, address: "", website: "w", source: source),
            PointOfInterest(id: .min, name: "a", category: "b", latitude: 1, longitude: 2, website: "only"),
            PointOfInterest(id: 3, name: "a", category: "b", latitude: 1, longitude: 2, source: source),
            PointOfInterest(
                id: 5, name: "a\nb", category: "c", latitude: 0.1, longitude: -0.1, distance: 5,
                address: "\\",
                source: source),
        ])
    func roundTrip(place: PointOfInterest) throws {
        var writer = JSONWriter()
        place.withFields { writer.value($0) }
        #expect(try JSONDecoder().decode(PointOfInterest.self, from: Data(writer.bytes)) == place)
    }

    @Test("Distances are rounded to a tenth of a metre, halves away from zero")
    func roundDistances() throws {
        let name = Array("n".utf8)
        let written = name.withUnsafeBufferPointer { text in
            [0.04, 0.05, 12.25, 20_003_931.4586].map { distance in
                var writer = JSONWriter()
                writer.value(
                    PlaceFields(
                        id: 1, name: text, category: text, latitude: 0, longitude: 0, featured: false,
                        distance: distance, address: nil, website: nil, source: nil))
                return Data(writer.bytes)
            }
        }
        let rounded = try written.map { try JSONDecoder().decode(PointOfInterest.self, from: $0).distance }
        #expect(rounded == [0, 0.1, 12.3, 20_003_931.5])
    }
}
