import Foundation
import PointsOfInterestTesting
import Testing

@Suite("A recorded exchange")
struct RecordedExchangeTests {
    @Test("An exchange is read from a file's text, with the body's own line breaks")
    func isRead() throws {
        let exchange = try RecordedExchange(
            text: "GET /a?b=c\nAccept: x/y\nX-A:  b:c \n\n200\nContent-Type: x/y\n\none\n\ntwo\n\n")
        #expect(exchange.method == "GET")
        #expect(exchange.target == "/a?b=c")
        #expect(exchange.requestHeaders == ["Accept": "x/y", "X-A": "b:c"])
        #expect(exchange.status == 200)
        #expect(exchange.responseHeaders == ["Content-Type": "x/y"])
        #expect(exchange.body == Data("one\n\ntwo\n".utf8))
    }

    @Test("An exchange may have neither headers nor a body")
    func isBare() throws {
        let exchange = try RecordedExchange(text: "HEAD /\n\n304\n")
        #expect(exchange.status == 304)
        #expect(exchange.body.isEmpty)
    }

    @Test(
        "A malformed file is refused",
        arguments: [
            "", "GET\n\n200\n\n", "GET /\n", "GET /\n\nOK\n\n", "GET /\nx\n\n200\n", "GET /\n\n200\nx\n\n",
        ])
    func isRefused(text: String) {
        #expect(throws: RecordedExchange.Fault.self) { try RecordedExchange(text: text) }
    }
}
