/// The paths of requests to the mock itself. Apps don't use them.
public enum MockPath {
    /// The names of all sessions.
    public static let sessions = "/~session"
    /// The template of a session's prefix. An app's base URL is the mock's URL followed by the prefix.
    public static let session = "/~session/{name}"
    /// A session's fixtures, below its prefix.
    public static let fixtures = "/fixtures"
    /// A session's faults, below its prefix.
    public static let faults = "/faults"
    /// A session's scenario, below its prefix.
    public static let scenario = "/scenario"
    /// A session's journal, below its prefix.
    public static let requests = "/requests"

    /// The prefix of one session.
    public static func session(_ name: String) -> String { "/~session/\(name)" }

    /// Whether a session may have this name: 1 to 64 characters of `A-Z a-z 0-9 . _ -`, but not `.` or `..`, which
    /// have a meaning in URLs (RFC 3986, section 5.2.4).
    public static func isSessionName(_ name: String) -> Bool {
        (1...64).contains(name.utf8.count) && name != "." && name != ".."
            && name.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "_"),
                    UInt8(ascii: "-"):
                    true
                default: false
                }
            }
    }
}
