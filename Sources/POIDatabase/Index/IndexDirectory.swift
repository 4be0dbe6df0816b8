import PointsOfInterestServerAPI
import CSystem
import Foundation
import Locking
import Places
import PointsOfInterestAPI
import PointsOfInterestServerAPI
import SpatialIndex

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// The folder in which a process keeps its places across restarts (`POI_INDEX_DIR`).
///
/// Of the files `places-NUMBER.index`, that with the highest number is the newest; the one before it is kept, too. One process
/// writes: who has locked the file `lock` (flock(2)), until it ends. Any thread; every function blocks.
package final class IndexDirectory: Sendable {
    /// Why the folder can't be used, in one line.
    package struct Fault: Error, Hashable, CustomStringConvertible {
        package let description: String
    }

    /// What was found.
    struct Found {
        let part: IndexPart
        let notes: IndexNotes
        let number: Int
        let bytes: Int
    }

    /// What was written.
    struct Written {
        let number: Int
        let bytes: Int
    }

    /// The folder.
    package let path: String
    /// The descriptor of the locked file, nil where this process doesn't write; and whether another one does.
    private let writer = Lock<(lock: Int32?, isAnother: Bool)>((nil, false))

    private static let kept = 2
    /// How many files there are at most: those that are kept, and the one that is being written.
    static let mostFiles = kept + 1

    package init(path: String) { self.path = path }

    deinit {
        if let lock = writer.withLock({ $0.lock }) { close(lock) }
    }

    /// The numbers of the files, the newest first.
    private var numbers: [Int] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
        return names.compactMap { Self.number(of: $0) }.sorted(by: >)
    }

    private static func number(of name: String) -> Int? {
        guard name.hasPrefix("places-"), name.hasSuffix(".index") else { return nil }
        let text = name.dropFirst("places-".count).dropLast(".index".count)
        // Not what a number can be written as, too, nor one that has no next.
        return Int(text).flatMap { $0 > 0 && $0 < .max && "\($0)" == text ? $0 : nil }
    }

    private func file(_ number: Int) -> String { "\(path)/places-\(number).index" }

    // MARK: Reading

    /// Reads the newest file that can be read. One that is damaged is removed, so that no later start tries it again.
    ///
    /// - Parameters:
    ///   - maximumBytes: the memory that the places may take.
    ///   - report: called with each file that can't be used, and why.
    func read(maximumBytes: Int, report: (_ file: String, _ reason: String) -> Void) -> Found? {
        for number in numbers {
            let file = file(number)
            do throws(IndexFile.Fault) {
                return try read(number, maximumBytes)
            } catch {
                report(file, "\(error)")
                if error == .damaged { unlink(file) }
            }
        }
        return nil
    }

    private func read(_ number: Int, _ maximumBytes: Int) throws(IndexFile.Fault) -> Found {
        // A FIFO would be waited for.
        let descriptor = open(file(number), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard descriptor >= 0 else { throw .system(call: "open", code: errno) }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw .system(call: "fstat", code: errno) }
        guard status.st_mode & S_IFMT == S_IFREG else { throw .damaged }
        // Whoever may write the file could make the process read any memory.
        guard status.st_uid == geteuid(), status.st_mode & 0o022 == 0 else {
            throw .foreign(what: "owner, or who else may write it,")
        }
        let (part, bytes) = try IndexFile.read(from: descriptor, maximumBytes: maximumBytes)
        guard var notes = try? JSONDecoder().decode(IndexNotes.self, from: Data(bytes)) else {
            throw .damaged
        }
        if let stamp = IndexFile.stamp(of: descriptor) { notes.confirmedAt = max(notes.confirmedAt, stamp) }
        return Found(part: part, notes: notes, number: number, bytes: Int(status.st_size))
    }

    // MARK: Writing

    /// Writes the next file, and removes those that aren't kept.
    ///
    /// - Parameter isCancelled: asked again and again.
    /// - Returns: the file's size in bytes; nil where it was cancelled, or where another process writes.
    /// - Throws: `Fault`.
    func write(_ part: IndexPart, _ notes: IndexNotes, isCancelled: () -> Bool) throws(Fault) -> Written? {
        guard try claim() else { return nil }
        removePartialFiles()
        let number = (numbers.first ?? 0) + 1
        let partial = file(number) + ".partial"
        let descriptor = try check(
            open(partial, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600), "open")
        defer {
            close(descriptor)
            unlink(partial)
        }
        guard let encoded = try? JSONEncoder().encode(notes) else {
            throw Fault(description: "notes can't be encoded")
        }
        let size: Int?
        do throws(IndexFile.Fault) {
            size = try IndexFile.write(part, notes: Array(encoded), to: descriptor, isCancelled: isCancelled)
        } catch {
            throw Fault(description: "\(path): \(error)")
        }
        guard let size else { return nil }
        _ = try check(fsync(descriptor), "fsync")
        _ = try check(rename(partial, file(number)), "rename")
        synchronise()
        for number in numbers.dropFirst(Self.kept) { unlink(file(number)) }
        return Written(number: number, bytes: size)
    }

    /// Notes in a file when its places were known to be the newest, unless another process writes.
    ///
    /// - Parameter time: in seconds since 1970.
    /// - Returns: false where the file isn't the newest.
    /// - Throws: `Fault`.
    func stamp(_ number: Int, _ time: Double) throws(Fault) -> Bool {
        guard try claim() else { return true }
        guard numbers.first == number else { return false }
        let descriptor = try check(open(file(number), O_RDWR | O_CLOEXEC | O_NOFOLLOW), "open")
        defer { close(descriptor) }
        IndexFile.stamp(descriptor, time)
        return true
    }

    /// Whether another process writes, when it was last tried.
    var hasAnotherWriter: Bool { writer.withLock { $0.isAnother } }

    /// Makes this process the one that writes; false where another one is.
    func claim() throws(Fault) -> Bool {
        if writer.withLock({ $0.lock != nil }) { return true }
        if mkdir(path, 0o700) != 0, errno != EEXIST { throw fault("mkdir") }
        try refuseNetwork(path)
        let descriptor = try check(
            open("\(path)/lock", O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600), "open")
        while flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
            guard errno != EINTR else { continue }
            let fault = fault("flock")
            let isTaken = errno == EWOULDBLOCK
            close(descriptor)
            guard isTaken else { throw fault }
            writer.withLock { $0.isAnother = true }
            return false
        }
        writer.withLock { $0 = (descriptor, false) }
        return true
    }

    /// Removes what processes have left that ended while they wrote.
    private func removePartialFiles() {
        for name in (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
        where name.hasSuffix(".index.partial") {
            unlink("\(path)/\(name)")
        }
    }

    /// Has the new name written to the disk.
    private func synchronise() {
        let folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard folder >= 0 else { return }
        fsync(folder)
        close(folder)
    }

    private func check(_ result: Int32, _ call: String) throws(Fault) -> Int32 {
        guard result >= 0 else { throw fault(call) }
        return result
    }

    private func fault(_ call: String) -> Fault {
        Fault(description: "\(path): \(IndexFile.Fault.system(call: call, code: errno))")
    }

    // MARK: Looking

    /// How many bytes files may take: what is free on the disk, and what is there already. Changes nothing.
    ///
    /// - Throws: `Fault` where the folder can't be used.
    func room() throws(Fault) -> Int {
        var folder = path
        if access(folder, F_OK) != 0 { folder = URL(filePath: path).deletingLastPathComponent().path }
        _ = try check(access(folder, R_OK | W_OK | X_OK), "access")
        try refuseNetwork(folder)
        var disk = statvfs()
        _ = try check(statvfs(folder, &disk), "statvfs")
        let kept = numbers.reduce(0) { sum, number in
            var status = stat()
            return stat(file(number), &status) == 0 ? sum + Int(status.st_size) : sum
        }
        return Int(disk.f_bavail) * Int(disk.f_frsize) + kept
    }

    private func refuseNetwork(_ folder: String) throws(Fault) {
        guard poi_is_on_network(folder) else { return }
        throw Fault(description: "\(path): it is on a network, where locks can't be relied on")
    }

    // MARK: Forgetting

    /// Removes all files; returns how many there were. A server that runs writes what it serves within ten minutes.
    ///
    /// - Throws: `Fault`.
    package func forget() throws(Fault) -> Int {
        if access(path, R_OK | W_OK | X_OK) != 0, errno != ENOENT { throw fault("access") }
        removePartialFiles()
        let numbers = numbers
        for number in numbers { _ = try check(unlink(file(number)), "unlink") }
        return numbers.count
    }
}

