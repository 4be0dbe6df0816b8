import Testing

@testable import Telemetry

@Suite("Messages without numbers")
struct RedactingNumbersTests {
    @Test(
        "Numbers that may be coordinates are removed from a message, and the description of the fault stays",
        arguments: [
            ("", ""),
            ("relation \"locations\" does not exist", "relation \"locations\" does not exist"),
            ("no point (37.3293 -121.8893 0)", "no point (… … …)"),
            ("lat=37.3293,long=-121.8893", "lat=…,long=…"),
            ("37.3293,-121.8893", "…,…"), ("+37", "…"), (".5", "…"), ("3.7e+1 x", "… x"),
            ("POINT(-121.8893 37.3293)", "POINT(… …)"),
            ("0101000020E6100000C7BAB88D06785EC0", "…"),
            ("function float8(text) of cube_2 fails", "function float8(text) of cube_2 fails"),
            ("a37.5", "a37…"),
            ("\"37.3293\" is no number", "\"…\" is no number"), ("37°19'45\"N", "…°…'…\"N"),
            ("value −37.3293", "value −…"),
        ])
    func redaction(text: String, expected: String) {
        #expect(text.redactingNumbers == expected)
    }
}
