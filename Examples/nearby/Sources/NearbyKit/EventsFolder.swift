import Foundation
import PointsOfInterestClient

/// Where a person's tracking events wait for the service, so that none is lost where it can't be reached.
public enum EventsFolder {
    /// Opens the queue of a folder, by default one among the person's own files. Nil where it can't be used, by two
    /// programs at once for instance: what a person wants to know doesn't depend on it.
    public static func queue(_ folder: String?) -> EventQueue? {
        let own = FileManager.default.urls(for: .applicationSupportDirectory, in: .userDomainMask).first
        guard let url = folder.map(URL.init(fileURLWithPath:)) ?? own?.appendingPathComponent("nearby/events")
        else { return nil }
        return try? EventQueue(directory: url)
    }
}
