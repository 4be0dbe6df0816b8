import Foundation
import Locking
import PlaceImport
import PrivateCluster

@testable import POIDatabase

extension TestDatabase {
    /// Imports places into the dataset `test`, as `poi import` does.
    ///
    /// - Parameters:
    ///   - rows: lines of CSV: id, name, category, latitude, longitude.
    ///   - observers: what is followed besides.
    func importPlaces(
        _ rows: [String], license: String = "CC0-1.0", observers: DatasetImport.Observers = .init(),
        _ change: (inout ImportSource, inout ImportOptions) -> Void = { _, _ in }
    ) async throws -> ImportReport {
        let file = FileManager.default.temporaryDirectory.appending(path: "poi-\(UUID()).csv")
        let text = (["id,name,category,latitude,longitude"] + rows).joined(separator: "\n") + "\n"
        try Data(text.utf8).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        return try await importFile(file.path, license: license, observers: observers, change)
    }

    /// The same with a file that is there already, or a named pipe.
    func importFile(
        _ path: String, license: String = "CC0-1.0", observers: DatasetImport.Observers = .init(),
        _ change: (inout ImportSource, inout ImportOptions) -> Void = { _, _ in }
    ) async throws -> ImportReport {
        var source = ImportSource(paths: [path])
        source.columns = [.id: "id"]
        var options = ImportOptions(dataset: DatasetDescription(name: "test", license: license))
        change(&source, &options)
        let work = DatasetImport(try configuration(), source, options)
        // Off the pool, since it blocks.
        return try await withCheckedThrowingContinuation { continuation in
            Thread { continuation.resume(with: Result { try work.run(observers) }) }.start()
        }
    }

    /// What the database holds of the dataset `test`, in the order of the ids.
    func importedPlaces() throws -> [String] {
        try execute(
            """
            SELECT source_id || ',' || name || ',' || category || ',' || latitude || ',' || longitude
            FROM locations WHERE source_dataset = 'test' ORDER BY source_id COLLATE "C"
            """
        ).split(separator: "\n").map(String.init)
    }

    /// The dataset's id.
    func datasetID() throws -> String { try execute("SELECT id FROM dataset") }
}

extension ImportReport {
    /// How many places were added, changed, left and removed.
    var counts: [Int] { [added, changed, unchanged, removed] }
}
