/// The paths of the mock's own requests, which no app makes.
public enum MockPath {
    /// The names of the sessions that there are.
    public static let sessions = "/~session"
    /// What every session's paths begin with, a template; an app's base URL is the mock's with this behind it.
    public static let session = "/~session/{name}"
    /// A session's fixtures, below its prefix.
    public static let fixtures = "/fixtures"
    /// A session's faults, below its prefix.
    public static let faults = "/faults"
    /// A session's journal, below its prefix.
    public static let requests = "/requests"

    /// The prefix of one session.
    public static func session(_ name: String) -> String { "/~session/\(name)" }

    /// Whether a session may have this name: 1 to 64 characters of `A-Z a-z 0-9 . _ -`, and no dots alone, which
    /// URLs take for something else (RFC 3986, section 5.2.4).
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
