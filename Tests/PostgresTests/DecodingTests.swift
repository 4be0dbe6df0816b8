import Randomness
import Testing

@testable import Postgres

@Suite("Decoding bytes that a server should not send")
struct DecodingTests {
    private func decode<Value: PostgresDecodable>(
        _: Value.Type, _ bytes: [UInt8]?, _ type: PostgresType
    ) -> PostgresError.DecodingFailure? {
        func failure(_ buffer: UnsafeRawBufferPointer?) -> PostgresError.DecodingFailure? {
            do throws(PostgresError) {
                _ = try Value.decode(PostgresCell(bytes: buffer, type: type, column: 3))
                return nil
            } catch {
                guard case .decoding(let failure) = error.code else { return nil }
                return failure
            }
        }
        guard let bytes else { return failure(nil) }
        return bytes.withUnsafeBytes { failure($0) }
    }

    @Test("A null is an error, unless an optional is asked for")
    func nulls() {
        #expect(decode(Int.self, nil, .int8) == .null(column: 3))
        #expect(decode(String.self, nil, .text) == .null(column: 3))
        #expect(decode(Int?.self, nil, .int8) == nil)
    }

    @Test("A value of another type is an error, even if it is empty")
    func wrongTypes() {
        #expect(decode(Int.self, [1], .bool) == .wrongType(column: 3, .bool))
        #expect(decode(Bool.self, [0, 0], .int2) == .wrongType(column: 3, .int2))
        #expect(decode(String.self, [], .uuid) == .wrongType(column: 3, .uuid))
        #expect(
            decode(Float.self, [UInt8](repeating: 0, count: 8), .float8) == .wrongType(column: 3, .float8))
        #expect(decode(PostgresUUID.self, [], .text) == .wrongType(column: 3, .text))
    }

    @Test("A value with a wrong length is an error")
    func wrongLengths() {
        #expect(decode(Int.self, [1, 2, 3], .int8) == .malformed(column: 3))
        #expect(decode(Int.self, [], .int4) == .malformed(column: 3))
        #expect(decode(Bool.self, [], .bool) == .malformed(column: 3))
        #expect(decode(Double.self, [1], .float8) == .malformed(column: 3))
        #expect(decode(PostgresUUID.self, [1], .uuid) == .malformed(column: 3))
        #expect(decode(PostgresTimestamp.self, [1], .timestamptz) == .malformed(column: 3))
    }

    @Test("A value out of the asked type's range is an error")
    func outOfRange() {
        #expect(decode(Int16.self, [0, 1, 0, 0], .int4) == .outOfRange(column: 3))
        #expect(decode(Int32.self, [0x80, 0, 0, 0, 0, 0, 0, 0], .int8) == .outOfRange(column: 3))
        #expect(decode(Int16.self, [0, 0, 0x7F, 0xFF], .int4) == nil)
    }

    @Test(
        "Text that isn't UTF-8 is an error",
        arguments: [[0xFF], [0xC0, 0x80], [0xED, 0xA0, 0x80], [0xE2, 0x82]] as [[UInt8]])
    func brokenText(bytes: [UInt8]) {
        #expect(decode(String.self, bytes, .text) == .malformed(column: 3))
    }

    @Test("An array cut off anywhere, or with a false count, is an error")
    func brokenArrays() {
        var whole: [UInt8] = []
        PostgresValue.textArray(["a", "", "xyz"]).appendBinary(to: &whole)
        #expect(decode([String].self, whole, .textArray) == nil)
        for length in 0..<whole.count {
            #expect(decode([String].self, Array(whole.prefix(length)), .textArray) == .malformed(column: 3))
        }
        var hugeCount = whole
        hugeCount.replaceSubrange(12..<16, with: [0x7F, 0xFF, 0xFF, 0xFF])
        #expect(decode([String].self, hugeCount, .textArray) == .malformed(column: 3))
        var twoDimensions = whole
        twoDimensions[3] = 2
        #expect(decode([String].self, twoDimensions, .textArray) == .malformed(column: 3))
    }

    @Test("Random bytes never trap")
    func randomBytes() {
        let seed = UInt64.random(in: 0 ... .max)
        print("DecodingTests seed: \(seed)")
        var generator = SeededGenerator(seed: seed)
        let types: [PostgresType] = [.bool, .int2, .int4, .int8, .float8, .text, .uuid, .timestamptz]
        for _ in 0..<20_000 {
            let length = Int.random(in: 0..<40, using: &generator)
            let bytes = (0..<length).map { _ in UInt8.random(in: 0...3, using: &generator) }
            let type = types[Int.random(in: 0..<types.count, using: &generator)]
            _ = decode(Int16.self, bytes, type)
            _ = decode(String.self, bytes, type)
            _ = decode([Int?].self, bytes, type)
            _ = decode([String].self, bytes, type)
            _ = decode(PostgresUUID.self, bytes, type)
        }
    }

    @Test("Times convert to Unix time and back, and those out of range become nil")
    func timestamps() {
        #expect(PostgresTimestamp(microsecondsSince1970: 0)?.microsecondsSince2000 == -946_684_800_000_000)
        #expect(PostgresTimestamp(microsecondsSince2000: 0).microsecondsSince1970 == 946_684_800_000_000)
        #expect(PostgresTimestamp(microsecondsSince1970: .min) == nil)
        #expect(PostgresTimestamp.infinity.microsecondsSince1970 == nil)
        #expect(PostgresTimestamp(microsecondsSince2000: .max - 1).microsecondsSince1970 == nil)
    }

    @Test("A UUID is written in its usual form")
    func uuids() {
        let uuid = PostgresUUID(high: 0x0123_4567_89AB_CDEF, low: 0x0000_0000_0000_00FF)
        #expect("\(uuid)" == "01234567-89ab-cdef-0000-0000000000ff")
    }

    @Test("An error's description holds neither data nor the server's words")
    func blandDescription() {
        let error = PostgresError(
            .connectionFailed, clientMessage: "password authentication failed for \"u\"")
        #expect("\(error)" == "PostgreSQL: connectionFailed")
    }
}

@Suite("SQL text")
struct SQLTests {
    @Test("Pieces of SQL are joined without anything in between")
    func joining() {
        let limit: SQL = "SELECT 1 LIMIT " + SQL(integer: 25)
        #expect(limit.text == "SELECT 1 LIMIT 25")
    }

    @Test("A negative integer cannot turn into a comment")
    func negativeInteger() {
        #expect(("SELECT 1 -" + SQL(integer: -1)).text == "SELECT 1 -(-1)")
    }

    @Test(
        "Identifiers are quoted whatever they hold",
        arguments: [("plain", "\"plain\""), ("a\"b", "\"a\"\"b\""), ("x\0y; --", "\"xy; --\"")])
    func identifiers(name: String, quoted: String) {
        #expect(SQL(identifier: name).text == quoted)
    }

    @Test("Two prepared statements with the same text are different statements")
    func preparedStatements() {
        let first = PreparedStatement("SELECT 1")
        #expect(first == first && first != PreparedStatement("SELECT 1"))
    }
}
