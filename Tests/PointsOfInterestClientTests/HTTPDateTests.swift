import Foundation
import Testing

@testable import PointsOfInterestClient

@Suite("A date in a field")
struct HTTPDateTests {
    @Test(
        "A date is read in the three forms of RFC 9110",
        arguments: [
            "Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994",
            "  Sun, 06 Nov 1994 08:49:37 GMT ",
        ])
    func isRead(text: String) {
        #expect(HTTPDate.parse(text)?.timeIntervalSince1970 == 784_111_777)
    }

    @Test(
        "A date in any other form is refused",
        arguments: [
            "", "now", "1994-11-06T08:49:37Z", "Sun, 32 Nov 1994 08:49:37 GMT",
            "06 Nov 1994", String(repeating: "Sun, ", count: 1000),
        ])
    func isNone(text: String) {
        #expect(HTTPDate.parse(text) == nil)
    }
}
