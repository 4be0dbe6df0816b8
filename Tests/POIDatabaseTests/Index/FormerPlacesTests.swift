import Foundation
import Places
import PointsOfInterestAPI
import Postgres
import PrivateCluster
import SpatialIndex
import Testing

@testable import POIDatabase

/// What the follower knows of removed and merged places.
@Suite("Removed and merged places in memory", .timeLimit(.minutes(5)))
struct FormerPlacesTests {
    private static func merge(_ id: Int, into other: Int) -> String {
        "SELECT merge_places(\(id), \(other), NULL, NULL, 'anna')"
    }

    private static func restore(_ id: Int) -> String {
        "SELECT restore_place(\(id), (SELECT version FROM location_versions WHERE id = \(id) ORDER BY change DESC LIMIT 1), "
            + "NULL, 'anna')"
    }

    /// What people and imports do to places 1 to 40, one change after the other.
    private static let changes = [
        "DELETE FROM locations WHERE id IN (1, 2)", merge(3, into: 4), merge(5, into: 4),
        // With it those that were merged before.
        merge(4, into: 6),
        "BEGIN; \(merge(7, into: 8)); \(merge(8, into: 9)); \(merge(6, into: 10)); COMMIT",
        restore(5), restore(1),
        // Those that were merged into it are gone, too, until it comes back.
        "SELECT remove_place(10, NULL, 'anna')", restore(10),
        merge(5, into: 10), "BEGIN; DELETE FROM locations WHERE id = 11; ROLLBACK",
        "BEGIN; DELETE FROM locations WHERE id = 12; \(restore(2)); COMMIT",
        "BEGIN; DELETE FROM locations WHERE id > 20; \(restore(12)); \(IndexFollowerTests.places(2, from: 50)); COMMIT",
        "UPDATE locations SET name = 'Other' WHERE id % 2 = 0",
    ]

    @Test("The follower knows what became of each place after each change, as the database does")
    func followed() async throws {
        let database = try IndexFollowerTests.database(places: 40)
        try await database.withFollower { followed in
            for change in Self.changes {
                try database.execute(change)
                try await followed.waitForNewest()
                try await followed.compareFormer()
            }
            #expect(followed.index.status.loadCount == 1)
            #expect(try #require(followed.former).survivors.count == 6)
        }
        // Read as a whole they are the same.
        try await database.withFollower { try await $0.compareFormer() }
    }

