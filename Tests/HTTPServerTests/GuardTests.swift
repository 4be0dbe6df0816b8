import Testing

@testable import HTTPServer

@Suite("Byte guards")
struct GuardTests {
    private func scan(_ text: String, _ limits: HTTPLimits = HTTPLimits()) -> HeadGuard.Result {
        var scanner = HeadGuard(requestHead: limits)
        return Array(text.utf8).withUnsafeBytes { scanner.scan($0) }
    }

    @Test("A head ends with its empty line, whatever follows")
    func headEnds() {
        #expect(scan("GET / HTTP/1.1\r\nA: b\r\n\r\nrest") == .complete(length: 24))
        #expect(scan("GET / HTTP/1.1\r\n\r\n") == .complete(length: 18))
        #expect(scan("GET / HTTP/1.1\r\nA: b\r\n\r") == .incomplete)
    }

    @Test("Values may have tabs and bytes beyond ASCII")
    func valuesAreFree() {
        #expect(scan("GET / HTTP/1.1\r\nA: b\tc é\r\n\r\n") == .complete(length: 29))
    }

    @Test("A head may be exactly as long as the limits, and not a byte longer")
    func limitsAreExact() {
        let limits = HTTPLimits(requestLineBytes: 14, headerBlockBytes: 12)
        #expect(scan("GET / HTTP/1.1\r\n", limits) == .incomplete)
        #expect(scan("GET / HTTP/1.10", limits) == .failed(.requestLineTooLong))
        #expect(scan("GET / HTTP/1.1\r\nA: b\r\nA: b\r\n", limits) == .incomplete)
        #expect(scan("GET / HTTP/1.1\r\nA: b\r\nA: b\r\n\r\n", limits) == .complete(length: 30))
        #expect(scan("GET / HTTP/1.1\r\nA: b\r\nA: b\r\nA", limits) == .failed(.headersTooLarge))
    }

    @Test("Line ends count towards the header block's limit")
    func lineEndsCount() {
        let limits = HTTPLimits(headerBlockBytes: 11)
        #expect(scan("GET / HTTP/1.1\r\nA: b\r\nA: b\r", limits) == .incomplete)
        #expect(scan("GET / HTTP/1.1\r\nA: b\r\nA: b\r\n", limits) == .failed(.headersTooLarge))
    }

    @Test("Every control character except the tab is refused anywhere in a head")
    func controlCharacters() {
        for byte in (UInt8(0)...31).filter({ $0 != 9 && $0 != 13 }) + [127] {
            for prefix in ["G", "GET / HTTP/1.1\r\n", "GET / HTTP/1.1\r\nA: "] {
                var scanner = HeadGuard(requestHead: HTTPLimits())
                let result = (Array(prefix.utf8) + [byte]).withUnsafeBytes { scanner.scan($0) }
                #expect(result != .incomplete, "\(byte) behind \(prefix)")
            }
        }
    }

    @Test("A chunk's size is read from its line")
    func chunkLine() {
        var scanner = ChunkLineGuard(maximumLength: 20)
        let result = Array("1aF;x=y\r\nrest".utf8).withUnsafeBytes { scanner.scan($0) }
        #expect(result == .complete(length: 9, size: 0x1AF))
        #expect(scanner.extensionLength == 4)
    }
}
