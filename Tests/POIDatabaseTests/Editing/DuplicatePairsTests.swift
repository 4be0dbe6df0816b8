import Foundation
import Geodesy
import PointsOfInterestAPI
import PointsOfInterestServerAPI
import Testing

@testable import POIDatabase

@Suite("Probable duplicates")
struct DuplicatePairsTests {
    private typealias Place = DuplicatePairs.Place

    /// Places with these names, all at one position.
    private func places(from id: Int64, _ names: [String], website: String? = nil) -> [Place] {
        var folder = NameFolder()
        let position = Coordinate(validLatitude: 52.5, validLongitude: 13.4)
        return names.enumerated().map { number, name in
            Place(
                id: id + Int64(number), version: 1, name: name, position: position, website: website, &folder)
        }
    }

    private func pairs(_ places: [Place], _ others: [Place]) -> (pairs: [DuplicatePairs.Pair], crowded: Int) {
        var search = DuplicatePairs()
        var pairs: [DuplicatePairs.Pair] = []
        search.find(among: places, and: others) { pairs.append($0) }
        return (pairs, search.crowded)
    }

    @Test(
        "Names are alike where one has all words of the other, whole ones, in any order and way of writing",
        arguments: [
            ("Café Müller", "CAFE MUELLER", "same words"), ("Müller Café", "Cafe Muller", "same words"),
            ("Adler", "Gasthaus zum Adler", "more words"), ("Roma Ristorante", "Roma", "fewer words"),
            ("McDonald's", "McDonalds", "same words"), ("U.S. Bank", "US Bank", "same words"),
            ("東京駅", "東京駅 八重洲", "more words"), ("Bar", "Barbershop", nil), ("Adler", "Bären", nil),
            ("Café Roma", "Café Milano", nil), ("–", "…", nil),
        ] as [(String, String, String?)])
    func names(one: String, other: String, reason: String?) {
        let found = pairs(places(from: 1, [one]), places(from: 2, [other])).pairs
        #expect(found.map(\.reason) == (reason.map { [$0] } ?? []))
    }

    @Test("The same website is a reason where the names have a word in common")
    func websites() {
        let one = places(from: 1, ["Café Roma", "Tiger"], website: "https://www.A.example/")
        let found = pairs(one, places(from: 3, ["Roma Bar", "Roma Café"], website: "http://a.example")).pairs
        #expect(found.map(\.reason) == ["same website", "same words, same website"])
        #expect(found.map(\.other.id) == [3, 4] && found.allSatisfy { $0.place.id == 1 })
        #expect(pairs(one, places(from: 3, ["Roma Bar"], website: "https://a.example/b")).pairs.isEmpty)
    }

    @Test(
        "They are within 75 m, also across the antimeridian and a pole", arguments: [0, 51.5, -89.9995, 90])
    func distances(latitude: Double) {
        var folder = NameFolder()
        var seed = 7.0
        func random() -> Double {
            seed = (seed * 16_807).truncatingRemainder(dividingBy: 2_147_483_647)
            return seed / 2_147_483_647 - 0.5
        }
        for start in [0, 179.9999, -180.0, 33.3] {
            // Few enough that none has more than are taken.
            func scattered(from id: Int64) -> [Place] {
                (0..<20).map { number in
                    let north = min(max(latitude + random() / 400, -90), 90)
                    var east = start + random() / 400 / max(cos(latitude * .pi / 180), 1e-5)
                    if east > 180 { east -= 360 }
                    if east < -180 { east += 360 }
                    return Place(
                        id: id + Int64(number), version: 1, name: "A",
                        position: Coordinate(validLatitude: north, validLongitude: east), website: nil,
                        &folder)
                }
            }
            let (one, other) = (scattered(from: 1), scattered(from: 1000))
            let near = one.flatMap { place in
                other.filter { Geodesic.distanceMeters(from: place.position, to: $0.position) <= 75 }
                    .map { [place.id, $0.id] }
            }
            let found = pairs(one, other)
            #expect(Set(found.pairs.map { [$0.place.id, $0.other.id] }) == Set(near) && found.crowded == 0)
            #expect(found.pairs.count == near.count && !near.isEmpty)
        }
    }

    @Test("At a crowded point the work is bounded, the rare are found, and how many had more is said")
    func crowds() {
        let names = (0..<2000).map { "Kiosk \($0)" }
        let numbered = pairs(places(from: 1, names), places(from: 10_000, names))
        #expect(numbered.pairs.count == 2000 && numbered.crowded == 0)
        #expect(numbered.pairs.allSatisfy { $0.other.id == $0.place.id + 9_999 })
        let same = Array(repeating: "Kiosk", count: 2000)
        let crowd = pairs(places(from: 1, same), places(from: 10_000, same))
        #expect(crowd.crowded == 4000 && crowd.pairs.count <= 2000 * 40)
    }
}
