import HTTPServer
import PointsOfInterestAPI

/// What an answer's entity tag vouches for, but the dataset: the resource, its form and how it is written.
///
/// Equal requests have equal queries once they are encoded anew, however the client wrote them.
struct RepresentationHash {
    /// To be raised when the same request over the same places comes to be answered otherwise: no old tag is right
    /// then.
    private static let contractRevision: UInt64 = 2

    private let hash: UInt64

    init(path: String, query: [QueryItem], mediaType: String) {
        var hash = StableHash.hash(Self.contractRevision, seed: StableHash.basis)
        // None of these characters is in a part, so no part runs into the next.
        for part in [mediaType, " ", path, "?", query.percentEncodedQuery] {
            hash = StableHash.hash(part, seed: hash)
        }
        self.hash = hash
    }

    /// The tag of this representation of a dataset.
    func tag(of dataset: DatasetID) -> EntityTag {
        var hash = hash
        hash = StableHash.hash(dataset.high, seed: hash)
        return EntityTag(hash: StableHash.hash(dataset.low, seed: hash))
    }
}
