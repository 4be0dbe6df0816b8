import Bytes
import Foundation
import PointsOfInterestHTTP
import PointsOfInterestServerAPI
import SpatialIndex

/// What a region is, and what was received of it and isn't in its file yet: responses as they came, one behind the other.
///
/// The region is first of all, and stays where all else is in the file of places: so it is known also where that file can't be
/// read, since it is damaged or another version's.
///
/// Each has a sum, so that what was being written when the process was killed is recognised and cut off. Belongs to one task.
final class DownloadLog {
    /// A response.
    struct Frame {
        /// Where its bytes are in the file.
        fileprivate let body: Range<Int>
        /// The sums of the buckets that it has.
        let sums: [Int: PlaceSum]
    }

    /// The numbers before a response, 8 bytes each, the higher bytes first: the sum of all that follows, how many sums there are,
    /// and how many bytes the response has. Behind them are, for each bucket, its number, its count and its sum.
    private static let headSize = 24, entrySize = 24

    let region: OfflineRegion
    private(set) var frames: [Frame] = []
    /// The size of the file.
    private(set) var byteCount = 0
    /// For each bucket that came, the number of the last response that has it.
    private(set) var lastFrames: [Int: Int] = [:]
    private let file: FileHandle
    /// Where the responses begin.
    private var start = 0

    /// Opens the log of a region; nil where there is none, or none that says what region it is of.
    ///
    /// - Parameter appends: whether responses will be appended: what isn't whole is cut off. Others may read meanwhile.
    init?(at path: String, appends: Bool = false) throws(OfflineRegionError) {
        let opened = appends ? FileHandle(forUpdatingAtPath: path) : FileHandle(forReadingAtPath: path)
        guard let file = opened else { return nil }
        var read: [Frame] = []
        while let frame = Self.frame(at: read.last?.body.upperBound ?? 0, of: file) { read.append(frame) }
        guard let first = read.first, let last = read.last, let definition = Self.bytes(first.body, of: file),
            let region = try? JSONDecoder().decode(OfflineRegion.self, from: Data(definition))
        else { return nil }
        self.file = file
        self.region = region
        byteCount = last.body.upperBound
        start = first.body.upperBound
        if appends { try storing { try file.truncate(atOffset: UInt64(last.body.upperBound)) } }
        for frame in read.dropFirst() { take(frame) }
    }

    /// Begins a new log, in place of one that is there.
    init(of region: OfflineRegion, at path: String) throws(OfflineRegionError) {
        self.region = region
        let new = path + ".new"
        guard let definition = try? JSONEncoder().encode(region),
            FileManager.default.createFile(
                atPath: new, contents: nil, attributes: [.posixPermissions: 0o600]),
            let file = FileHandle(forUpdatingAtPath: new)
        else { throw .storage(reason: "\(new) can't be made") }
        self.file = file
        try write(Array(definition), [:])
        start = byteCount
        guard rename(new, path) == 0 else { throw .storage(call: "rename") }
    }

    /// Appends a response with the places of buckets.
    func append(_ body: Data, _ sums: [Int: PlaceSum]) throws(OfflineRegionError) {
        take(try write(Array(body), sums))
    }

    /// Removes all responses: the file of places has what they have.
    func removeResponses() throws(OfflineRegionError) {
        try storing { try file.truncate(atOffset: UInt64(start)) }
        (byteCount, frames, lastFrames) = (start, [], [:])
    }

    /// The bytes of a response.
    func body(of frame: Frame) throws(OfflineRegionError) -> [UInt8] {
        guard let bytes = Self.bytes(frame.body, of: file) else {
            throw .storage(reason: "a download has become shorter")
        }
        return bytes
    }

    private func take(_ frame: Frame) {
        for bucket in frame.sums.keys { lastFrames[bucket] = frames.count }
        frames.append(frame)
    }

    @discardableResult
    private func write(_ body: [UInt8], _ sums: [Int: PlaceSum]) throws(OfflineRegionError) -> Frame {
        var content = ByteBuffer(capacity: Self.headSize + sums.count * Self.entrySize + body.count)
        content.append(bigEndian: UInt64(sums.count))
        content.append(bigEndian: UInt64(body.count))
        for (bucket, sum) in sums {
            for number in [UInt64(bucket), sum.count, sum.sum] { content.append(bigEndian: number) }
        }
        content.append(body)
        var start = ByteBuffer(capacity: 8)
        start.append(bigEndian: IndexFile.sum(of: content.bytes))
        let bytes = Data(start.bytes + content.bytes)
        try storing {
            try file.seek(toOffset: UInt64(byteCount))
            try file.write(contentsOf: bytes)
        }
        byteCount += bytes.count
        return Frame(body: byteCount - body.count..<byteCount, sums: sums)
    }

    private func storing(_ body: () throws -> Void) throws(OfflineRegionError) {
        do { try body() } catch { throw .storage(reason: "\(error)") }
    }

    /// The whole response at an offset; nil where there is none.
    private static func frame(at offset: Int, of file: FileHandle) -> Frame? {
        guard let head = bytes(offset..<offset + headSize, of: file) else { return nil }
        let (sum, sumCount, bodyCount) = (number(head[..<8]), number(head[8..<16]), number(head[16...]))
        // The head of what isn't a response may have any numbers.
        guard sumCount <= PlaceDigest.bucketCount, bodyCount < 1 << 40 else { return nil }
        let start = offset + headSize
        let bodyStart = start + Int(sumCount) * entrySize
        guard let entries = bytes(start..<bodyStart, of: file),
            let body = bytes(bodyStart..<bodyStart + Int(bodyCount), of: file),
            sum == IndexFile.sum(of: head[8...] + entries + body)
        else { return nil }
        var sums: [Int: PlaceSum] = [:]
        for start in stride(from: 0, to: entries.count, by: entrySize) {
            let count = number(entries[start + 8..<start + 16])
            sums[Int(number(entries[start..<start + 8]))] =
                PlaceSum(count: count, sum: number(entries[start + 16..<start + 24]))
        }
        return Frame(body: bodyStart..<bodyStart + Int(bodyCount), sums: sums)
    }

    private static func bytes(_ range: Range<Int>, of file: FileHandle) -> [UInt8]? {
        if range.isEmpty { return [] }
        try? file.seek(toOffset: UInt64(range.lowerBound))
        let found = try? file.read(upToCount: range.count)
        return found?.count == range.count ? found.map { Array($0) } : nil
    }

    private static func number(_ bytes: ArraySlice<UInt8>) -> UInt64 {
        bytes.reduce(0) { $0 << 8 | UInt64($1) }
    }
}

extension OfflineRegionError {
    /// The failure of a system call that was just made.
    static func storage(call: String) -> OfflineRegionError {
        .storage(reason: "\(call): \(String(cString: strerror(errno)))")
    }
}