/// What a file of places has beside the places.
struct IndexNotes: Codable, Equatable {
    struct ID: Codable, Equatable {
        var high, low: UInt64

        init(_ id: DatasetID) { (high, low) = (id.high, id.low) }

        var datasetID: DatasetID { DatasetID(high: high, low: low) }
    }

    struct Dataset: Codable, Equatable {
        var name, license: String
        var credit, url: String?
    }

    /// Numbers as bytes, since a text of millions takes seconds.
    struct Former: Codable, Equatable {
        var ids: Data
        /// The ids of merged places, each before that of the place that it was merged into.
        var merged: Data

        init(_ former: FormerIDs) {
            ids = Self.bytes(of: former.ids)
            merged = Self.bytes(
                of: former.survivors.sorted { $0.key < $1.key }.flatMap { [$0.key, $0.value] })
        }

        var formerIDs: FormerIDs {
            let pairs = Self.numbers(in: merged)
            return FormerIDs(
                Self.numbers(in: ids),
                survivors: Dictionary(
                    stride(from: 0, to: pairs.count - 1, by: 2).map { (pairs[$0], pairs[$0 + 1]) },
                    uniquingKeysWith: { first, _ in first }))
        }

        private static func bytes(of numbers: [Int64]) -> Data {
            var bytes: [UInt8] = []
            bytes.reserveCapacity(8 * numbers.count)
            for number in numbers {
                for shift in stride(from: 56, through: 0, by: -8) {
                    bytes.append(UInt8(truncatingIfNeeded: number >> shift))
                }
            }
            return Data(bytes)
        }

