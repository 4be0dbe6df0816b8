import Foundation
import Locking
import PointsOfInterestHTTP
import SpatialIndex

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// The regions in a folder: they are added, downloaded, compared, listed and removed. Any thread or task.
///
/// A region's places are one file, which is whole or not there. Another one has what the region is, and what came of a download that
/// isn't done. A process that only reads, such as an extension of the app, may use the same folder. Two processes mustn't update in
/// one folder at the same time.
public final class OfflineRegions: Sendable {
    private struct State {
        /// The regions in the folder, as they were when it was read last.
        var ids: Set<UUID> = []
        var open: [UUID: RegionPlaces] = [:]
        var updating: Set<UUID> = []
    }

    private static let fileSuffix = ".poi-region", logSuffix = ".poi-download"

    private let folder: String
    private let state = Lock(State())

    /// Uses the regions in a folder, which is made if there is none. A folder that is left out of the device's backups and isn't
    /// cleared by the system is the right one; for an extension, one of the app's group.
    ///
    /// - Throws: `OfflineRegionError.storage`.
    public init(directory: URL) throws {
        folder = directory.path
        do {
            try FileManager.default.createDirectory(
                at: directory, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        } catch {
            throw OfflineRegionError.storage(reason: "\(error)")
        }
        readFolder()
    }

    /// The regions with what is on the device of each, by their names. Finders look into the regions that were in the folder when it
    /// was read last: by this, by `init(directory:)`, or after a change by this object.
    public func list() -> [OfflineRegionState] {
        readFolder().compactMap { try? state(of: $0) }.sorted {
            ($0.region.name, $0.id.uuidString) < ($1.region.name, $1.id.uuidString)
        }
    }

    @discardableResult
    private func readFolder() -> Set<UUID> {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        let ids = names.compactMap { name in
            [Self.fileSuffix, Self.logSuffix].first { name.hasSuffix($0) }
                .flatMap { UUID(uuidString: String(name.dropLast($0.count))) }
        }
        state.withLock { $0.ids = Set(ids) }
        return Set(ids)
    }

    /// What is on the device of a region.
    ///
    /// - Throws: `OfflineRegionError.unknownRegion`, `.storage`.
    public func state(of id: UUID) throws -> OfflineRegionState {
        let places = places(of: id)
        let log = try DownloadLog(at: path(id, Self.logSuffix))
        guard let region = log?.region ?? places?.region else { throw OfflineRegionError.unknownRegion }
        return OfflineRegionState(
            region: region, isComplete: places != nil, placeCount: places?.snapshot.placeCount ?? 0,
            byteCount: (places?.file.byteCount ?? 0) + (log?.byteCount ?? 0), comparedAt: places?.comparedAt,
            attributions: places?.notes.attributions ?? [])
    }

    /// Adds a region, of which nothing is there yet; or changes one. Of a changed region, `update(_:from:progress:)` loads what it
    /// lacks then, and until that is done it answers as before.
    ///
    /// - Throws: `OfflineRegionError.alreadyUpdating`, `.storage`.
    public func add(_ region: OfflineRegion) throws {
        try begin(region.id)
        defer { end(region.id) }
        let path = path(region.id, Self.logSuffix)
        let log = try DownloadLog(at: path)
        guard log?.region != region else { return }
        let changed = try DownloadLog(of: region, at: path)
        for frame in log?.frames ?? [] { try changed.append(Data(log?.body(of: frame) ?? []), frame.sums) }
        state.withLock { _ = $0.ids.insert(region.id) }
    }

    /// Removes a region with all that is on the device of it. Answers that are being made end as they began.
    ///
    /// - Throws: `OfflineRegionError.alreadyUpdating`.
    public func remove(_ id: UUID) throws {
        try begin(id)
        defer { end(id) }
        unlink(path(id, Self.logSuffix))
        unlink(path(id, Self.fileSuffix))
        state.withLock { state in
            state.open[id] = nil
            state.ids.remove(id)
        }
    }

    /// Makes a region's places those of the service: the first download, or a comparison that loads what differs.
    ///
    /// To pause, cancel the task; another call goes on where it ended, also in the next process. Until it returns, the region answers
    /// as before.
    ///
    /// - Parameters:
    ///   - id: the region's.
    ///   - service: has the places.
    ///   - progress: called after each response, on any thread.
    /// - Throws: `RequestError`; `.problem` with the code `.areaTooLarge` or `.unknownPath` where the service doesn't give so many
    ///   places, or none at all; and `OfflineRegionError`.
    @concurrent
    @discardableResult
    public func update(
        _ id: UUID, from service: PointsOfInterestService,
        progress: @escaping @Sendable (OfflineRegionProgress) -> Void = { _ in }
    ) async throws -> OfflineRegionState {
        try begin(id)
        defer { end(id) }
        let base = places(of: id)
        let (path, logPath) = (path(id, Self.fileSuffix), path(id, Self.logSuffix))
        guard
            let log = try DownloadLog(at: logPath, appends: true)
                ?? base.map({ try DownloadLog(of: $0.region, at: logPath) })
        else { throw OfflineRegionError.unknownRegion }
        var update = RegionUpdate(log, over: base, from: service, progress: progress)
        let sums = try await update.run()
        let comparedAt = Date()
        let part = log.frames.isEmpty && update.base != nil ? nil : try update.part(proving: sums)
        if let part, part.bytes > log.region.maximumBytes {
            throw OfflineRegionError.tooLarge(bytes: part.bytes)
        }
        if let current = part ?? base?.snapshot.onlyPart {
            let notes = try await update.notes(of: current)
            if part != nil || notes != base?.notes {
                try RegionFile.write(current, notes, comparedAt: comparedAt, to: path)
            } else {
                RegionFile.stamp(path, comparedAt)
            }
        }
        try log.removeResponses()
        state.withLock { state in
            state.open[id] = nil
            state.ids.insert(id)
        }
        return try state(of: id)
    }

    // MARK: What is open

    /// The places of a region as its file has them now; nil where there are none.
    func places(of id: UUID) -> RegionPlaces? {
        let path = path(id, Self.fileSuffix)
        guard let identity = RegionFile.identity(path) else {
            state.withLock { $0.open[id] = nil }
            return nil
        }
        if let open = state.withLock({ $0.open[id] }), open.file == identity { return open }
        let opened = RegionFile.places(at: path)
        state.withLock { $0.open[id] = opened }
        return opened
    }

    /// The places of all regions that are complete.
    var allPlaces: [RegionPlaces] { state.withLock(\.ids).compactMap(places) }

    private func path(_ id: UUID, _ suffix: String) -> String {
        "\(folder)/\(id.uuidString.lowercased())\(suffix)"
    }

    private func begin(_ id: UUID) throws(OfflineRegionError) {
        guard state.withLock({ $0.updating.insert(id).inserted }) else { throw .alreadyUpdating }
    }

    private func end(_ id: UUID) { state.withLock { _ = $0.updating.remove(id) } }
}
