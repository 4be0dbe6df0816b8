import Foundation
import Locking
import Places
import PointsOfInterestAPI
import PointsOfInterestServerAPI
import PrivateCluster
import SpatialIndex
import Testing

@testable import POIDatabase

/// Places that a process leaves for the next one.
@Suite("Places that are kept across restarts", .timeLimit(.minutes(5)))
struct KeptPlacesTests {
    /// A folder that is gone with the value.
    final class Folder {
        let path = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString).path

        deinit { try? FileManager.default.removeItem(atPath: path) }

        var files: [String] {
            ((try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []).filter { $0 != "lock" }
                .sorted()
        }

        /// Changes the bytes of the newest file.
        func change(_ body: (inout Data) -> Void) throws {
            let file = URL(fileURLWithPath: "\(path)/\(try #require(files.last))")
            var content = try Data(contentsOf: file)
            body(&content)
            // In place: a new file would be readable by others.
            let handle = try FileHandle(forWritingTo: file)
            try handle.truncate(atOffset: 0)
            try handle.write(contentsOf: content)
            try handle.close()
        }
    }

    @Test(
        "A follower without its database serves what the one before has left, as what it is: stale, by the same id"
    )
    func away() async throws {
        let (database, folder) = (try IndexFollowerTests.database(places: 300), Folder())
        let path = folder.path
        let id = try await database.followedID(directory: path)
        #expect(folder.files == ["places-1.index"])
        try await database.withFollower(maxReplicaLag: .zero, directory: path, isAway: true) { followed in
            try await followed.wait { followed.servedID == id }
            try await followed.compare()
            try await followed.wait { followed.store.staleSeconds != nil }
            guard case .kept = await followed.store.checkHealth() else {
                Issue.record("\(String(describing: await followed.store.checkHealth()))")
                return
            }
            try await followed.wait { followed.index.status.phase == .serving }
            #expect(followed.index.status.origin == .file && followed.index.status.loadCount == 0)
            let names = followed.observations.names
            #expect(names.contains("index-file-read") && !names.contains("index-loaded"))
        }
        // Nothing was confirmed, so the file says what it said.
        #expect(folder.files == ["places-1.index"])
    }

    @Test(
        "A follower goes on from the file by the log, and reads everything only where the log doesn't reach back"
    )
    func followed() async throws {
        let (database, folder) = (try IndexFollowerTests.database(places: 300), Folder())
        let path = folder.path
        _ = try await database.followedID(directory: path)
        try database.execute(
            "UPDATE locations SET name = 'Renamed' WHERE id % 7 = 0; DELETE FROM locations WHERE id % 10 = 1; "
                + IndexFollowerTests.places(3, from: 301))
        try await database.withFollower(directory: path) { followed in
            #expect(followed.index.status.loadCount == 0)
            #expect(!followed.observations.names.contains("index-withdrawn"))
        }
        #expect(folder.files == ["places-1.index", "places-2.index"])
        try database.execute("DELETE FROM locations WHERE id = 2")
        try database.execute(IndexFollowerTests.places(10_001, from: 1000))
        try await database.withFollower(directory: path) { followed in
            #expect(followed.index.status.loadCount == 1)
        }
        #expect(folder.files == ["places-2.index", "places-3.index"])
    }

    @Test(
        "Whatever was written and altered between two starts, the places are the database's, with it and without"
    )
    func writersAndDDL() async throws {
        let (database, folder) = (try IndexFollowerTests.database(places: 300), Folder())
        let path = folder.path
        for change in [
            "UPDATE locations SET latitude = -latitude, name = 'Moved ' || id WHERE id % 3 = 0",
            "ALTER TABLE locations ADD COLUMN theirs text; UPDATE locations SET theirs = 'x', category = 'bar' WHERE id < 20",
            "DELETE FROM locations WHERE id % 2 = 0; " + IndexFollowerTests.places(5, from: 400),
            "UPDATE locations SET operating_status = 'permanentlyClosed' WHERE id % 7 = 0",
            "UPDATE locations SET operating_status = NULL, name = 'Open' WHERE id % 21 = 0",
            "ALTER TABLE locations DROP COLUMN theirs; VACUUM FULL locations",
            "INSERT INTO filterable_properties (name, type) VALUES ('wheelchair', 'text'); "
                + "UPDATE locations SET properties = '{\"wheelchair\": \"yes\"}' WHERE id % 5 = 1",
            "INSERT INTO categories (name) VALUES ('new_one'); UPDATE locations SET category = 'new_one' WHERE id = 3",
            "TRUNCATE locations; " + IndexFollowerTests.places(40, from: 1),
        ] {
            for statement in change.split(separator: "; ") { try database.execute(String(statement)) }
            try await database.withFollower(directory: path) { _ in }
            try await database.withFollower(directory: path, isAway: true) { followed in
                try await followed.wait { followed.servedID != nil }
                try await followed.compare()
            }
        }
    }

