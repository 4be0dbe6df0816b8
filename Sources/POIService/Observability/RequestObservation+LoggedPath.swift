import HTTPServer

extension RequestObservation {
    /// The path as the log shows it: nothing behind a character that no path of the service has but in names
    /// that the service has given.
    ///
    /// A client that escapes the `?` of a query, or loses it, has sent somebody's position as part of the path.
    var loggedPath: String? {
        guard let path, path != routeTemplate else { return path }
        let end = path.utf8.firstIndex { !Self.isPlain($0) }
        return end.map { path[..<$0] + "…" } ?? path
    }

    private static func isPlain(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "/"), UInt8(ascii: "-"), UInt8(ascii: "_"),
            UInt8(ascii: "*"):
            true
        default:
            false
        }
    }
}
