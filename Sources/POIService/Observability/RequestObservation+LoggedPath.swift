import HTTPServer

extension RequestObservation {
    /// The path as the log has it: whole where it is a route's own or made of plain words and whole numbers, else
    /// without the segments from the first that isn't.
    ///
    /// A client that encodes the `?` of `/locations?lat=…` puts somebody's position into the path, and one that
    /// takes coordinates for ids does too.
    var loggedPath: String? {
        guard let path, path != routeTemplate else { return path }
        guard let odd = path.utf8.firstIndex(where: { !Self.isPlain($0) }) else { return path }
        let kept = path.utf8[..<odd].lastIndex(of: UInt8(ascii: "/")).map { path[...$0] } ?? ""
        return "\(kept)…"
    }

    private static func isPlain(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "/"), UInt8(ascii: "-"), UInt8(ascii: "_"),
            UInt8(ascii: "*"), UInt8(ascii: "~"):
            true
        default: false
        }
    }
}