    @Test("A file's places of another history aren't served, or no longer once that is known")
    func anotherHistory() async throws {
        let (database, folder) = (try IndexFollowerTests.database(places: 20), Folder())
        let path = folder.path
        _ = try await database.followedID(directory: path)
        try database.execute("REFRESH MATERIALIZED VIEW dataset_incarnation")
        try await database.withFollower(directory: path) { followed in
            #expect(followed.index.status.loadCount == 1)
            let names = followed.observations.names
            #expect(names.contains("index-file-read"))
            // Where the database takes longer than a second to be asked, they were served until then.
            let isWithdrawn = followed.observations.all.contains(.withdrawn(reason: "another-history"))
            #expect(names.filter { $0 == "index-serving" }.count == (isWithdrawn ? 2 : 1))
        }
    }

    @Test("Places that were mended are served by their own id after a restart, too, and only by that")
    func renamed() async throws {
        let (database, folder) = (try IndexFollowerTests.database(places: 20), Folder())
        let path = folder.path
        let id = try await database.followedID(directory: path)
        try database.execute(
            "BEGIN; SET LOCAL session_replication_role = replica; UPDATE locations SET name = 'Drifted' WHERE id = 3; COMMIT"
        )
        try await database.withFollower(verifying: 7, directory: path, waitsForNewest: false) { followed in
            try await followed.wait { followed.servedID != nil && followed.servedID != id }
            try await followed.compare(isRenamed: true)
        }
        try await database.withFollower(directory: path, isAway: true) { followed in
            try await followed.wait { followed.servedID != nil }
            #expect(followed.servedID != id)
            try await followed.compare(isRenamed: true)
        }
    }

    @Test("A damaged file is removed and said, and the one before it is used")
    func damaged() async throws {
        let (database, folder) = (try IndexFollowerTests.database(places: 20), Folder())
        let path = folder.path
        let first = try await database.followedID(directory: path)
        try database.execute("DELETE FROM locations WHERE id = 2")
        _ = try await database.followedID(directory: path)
        // The first byte of the first column.
        try folder.change { $0[4096] ^= 1 }
        try await database.withFollower(directory: path, isAway: true) { followed in
            try await followed.wait { followed.servedID == first }
            #expect(followed.observations.names.filter { $0 == "index-file-refused" }.count == 1)
        }
        #expect(folder.files == ["places-1.index"])
        try folder.change { $0.removeLast() }
        try await database.withFollower(directory: path) { followed in
            #expect(followed.index.status.origin == .database)
        }
    }

    @Test("What is older than places may be isn't served, but followed")
    func tooOld() async throws {
        let (database, folder) = (try IndexFollowerTests.database(places: 20), Folder())
        let path = folder.path
        _ = try await database.followedID(directory: path)
        try await database.withFollower(directory: path, maximumStaleness: .zero, isAway: true) { followed in
            try await followed.wait { followed.observations.names.contains("index-file-read") }
            try await followed.wait { followed.index.status.phase == .waiting }
            #expect(followed.servedID == nil)
        }
        try await database.withFollower(directory: path) { followed in
            #expect(followed.index.status.loadCount == 0)
        }
    }

    @Test("A clock that was set back makes no places newer")
    func clock() {
        let id = DatasetID(high: 1, low: 2)
        let facts = ServedIndex.Facts(
            version: DatasetVersion(datasetID: id, revision: 1, incarnation: id),
            categories: NameVocabulary([]))
        let notes = IndexNotes(facts, confirmedAt: 1000)
        #expect(notes.age(at: 1010) == .seconds(10))
        #expect(notes.age(at: 990) == .seconds(10))
        #expect(notes.facts.version == facts.version)
    }
}

/// The folder of the files.
@Suite("The folder of the files of places")
struct IndexDirectoryTests {
    private static let id = DatasetID(high: 1, low: 2)
    private static let notes = IndexNotes(
        ServedIndex.Facts(
            version: DatasetVersion(datasetID: id, revision: 1, incarnation: id),
            categories: NameVocabulary(["a"])),
        confirmedAt: 1000)

