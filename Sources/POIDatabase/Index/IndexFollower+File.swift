import EventLoop
import Foundation
import Places
import SpatialIndex
import Synchronization
import Telemetry

/// Keeps the places in a file, so that the next start needs no database.
extension IndexFollower {
    /// How many times longer than its writing a file is kept, where that is more.
    private static let intervalOfWriting = 200
    /// How often the time is noted at which the places in the file were known to be the newest.
    private static let stampInterval = Duration.seconds(30)
    /// How long the end of the process waits for a file, and up to how many places are merged for it.
    private static let (timeAtEnd, mergedAtEnd) = (Duration.seconds(10), 500_000)

    private var directory: IndexDirectory? { configuration.index.directory }

    /// The time by the system's clock, in seconds since 1970.
    private static var wallClock: Double { Date().timeIntervalSince1970 }

    /// Reads the places of the file, if there is one, to be served if the first look shows no newer ones. Blocks.
    func restore() {
        guard let directory else { return }
        let start = MonotonicClock.now
        let found = directory.read(maximumBytes: configuration.index.placeBytes) { file, reason in
            record(.index(.fileRefused(file: file, reason: reason)))
        }
        guard let found else { return }
        var (facts, age) = (found.notes.facts, found.notes.age(at: Self.wallClock))
        index.restoreName(of: facts.version.datasetID, servedID: facts.datasetID)
        // Without what became of removed places, responses aren't those that are given by its id: until that is known, it has one
        // that is used by nobody else.
        if facts.former == nil {
            facts = facts.renamed(DatasetID(high: .random(in: 0 ... .max), low: .random(in: 0 ... .max)))
        }
        let restored = IndexSnapshot(part: found.part, version: IndexVersion(facts)).labelled(facts.labels)
        (snapshot, self.facts) = (restored, facts)
        let now = loop.now
        kept.restored(found, facts, confirmedAt: now - age)
        rounds = VerificationRounds(loadedAt: now - age, start: restored.randomID ?? .min)
        record(
            .index(
                .fileRead(
                    places: restored.placeCount, bytes: found.bytes, age: age,
                    duration: MonotonicClock.now - start)))
        noteFile()
        machine.restored(facts.version, placeCount: restored.placeCount, confirmedAt: now - age, at: now)
    }

    /// Writes a file, or notes that the last one has the newest places, where that is due. To be called again and again.
    func keep() {
        guard let directory, let facts, machine.isServing, let confirmedAt = machine.confirmedAt,
            !kept.isWriting, progress == nil
        else { return }
        guard kept.hasSamePlaces(as: facts) else {
            if loop.now >= kept.dueAt, !isMerging { startWriting(to: directory) { false } }
            return
        }
        guard confirmedAt >= kept.confirmedAt + Self.stampInterval else { return }
        kept.confirmedAt = confirmedAt
        let (number, time) = (kept.number, wallClock(of: confirmedAt))
        do throws(IndexDirectory.Fault) {
            // Another process may have written since.
            if try directory.stamp(number, time) == false { kept.forget() }
        } catch {
            failed(error)
        }
        noteFile()
    }

    /// The system's time at a time of the loop's clock.
    private func wallClock(of time: Duration) -> Double { Self.wallClock - (loop.now - time) / .seconds(1) }

    /// Writes what is served to a file, on a thread of its own.
    private func startWriting(to directory: IndexDirectory, isCancelled: @escaping @Sendable () -> Bool) {
        let follower = LoopBound(self, loop: loop)
        Task(executorPreference: loop) { await follower.value.write(to: directory, isCancelled: isCancelled) }
    }

