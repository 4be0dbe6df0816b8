import Foundation
import Randomness
import Testing

@testable import PointsOfInterestServerAPI

@Suite("Strings of a JSON document")
struct JSONScannerTests {
    /// Reads a string that begins with the document.
    private func read(_ document: [UInt8]) throws -> (content: [UInt8], flaws: JSONFlaws, text: JSONText) {
        try document.withUnsafeBufferPointer { bytes in
            var scanner = JSONScanner(bytes)
            let text = try scanner.string()
            return (Array(text.raw(in: bytes)), scanner.flaws, text)
        }
    }

    @Test(
        "A string ends at its quote, wherever that is, and has the escapes, letters and flaws that are in it")
    func anywhere() throws {
        let parts: [(bytes: [UInt8], isEscape: Bool, flaws: JSONFlaws)] = [
            ([], false, []), ([0x5C, 0x22], true, []), ([0x5C, 0x5C], true, []), (Array("é".utf8), false, []),
            ([0x1F], false, .text), ([0x80], false, .text), ([0xFF], false, .text), ([0x7F], false, []),
            ([0x20], false, []),
        ]
        for length in 0...24 {
            for place in 0...length {
                for part in parts {
                    let content =
                        Array(repeating: UInt8(ascii: "a"), count: place) + part.bytes
                        + Array(repeating: UInt8(ascii: "b"), count: length - place)
                    for rest in ["", ",", "\"", ", \"more\": \"text\""] {
                        let (found, flaws, text) = try read([0x22] + content + [0x22] + Array(rest.utf8))
                        #expect(found == content)
                        #expect(text.isEscaped == part.isEscape)
                        #expect(text.isASCII == content.allSatisfy { $0 < 0x80 })
                        #expect(flaws == part.flaws)
                    }
                    #expect(throws: JSONScanner.SyntaxError.self) { try read([0x22] + content) }
                }
            }
        }
    }

    @Test("A member is found by exactly its name, and names have the same hash where they are the same text")
    func names() {
        let known = ["id", "user_id", "time", "event", "test"]
        var others: Set<String> = ["", "i", "ids", "user_idx", "name", "value"]
        for name in known {
            for place in 0..<name.utf8.count {
                for byte in UInt8.min..<0x80 {
                    var changed = Array(name.utf8)
                    changed[place] = byte
                    others.insert(String(decoding: changed, as: UTF8.self))
                }
            }
        }
        for name in others.union(known) {
            let member = inDocument(name) {
                EventMember.Name.member(named: $0, among: EventMember.ofEvents, in: $1.bytes)
            }
            #expect(member?.path == (known.contains(name) ? name : nil), "\(name)")
        }
        // Of all lengths, each with one byte changed.
        let texts = (0...40).flatMap { length in
            (0...length).map {
                String(repeating: "a", count: $0) + "b" + String(repeating: "a", count: length - $0)
            }
        }
        #expect(
            Set(texts.map { inDocument($0) { $0.hash(in: $1.bytes) } }).count == Set(texts).count
        )
        for text in texts {
            let hash = inDocument(#"\u0061"# + text, isEscaped: true) { $0.hash(in: $1.bytes) }
            #expect(hash == inDocument("a" + text) { $0.hash(in: $1.bytes) }, "\(text)")
        }
    }

    /// Calls a closure with a text and a scanner of the document, which is that text.
    private func inDocument<Result>(
        _ text: String, isEscaped: Bool = false, _ body: (JSONText, JSONScanner) -> Result
    ) -> Result {
        Array(text.utf8).withScanner {
            body(JSONText(range: 0..<text.utf8.count, isEscaped: isEscaped, isASCII: true), $0)
        }
    }

    @Test("A UUID is read as Foundation reads it, and with any other byte anywhere it is none")
    func uuids() throws {
        var random = SeededGenerator()
        for _ in 0..<50 {
            let uuid = UUID()
            let text = Bool.random(using: &random) ? uuid.uuidString : uuid.uuidString.lowercased()
            #expect(self.uuid(Array(text.utf8)) == uuid)
        }
        let text = Array("01234567-89ab-CDEF-abcd-ef0123456789".utf8)
        for place in text.indices {
            for byte in UInt8.min ... .max {
                var changed = text
                changed[place] = byte
                let isValid = [8, 13, 18, 23].contains(place) ? byte == 0x2D : isHexadecimal(byte)
                #expect((uuid(changed) != nil) == isValid, "\(byte) at \(place)")
            }
        }
        #expect(uuid(Array(text.dropLast())) == nil)
        #expect(uuid(text + [0x30]) == nil)
    }

    private func uuid(_ text: [UInt8]) -> UUID? {
        text.withScanner {
            UUID(JSONText(range: 0..<text.count, isEscaped: false, isASCII: true), in: $0.bytes)
        }
    }

    private func isHexadecimal(_ byte: UInt8) -> Bool { "0123456789abcdefABCDEF".utf8.contains(byte) }
}
