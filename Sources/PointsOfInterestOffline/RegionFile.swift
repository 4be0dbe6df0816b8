import Foundation
import PointsOfInterestHTTP
import PointsOfInterestServerAPI
import SpatialIndex

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// What a region's file has besides places.
struct RegionNotes: Codable, Hashable {
    /// Grows when the client reads more of a place than before, so that all places are loaded anew.
    static let currentContent = 1

    var content = RegionNotes.currentContent
    let region: OfflineRegion
    let labels: CategoryLabels
    let attributions: [Attribution]
    /// Places that the region has wherever they are.
    let favorites: [PointOfInterest]
}

/// The file of a region: written whole, then named, and mapped where it is read.
enum RegionFile {
    /// Opens a region's file; nil where there is none that can be used: it is of another version, or damaged.
    static func places(at path: String) -> RegionPlaces? {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0, let (part, notes) = try? IndexFile.map(descriptor),
            let notes = try? JSONDecoder().decode(RegionNotes.self, from: Data(notes))
        else { return nil }
        return RegionPlaces(
            part, notes, comparedAt: IndexFile.stamp(of: descriptor).map(Date.init(timeIntervalSince1970:)),
            file: FileIdentity(status))
    }

    /// Writes a region's file.
    static func write(
        _ part: IndexPart, _ notes: RegionNotes, comparedAt: Date, to path: String
    ) throws(OfflineRegionError) {
        guard let notes = try? JSONEncoder().encode(notes) else { throw .storage(reason: "no JSON") }
        let new = path + ".new"
        let descriptor = open(new, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw .storage(call: "open") }
        defer { close(descriptor) }
        do throws(IndexFile.Fault) {
            _ = try IndexFile.write(part, notes: Array(notes), to: descriptor)
        } catch {
            unlink(new)
            throw .storage(reason: "\(error)")
        }
        IndexFile.stamp(descriptor, comparedAt.timeIntervalSince1970)
        // Named only once it is on the disk: a file by the region's name is whole.
        guard fsync(descriptor) == 0, rename(new, path) == 0 else {
            let error = OfflineRegionError.storage(call: "rename")
            unlink(new)
            throw error
        }
    }

    /// Notes that the places were found equal to the service's.
    static func stamp(_ path: String, _ comparedAt: Date) {
        let descriptor = open(path, O_RDWR | O_CLOEXEC)
        guard descriptor >= 0 else { return }
        defer { close(descriptor) }
        IndexFile.stamp(descriptor, comparedAt.timeIntervalSince1970)
    }

    /// The file by a name; nil where there is none.
    static func identity(_ path: String) -> FileIdentity? {
        var status = stat()
        return stat(path, &status) == 0 ? FileIdentity(status) : nil
    }
}

/// Which file it is: another one has been given the name if this differs.
struct FileIdentity: Hashable {
    let inode: UInt64
    let byteCount: Int

    init(_ status: stat) {
        inode = UInt64(status.st_ino)
        byteCount = Int(status.st_size)
    }
}