    private func write(to directory: IndexDirectory, isCancelled: @escaping @Sendable () -> Bool) async {
        guard let snapshot, let facts, let confirmedAt = machine.confirmedAt else { return }
        (kept.isWriting, isMerging) = (true, true)
        // Places that were removed aren't in the file.
        let merge = snapshot.wholeMerge()
        let (start, notes) = (loop.now, IndexNotes(facts, confirmedAt: wallClock(of: confirmedAt)))
        do {
            let (merged, written) = try await merging.run {
                () throws -> (IndexPart?, IndexDirectory.Written?) in
                guard try directory.claim() else { return (nil, nil) }
                let merged = merge?.run()
                guard let part = merged ?? snapshot.onlyPart else { return (nil, nil) }
                return (merged, try directory.write(part, notes, isCancelled: isCancelled))
            }
            if let merge, let merged { adopt(merged, of: merge) }
            if let written {
                kept.wrote(written, facts, confirmedAt: confirmedAt)
                record(
                    .index(
                        .fileWritten(
                            places: snapshot.placeCount, bytes: written.bytes, duration: loop.now - start)))
            }
        } catch {
            failed(error)
        }
        (kept.isWriting, isMerging) = (false, false)
        kept.dueAt =
            loop.now + max(configuration.index.fileInterval, (loop.now - start) * Self.intervalOfWriting)
        noteFile()
    }

    /// Writes the last places to a file before the process ends, where that doesn't take long.
    func keepAtEnd() async {
        guard let directory, let facts, let snapshot, machine.isServing else { return }
        let deadline = loop.now + Self.timeAtEnd
        while kept.isWriting, loop.now < deadline { await loop.sleep(for: .milliseconds(20)) }
        guard !kept.isWriting, !isMerging, !kept.hasSamePlaces(as: facts),
            snapshot.wholeMerge() == nil || snapshot.placeCount <= Self.mergedAtEnd
        else { return }
        await write(to: directory) { MonotonicClock.now > deadline }
    }

    private func failed(_ error: any Error) {
        guard !kept.isFailing else { return }
        kept.isFailing = true
        record(.index(.fileFailed(reason: "\(error)")))
    }

    /// What the metrics tell of the file, which is the writer's to say.
    private func noteFile() {
        let (kept, isOurs) = (kept, directory?.hasAnotherWriter == false)
        index.update { status in
            status.fileBytes = isOurs ? kept.bytes : nil
            status.fileConfirmedAt = isOurs && kept.version != nil ? kept.confirmedAt : nil
        }
    }
}

/// What a process knows about the file that it has read or written last.
struct KeptFile {
    private(set) var version: DatasetVersion?
    private var servedID: DatasetID?
    private(set) var number = 0
    private(set) var bytes = 0
    /// When its places were known to be the newest, by the loop's clock.
    var confirmedAt = Duration.zero
    /// Whether the process has its first places from a file.
    private(set) var isRestored = false
    var isWriting = false
    /// Whether the last try failed, and that was said.
    var isFailing = false
    /// Not before this time another one is written.
    var dueAt = Duration.zero

    /// Whether the file has the places that are served.
    func hasSamePlaces(as facts: ServedIndex.Facts) -> Bool {
        version == facts.version && servedID == facts.datasetID
    }

    mutating func restored(_ found: IndexDirectory.Found, _ facts: ServedIndex.Facts, confirmedAt: Duration) {
        isRestored = true
        take(found.number, found.bytes, facts, confirmedAt)
    }

    mutating func wrote(_ file: IndexDirectory.Written, _ facts: ServedIndex.Facts, confirmedAt: Duration) {
        isFailing = false
        take(file.number, file.bytes, facts, confirmedAt)
    }

    private mutating func take(
        _ number: Int, _ bytes: Int, _ facts: ServedIndex.Facts, _ confirmedAt: Duration
    ) {
        (version, servedID) = (facts.version, facts.datasetID)
        (self.number, self.bytes, self.confirmedAt) = (number, bytes, confirmedAt)
    }

    /// Notes that the file isn't the newest, or is gone.
    mutating func forget() { (version, servedID) = (nil, nil) }
}