    @Test("A change of places that are there copies nothing of what is known of others")
    func shared() async throws {
        let database = try IndexFollowerTests.database(places: 40)
        try database.execute("DELETE FROM locations WHERE id < 20")
        try await database.withFollower { followed in
            let before = try #require(followed.former)
            try database.execute(
                "UPDATE locations SET name = 'Other'; \(IndexFollowerTests.places(1, from: 50))")
            try await followed.waitForNewest()
            let after = try #require(followed.former)
            #expect(
                before.ids.withUnsafeBufferPointer(\.baseAddress)
                    == after.ids.withUnsafeBufferPointer(\.baseAddress))
        }
    }

    @Test("A process that starts without its database knows them, and goes on from there")
    func kept() async throws {
        let (database, folder) = (try IndexFollowerTests.database(places: 40), KeptPlacesTests.Folder())
        let path = folder.path
        for change in Self.changes {
            try database.execute(change)
            try await database.withFollower(directory: path) { try await $0.compareFormer() }
        }
        try await database.withFollower(directory: path, isAway: true) { followed in
            try await followed.wait { followed.servedID != nil }
            try await followed.compareFormer()
            #expect(followed.index.status.origin == .file)
        }
    }

    @Test(
        "A file of the release before knows none: then its places have an id of their own until the database is asked"
    )
    func keptBefore() async throws {
        let (database, folder) = (try IndexFollowerTests.database(places: 40), KeptPlacesTests.Folder())
        let path = folder.path
        try database.execute("DELETE FROM locations WHERE id = 1; \(Self.merge(2, into: 3))")
        try await database.withFollower(directory: path) { _ in }
        let own = try await Self.writeAsBefore(path)
        try await database.withFollower(directory: path, isAway: true) { followed in
            try await followed.wait { followed.servedID != nil }
            #expect(followed.servedID != own && followed.former == nil)
            #expect(try await followed.store.place(for: PlaceRequest(id: 1)).value().places.former == nil)
        }
        try await database.withFollower(directory: path) { followed in
            #expect(followed.servedID == own && followed.index.status.loadCount == 0)
            try await followed.compareFormer()
            #expect(!followed.observations.names.contains("index-differed"))
        }
        try await database.withFollower(directory: path, isAway: true) { followed in
            try await followed.wait { followed.former != nil }
            try await followed.compareFormer()
        }
    }

    /// Writes the newest file once more as the release before writes it, and returns the id that its places are served by.
    private static func writeAsBefore(_ path: String) async throws -> DatasetID {
        let directory = IndexDirectory(path: path)
        let written = try #require(directory.read(maximumBytes: 1 << 20) { _, _ in })
        var notes = written.notes
        notes.former = nil
        // A program that another test is just starting has the follower's lock, too, until it runs.
        while try directory.write(written.part, notes, isCancelled: { false }) == nil {
            await Task.yield()
        }
        return notes.servedID.datasetID
    }

    @Test("What is written past the triggers is noticed and mended, wherever it is among the ids")
    func drift() async throws {
        let database = try IndexFollowerTests.database(places: 40)
        try database.execute("DELETE FROM locations WHERE id BETWEEN 10 AND 35; \(Self.merge(2, into: 3))")
        try await database.withFollower(verifying: 4) { followed in
            for change in [
                "UPDATE removed_locations SET merged_into = 5 WHERE id IN (2, 20, 35)",
                "DELETE FROM removed_locations WHERE id = 10",
                "INSERT INTO removed_locations (id, name, category, latitude, longitude, change, is_suppressed) "
                    + "VALUES (-3, '', '', 0, 0, 0, true), (9000, '', '', 0, 0, 0, true)",
                "DELETE FROM removed_locations",
            ] {
                let (id, count) = (followed.servedID, followed.index.status.differenceCount)
                try database.execute(change)
                let expected = try await followed.formerInDatabase()
                try await followed.wait { followed.former == expected }
                #expect(followed.servedID != id && followed.index.status.differenceCount > count)
                try await followed.compareFormer()
            }
            #expect(!followed.observations.names.contains("index-differed"))
            #expect(followed.index.status.loadCount == 1)
        }
    }

    @Test("They count for the memory that places may take")
    func memory() async throws {
        let database = try IndexFollowerTests.database(places: 10)
        try await database.withFollower { followed in
            let bytes = followed.index.status.bytes
            try database.execute(
                "INSERT INTO removed_locations (id, name, category, latitude, longitude, change, is_suppressed) "
                    + "SELECT n, '', '', 0, 0, 0, true FROM generate_series(1000, 100999) AS n; TRUNCATE locations; "
                    + IndexFollowerTests.places(10))
            try await followed.waitForNewest()
            #expect(followed.index.status.bytes > bytes + 700_000)
        }
        try await database.withFollower(maximumBytes: 1 << 20, waitsForNewest: false) { followed in
            try await followed.wait {
                followed.index.status.phase == .serving || followed.index.status.phase == .tooLarge
            }
            try database.execute(
                "INSERT INTO removed_locations (id, name, category, latitude, longitude, change, is_suppressed) "
                    + "SELECT n, '', '', 0, 0, 0, true FROM generate_series(200000, 399999) AS n; TRUNCATE locations; "
                    + IndexFollowerTests.places(10))
            try await followed.wait { followed.index.status.phase == .tooLarge }
        }
    }
}

extension FollowedDatabase {
    /// What is known of removed places with what is served.
    fileprivate var former: FormerIDs? { servedID.flatMap { index.facts(of: $0)?.former } }

    fileprivate func formerInDatabase() async throws -> FormerIDs {
        var (ids, survivors): ([Int64], [Int64: Int64]) = ([], [:])
        for row in try await session.query("SELECT id, merged_into FROM removed_locations") {
            let id: Int64 = try row.decode(at: 0)
            ids.append(id)
            survivors[id] = try row.decode(Int64?.self, at: 1)
        }
        return FormerIDs(ids, survivors: survivors)
    }

    /// Compares what is in memory of removed places with the table, and what is said of them with what the database's store says.
    fileprivate func compareFormer() async throws {
        #expect(try await former == formerInDatabase())
        for id in 1...60 {
            let request = PlaceRequest(id: id)
            let (one, other) = (
                try await store.place(for: request).value(), try await database.place(for: request).value()
            )
            #expect(one.places.former == other.places.former, "\(id)")
            #expect(try one.places.details() == other.places.details(), "\(id)")
        }
        for ids in [Array(1...60), [3, 4, 5, 7], [8], [12, 2]] {
            for center in [nil, try Coordinate(latitude: 3, longitude: 4)] {
                let request = NearbyPlacesRequest(ids: ids, center: center)
                let (one, other) = (
                    try await pageInMemory(request).places, try await database.places(for: request).places
                )
                // Distances of PostGIS differ in their last digits, which are rounded here.
                for form in PlacesForm.allCases {
                    #expect(try one.written(form) == other.written(form), "\(ids)")
                }
            }
        }
    }
}

extension PlaceSource {
    fileprivate func written(_ form: PlacesForm) throws -> String {
        var writer = JSONWriter()
        try PlaceStyle(form).write(self, to: &writer)
        return String(decoding: writer.bytes, as: UTF8.self)
    }
}