    private static func part() -> IndexPart { IndexPartBuilder(expecting: 0).build() }

    private func read(_ directory: IndexDirectory) -> IndexDirectory.Found? {
        directory.read(maximumBytes: 1 << 20) { file, reason in Issue.record("\(file): \(reason)") }
    }

    @Test("One process writes, another one once that has ended; the newest two files are kept")
    func onlyOneWrites() throws {
        let folder = KeptPlacesTests.Folder()
        var first: IndexDirectory? = IndexDirectory(path: folder.path)
        let second = IndexDirectory(path: folder.path)
        for number in 1...3 {
            #expect(try first?.write(Self.part(), Self.notes) { false }?.number == number)
            #expect(try second.write(Self.part(), Self.notes) { false } == nil)
        }
        #expect(folder.files == ["places-2.index", "places-3.index"])
        #expect(read(second)?.number == 3)
        // What a process left that ended while it wrote.
        try Data([1]).write(to: URL(fileURLWithPath: "\(folder.path)/places-4.index.partial"))
        first = nil
        #expect(try second.write(Self.part(), Self.notes) { false }?.number == 4)
        #expect(folder.files == ["places-3.index", "places-4.index"])
        #expect(try second.forget() == 2)
        #expect(folder.files == [] && read(second) == nil)
    }

    @Test(
        "The stamp says when places were last the newest; it never makes them older, and only the newest file gets it"
    )
    func stamp() throws {
        let folder = KeptPlacesTests.Folder()
        let directory = IndexDirectory(path: folder.path)
        _ = try directory.write(Self.part(), Self.notes) { false }
        #expect(read(directory)?.notes == Self.notes)
        #expect(try directory.stamp(1, 2000))
        #expect(read(directory)?.notes.confirmedAt == 2000)
        #expect(try directory.stamp(1, 500))
        #expect(read(directory)?.notes.confirmedAt == 1000)
        _ = try directory.write(Self.part(), Self.notes) { false }
        #expect(try !directory.stamp(1, 3000))
    }

    @Test("A folder that can't be written to is a fault of one line; a cancelled file leaves nothing")
    func faults() throws {
        let folder = KeptPlacesTests.Folder()
        let directory = IndexDirectory(path: folder.path)
        #expect(try directory.write(Self.part(), Self.notes) { true } == nil)
        #expect(folder.files == [])
        let file = "\(folder.path)/lock"
        let error = #expect(throws: IndexDirectory.Fault.self) {
            _ = try IndexDirectory(path: "\(file)/below").write(Self.part(), Self.notes) { false }
        }
        #expect(error?.description.contains("Not a directory") == true)
    }

    @Test("What only resembles a file's name is left alone, and what is no file is removed")
    func otherFiles() throws {
        let folder = KeptPlacesTests.Folder()
        let directory = IndexDirectory(path: folder.path)
        _ = try directory.write(Self.part(), Self.notes) { false }
        let others = ["places-007.index", "places--5.index", "places-\(Int.max).index", "places-x.index"]
        for name in others { try Data([1]).write(to: URL(fileURLWithPath: "\(folder.path)/\(name)")) }
        #expect(read(directory)?.number == 1)
        #expect(mkfifo("\(folder.path)/places-9.index", 0o600) == 0)
        var refused: [String] = []
        #expect(directory.read(maximumBytes: 1 << 20) { file, _ in refused.append(file) }?.number == 1)
        #expect(refused == ["\(folder.path)/places-9.index"])
        #expect(try directory.write(Self.part(), Self.notes) { false }?.number == 2)
        #expect(folder.files == (others + ["places-1.index", "places-2.index"]).sorted())
    }

    @Test("A file that others may write isn't read")
    func writableByOthers() throws {
        let folder = KeptPlacesTests.Folder()
        let directory = IndexDirectory(path: folder.path)
        _ = try directory.write(Self.part(), Self.notes) { false }
        chmod("\(folder.path)/places-1.index", 0o622)
        var reasons: [String] = []
        #expect(directory.read(maximumBytes: 1 << 20) { reasons.append($1) } == nil)
        #expect(reasons.count == 1 && folder.files == ["places-1.index"])
    }
}

extension TestDatabase {
    /// Follows the places until they are the newest, and returns the id that they are served by.
    fileprivate func followedID(directory: String) async throws -> DatasetID? {
        let id = Lock<DatasetID?>(nil)
        try await withFollower(directory: directory) { followed in id.withLock { $0 = followed.servedID } }
        return id.withLock { $0 }
    }
}