        private static func numbers(in data: Data) -> [Int64] {
            let bytes = Array(data)
            return (0..<bytes.count / 8).map { index in
                Int64(bitPattern: bytes[8 * index..<8 * index + 8].bigEndianNumber)
            }
        }
    }

    var datasetID, servedID, incarnation: ID
    var revision: Int64
    /// When its places were last known to be the newest, in seconds since 1970.
    var confirmedAt: Double
    var categories: [String]
    var labels: CategoryLabels
    var datasets: [Dataset]
    /// The ids of removed places; nil in files of before version 0.6.0, which reads these.
    var former: Former?

    init(_ facts: ServedIndex.Facts, confirmedAt: Double) {
        datasetID = ID(facts.version.datasetID)
        servedID = ID(facts.datasetID)
        incarnation = ID(facts.version.incarnation)
        revision = facts.version.revision
        self.confirmedAt = confirmedAt
        categories = facts.categories.sortedNames
        labels = facts.labels
        datasets = facts.datasets.map { name, facts in
            Dataset(name: name.text, license: facts.license, credit: facts.credit, url: facts.url)
        }
        former = facts.former.map(Former.init)
    }

    /// The same as the follower has it.
    var facts: ServedIndex.Facts {
        ServedIndex.Facts(
            version: DatasetVersion(
                datasetID: datasetID.datasetID, revision: revision, incarnation: incarnation.datasetID),
            datasetID: servedID.datasetID, categories: NameVocabulary(categories),
            labels: labels,
            datasets: Dictionary(
                datasets.map {
                    (ExactName($0.name), DatasetFacts(license: $0.license, credit: $0.credit, url: $0.url))
                },
                uniquingKeysWith: { first, _ in first }), former: former?.formerIDs)
    }

    /// How long ago its places were the newest. A clock that shows an earlier time than the file's counts as one that was set
    /// back by as much: nothing becomes newer by it.
    func age(at now: Double) -> Duration { .seconds(abs(now - confirmedAt)) }
}
