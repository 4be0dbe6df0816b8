import Foundation
import PointsOfInterestHTTP
import PointsOfInterestServerAPI
import SpatialIndex

/// The sums of all groups, as the service has sent them.
struct DigestRoot: Decodable {
    let dataset: String
    let count: Int
    let sums: [String]
}

/// The sums of the buckets of some groups.
struct DigestGroups: Decodable {
    let dataset: String
    let groups: [String: [String]]
}

/// The places of some buckets. Its bytes are kept as they came; this says what is in them.
struct ReceivedBuckets {
    let dataset: String
    /// The sums of the buckets that it has, by their numbers.
    private(set) var sums: [Int: PlaceSum] = [:]

    /// Reads a response.
    ///
    /// - Parameters:
    ///   - isWanted: whether a bucket's places are wanted; the others are only counted.
    ///   - body: takes each place.
    /// - Throws: `RequestError.undecodableBody`, `.damagedBody`.
    init(
        _ bytes: [UInt8], isWanted: (Int) -> Bool = { _ in false },
        _ body: (PlaceFields, _ hash: UInt64) -> Void = { _, _ in }
    ) throws(RequestError) {
        var dataset: String?
        var sums: [Int: PlaceSum] = [:]
        var fault: String?
        func readPlaces(_ name: JSONText, _ scanner: inout JSONScanner) throws(JSONScanner.SyntaxError) {
            let bucket = PlaceDigest.bucket(named: name.decoded(in: scanner.bytes))
            var sum = PlaceSum()
            try scanner.array { (scanner) throws(JSONScanner.SyntaxError) in
                let place = try PlaceMembers(&scanner).fields(in: scanner)
                guard let (place, hash) = place, let bucket,
                    PlaceDigest.bucket(ofID: Int64(place.id)) == bucket
                else { return fault = "a bucket has what is no place of it" }
                sum.add(id: Int64(place.id), hash: hash)
                if isWanted(bucket) { body(place, hash) }
            }
            if let bucket { sums[bucket] = sum }
        }
        func readMember(_ name: JSONText, _ scanner: inout JSONScanner) throws(JSONScanner.SyntaxError) {
            switch name.decoded(in: scanner.bytes) {
            case "dataset": dataset = try scanner.string().decoded(in: scanner.bytes)
            case "buckets": try scanner.object(readPlaces)
            default: try scanner.skipValue()
            }
        }
        do throws(JSONScanner.SyntaxError) {
            try bytes.withScanner { (scanner) throws(JSONScanner.SyntaxError) in
                try scanner.object(readMember)
            }
        } catch {
            throw .damagedBody(reason: "\(error)")
        }
        guard fault == nil, let dataset else { throw .undecodableBody(reason: fault ?? "no dataset") }
        self.dataset = dataset
        self.sums = sums
    }
}
