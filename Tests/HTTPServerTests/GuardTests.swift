import Testing

@testable import HTTPServer

@Suite("The byte guards")
struct GuardTests {
    private func scan(_ text: String, _ limits: HTTPLimits = HTTPLimits()) -> HeadGuard.Result {
        var guardian = HeadGuard(requestHead: limits)
        return Array(text.utf8).withUnsafeBytes { guardian.scan($0) }
    }

    @Test("A head ends behind its empty line, whatever follows")
    func headEnds() {
        #expect(scan("GET / HTTP/1.1\r\nA: b\r\n\r\nrest") == .complete(length: 24))
        #expect(scan("GET / HTTP/1.1\r\n\r\n") == .complete(length: 18))
        #expect(scan("GET / HTTP/1.1\r\nA: b\r\n\r") == .incomplete)
    }

    @Test("Tabs and bytes beyond ASCII may stand in values")
    func valuesAreFree() {
        #expect(scan("GET / HTTP/1.1\r\nA: b\tc é\r\n\r\n") == .complete(length: 29))
    }

    @Test("Limits are met exactly")
    func limitsAreExact() {
        let limits = HTTPLimits(requestLineBytes: 14, headerBlockBytes: 12)
        #expect(scan("GET / HTTP/1.1\r\n", limits) == .incomplete)
        #expect(scan("GET / HTTP/1.10", limits) == .failed(.requestLineTooLong))
        #expect(scan("GET / HTTP/1.1\r\nA: b\r\nA: b\r\n", limits) == .incomplete)
        #expect(scan("GET / HTTP/1.1\r\nA: b\r\nA: b\r\n\r\n", limits) == .complete(length: 30))
        #expect(scan("GET / HTTP/1.1\r\nA: b\r\nA: b\r\nA", limits) == .failed(.headersTooLarge))
    }

    @Test("A line's end counts towards the header block")
    func lineEndsCount() {
        let limits = HTTPLimits(headerBlockBytes: 11)
        #expect(scan("GET / HTTP/1.1\r\nA: b\r\nA: b\r", limits) == .incomplete)
        #expect(scan("GET / HTTP/1.1\r\nA: b\r\nA: b\r\n", limits) == .failed(.headersTooLarge))
    }

    @Test("Every control character but the tab is refused, wherever it stands")
    func controlCharacters() {
        for byte in (UInt8(0)...31).filter({ $0 != 9 && $0 != 13 }) + [127] {
            for prefix in ["G", "GET / HTTP/1.1\r\n", "GET / HTTP/1.1\r\nA: "] {
                var guardian = HeadGuard(requestHead: HTTPLimits())
                let result = (Array(prefix.utf8) + [byte]).withUnsafeBytes { guardian.scan($0) }
                #expect(result != .incomplete, "\(byte) behind \(prefix)")
            }
        }
    }

    @Test("A chunk's size is read from its line")
    func chunkLine() {
        var guardian = ChunkLineGuard(maximumLength: 20)
        let result = Array("1aF;x=y\r\nrest".utf8).withUnsafeBytes { guardian.scan($0) }
        #expect(result == .complete(length: 9, size: 0x1AF))
        #expect(guardian.extensionLength == 4)
    }
}
