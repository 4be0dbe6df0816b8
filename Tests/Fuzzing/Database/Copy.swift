@testable import POIDatabase
import PointsOfInterestAPI
@testable import Postgres
import SpatialIndex

/// The rows of a binary COPY, which places in memory are read from. The first byte says whether the file's header is made
/// here.
///
/// Every row that is accepted is one place or one that is gone, and it is the same whether rows come one by one or together.
func fuzzCopy(_ input: [UInt8]) {
    guard let first = input.first else { return }
    let header =
        first & 1 == 0 ? Array("PGCOPY\n".utf8) + [0xff, 13, 10, 0] + [UInt8](repeating: 0, count: 8) : []
    let data = header + input.dropFirst()
    guard let whole = Decoded([data]) else { return }
    let rows = rows(of: data)
    require(whole.places + whole.removed.count == rows.count, "\(whole) of \(rows.count) rows")
    guard let first = rows.first else { return }
    let pieces = [data[..<first.lowerBound]] + rows.map { data[$0] }
    require(Decoded(pieces.map { Array($0) }) == whole, "another in \(pieces.count) pieces")
}

/// What is read of the data; nil where it is refused.
private struct Decoded: Equatable {
    var places = 0
    var removed: [Int64] = []
    var bytes = 0

    init?(_ pieces: [[UInt8]]) {
        var decoder = PlaceCopyDecoder()
        var builder = IndexPartBuilder(expecting: 4)
        do throws(PostgresError) {
            for piece in pieces {
                try decoder.decode(piece, into: &builder)
            }
        } catch {
            guard case .unexpectedResult = error.code else { fatalError("another error: \(error)") }
            return nil
        }
        (places, removed, bytes) = (builder.placeCount, decoder.removedIDs, builder.bytes)
    }
}

/// Where the complete rows of the data are (PostgreSQL manual, "COPY", "Binary Format").
private func rows(of data: [UInt8]) -> [Range<Int>] {
    func number(at offset: Int, bytes: Int) -> Int? {
        guard offset + bytes <= data.count else { return nil }
        let value = data[offset..<offset + bytes].reduce(0) { $0 << 8 | Int($1) }
        return bytes == 4 ? Int(Int32(truncatingIfNeeded: value)) : Int(Int16(truncatingIfNeeded: value))
    }
    var rows: [Range<Int>] = []
    var offset = 19 + (number(at: 15, bytes: 4) ?? 0)
    while let count = number(at: offset, bytes: 2), count > 0 {
        let start = offset
        offset += 2
        for _ in 0..<count {
            guard let length = number(at: offset, bytes: 4) else { return rows }
            offset += 4 + max(0, length)
        }
        rows.append(start..<offset)
    }
    return rows
}
