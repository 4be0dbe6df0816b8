import HTTPServer
import PointsOfInterestAPI
import Testing

@testable import POIService
@testable import Places

@Suite("The revision of the contract, which entity tags depend on")
struct ContractRevisionTests {
    /// What the responses of each revision hash to, the last one's first. A row is never changed, only a new one is added.
    private static let digests: [(revision: UInt64, digest: UInt64)] = [(2, 7_201_531_876_882_399_918)]

    private static let places = [
        PointOfInterest(
            id: 1, name: "Plain", category: "park", latitude: 1.25, longitude: -2.5, featured: true,
            distance: 12.34),
        PointOfInterest(
            id: 2, name: "Caf\u{E9} \"\u{1F600}\" </a>", category: "cafe", latitude: -90, longitude: 180,
            distance: 0,
            address: "1 First St", website: "https://example.org/?a=b",
            source: PointOfInterest.Source(dataset: "set", id: "a/1", license: "CC0-1.0")),
    ]

    private static let targets = [
        "/locations?lat=1&long=2", "/locations?bbox=-1,-1,1,1", "/locations/2", "/locations/2?lat=1&long=2",
        "/locations/clusters?bbox=0,0,1,1&zoom=3", "/categories", "/attributions",
    ]

    @Test(
        "A response that changes over the same places has a new revision, so that no tag of before is confirmed"
    )
    func raised() async throws {
        let store = StubStore { (_) throws(PlaceStoreError) in Self.places }
        store.places = Self.places
        let site = try ServiceSite(store)
        var digest = StableHash.basis
        for target in Self.targets {
            for type in ["application/json", "application/geo+json"] {
                let response = try await site.ask(target, headers: [.accept: type])
                guard response.status == .ok else { continue }
                digest = StableHash.hash("\(target) \(type) \(response.text)", seed: digest)
            }
        }
        let current = try #require(Self.digests.first)
        #expect(
            RepresentationHash.contractRevision == current.revision && digest == current.digest,
            "raise RepresentationHash.contractRevision, and add a row with the digest \(digest)")
    }
}
