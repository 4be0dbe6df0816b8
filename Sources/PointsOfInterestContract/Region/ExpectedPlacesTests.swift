import Foundation
import PointsOfInterestClient
import Testing

extension ExpectedPlace: CustomTestStringConvertible {
    var testDescription: String { "line \(line)" }
}

extension Trait where Self == ConditionTrait {
    /// Skips a test where no places are known.
    fileprivate static var needsExpectedPlaces: Self {
        .enabled(if: ExpectedPlaces.current != nil, "POI_CONTRACT_EXPECT names no file of known places")
    }
}

@Suite("The places that the target is known to have", .timeLimit(.minutes(2)))
struct ExpectedPlacesTests {
    private static let places = ExpectedPlaces.current?.places ?? []

    /// Fails where a place has something else than the file.
    private func expect(
        _ place: PointOfInterest?, is expected: ExpectedPlace, _ source: String,
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        let differences = place.map(expected.differences) ?? ["not there"]
        #expect(differences == [], "\(source)", sourceLocation: sourceLocation)
    }

    @Test(
        "A known place is found at its position, with exactly the members that are known",
        .contract(
            .invariant, in: .locations,
            otherwise: "An app would show a place without its address, or with an altered name."),
        .needsExpectedPlaces, arguments: places)
    func position(expected: ExpectedPlace) async throws {
        expect(try await KnownPlaces.found(expected), is: expected, "the list")
    }

    @Test(
        "A known place is found by its name, by its category and by whether it is featured, and not by the opposite",
        .contract(
            .invariant, in: .locations, otherwise: "A filter or a search would hide a place that matches."),
        .needsExpectedPlaces, arguments: places)
    func filters(expected: ExpectedPlace) async throws {
        let place = try await KnownPlaces.found(expected)
        func isFound(_ change: (inout NearbyPlacesRequest) -> Void) async throws -> Bool {
            var request = expected.search
            change(&request)
            for try await found in try await Service.client().allNearbyPlaces(request)
            where found.id == place.id {
                return true
            }
            return false
        }
        // A text may have 100 code points; what is left of the last word begins that word.
        let text = String(String.UnicodeScalarView(expected.name.unicodeScalars.prefix(100)))
        if text.contains(where: { $0.isLetter || $0.isNumber }) {
            #expect(try await isFound { $0.searchText = text }, "by q")
        }
        if let category = expected.category {
            #expect(try await isFound { $0.categories = [category] }, "by category")
        }
        if let featured = expected.featured {
            #expect(try await isFound { $0.featured = featured }, "by featured")
            #expect(try await !isFound { $0.featured = !featured }, "by the opposite of featured")
        }
    }

    @Test(
        "A known place's details have exactly the members that are known, as JSON and as GeoJSON",
        .contract(
            .invariant, in: .place, otherwise: "A place would say something else when it is opened."),
        .needsExpectedPlaces, arguments: places)
    func details(expected: ExpectedPlace) async throws {
        let id = try await KnownPlaces.found(expected).id
        expect(try await Service.client().place(id: id), is: expected, "details")
        expect(try await Service.geoJSONPlace(id: id), is: expected, "details as GeoJSON")
        let features = try await Service.geoJSONPlaces(expected.search)
        // Where there are more neighbours than a page has, it may be on another one.
        guard features.count < NearbyPlacesRequest.limits.upperBound else { return }
        expect(features.compactMap(\.self).first { $0.id == id }, is: expected, "the list as GeoJSON")
    }

    @Test(
        "A known place is in a cluster of a small box around it",
        .contract(
            .invariant, in: .clusters, otherwise: "A place would vanish from the map at its deepest zoom."),
        .needs(.clusters), .needsExpectedPlaces, arguments: places)
    func clusters(expected: ExpectedPlace) async throws {
        let place = try await KnownPlaces.found(expected)
        // About a metre; the edges of the map don't matter, since the box goes no farther.
        let (latitude, longitude) = (expected.latitude, expected.longitude)
        let box = try FoundBox.box(
            max(-180, longitude - 1e-5), max(-90, latitude - 1e-5), min(180, longitude + 1e-5),
            min(90, latitude + 1e-5))
        var request = ClustersRequest(box: box, zoom: ClustersRequest.zooms.upperBound)
        request.properties = expected.search.properties
        let clusters = try await Service.client().clusters(request).clusters
        let level = request.zoom + MapTile.levelsBelowZoom
        func tile(_ latitude: Double, _ longitude: Double) -> MapTile {
            MapTile(level: level, latitude: latitude, longitude: longitude)
        }
        let own = tile(latitude, longitude)
        let cluster = try #require(
            clusters.first { tile($0.latitude, $0.longitude) == own }, "no cluster in its cell")
        #expect(cluster.box.contains(latitude: latitude, longitude: longitude == 180 ? -180 : longitude))
        if cluster.count == 1 { expect(cluster.place, is: expected, "the cluster's place") }
        #expect(cluster.count > 1 || cluster.place?.id == place.id)
    }

    @Test(
        "Known places at one position come in ascending order of id",
        .contract(
            .invariant, in: .locations,
            otherwise: "Places in one building would change their order, or vanish between two pages."),
        .needsExpectedPlaces)
    func ties() async throws {
        for known in try await KnownPlaces.found() {
            let ids = known.nearby.filter {
                $0.latitude == known.expected.latitude && $0.longitude == known.expected.longitude
            }
            .map(\.id)
            #expect(ids == ids.sorted(), "line \(known.expected.line)")
        }
    }

    @Test(
        "A known place's dataset has the license, the credit, the URL and the number of places that are known",
        .contract(
            .invariant, in: .attributions,
            otherwise: "A map would not show the credit that the data's license asks for."),
        .needsExpectedPlaces, arguments: places)
    func attribution(expected: ExpectedPlace) async throws {
        guard let dataset = expected.dataset else { return }
        let attributions = try await Service.client().attributions()
        let attribution = try #require(attributions.first { $0.dataset.isExactly(dataset) })
        if let license = expected.license {
            // A dataset without a row of its own has the licenses of all its places.
            let licenses = [attribution.license] + attribution.license.components(separatedBy: " AND ")
            #expect(licenses.contains { $0.isExactly(license) }, "\(attribution)")
        }
        for (text, known) in [(attribution.credit, expected.credit), (attribution.url, expected.url)] {
            guard let known else { continue }
            #expect(text?.isExactly(known) == true, "\(attribution)")
        }
        if let count = expected.datasetPlaces { #expect(attribution.places == count, "\(attribution)") }
    }
}
