import HTTPServer
import PointsOfInterestAPI

/// What an answer's entity tag vouches for, but the dataset: the resource, its form and how it is written.
///
/// Equal requests have equal queries once they are encoded anew, however the client wrote them.
struct RepresentationHash {
    /// To be raised when the same places come to be written otherwise: no old tag is right then.
    private static let contractRevision: UInt8 = 1

    private let hash: UInt64

    init(path: String, query: [QueryItem], mediaType: String) {
        // No part holds a NUL, so none runs into the next.
        var hash = StableHash.hash(CollectionOfOne(Self.contractRevision))
        func add(_ text: String) {
            var text = text
            hash = text.withUTF8 { StableHash.hash($0, seed: hash) }
            hash = StableHash.hash(CollectionOfOne(0), seed: hash)
        }
        add(mediaType)
        add(path)
        for item in query {
            add(item.name)
            add(item.value)
        }
        self.hash = hash
    }

    /// The tag of this representation of a dataset.
    func tag(of dataset: DatasetID) -> EntityTag {
        var hash = hash
        for word in [dataset.high, dataset.low] {
            hash = withUnsafeBytes(of: word.bigEndian) { StableHash.hash($0, seed: hash) }
        }
        return EntityTag(hash: hash)
    }
}
