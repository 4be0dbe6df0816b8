import Postgres
import PrivateCluster
import Randomness
import Testing

@Suite("Values on their way to the server and back", .timeLimit(.minutes(2)))
struct RoundTripTests {
    private static let database = Result { try TestDatabase() }

    @Test("A value of any kind comes back as it was sent, extremes included")
    func extremes() async throws {
        try await withConnection(Self.database.get()) { connection in
            func roundTrip<Value: PostgresDecodable & Equatable>(
                _ value: PostgresValue, _ expected: Value, _ location: SourceLocation = #_sourceLocation
            ) async throws {
                let row = try await connection.query(PostgresQuery("SELECT $1", [value])).only()
                #expect(try row.decode(Value.self, at: 0) == expected, sourceLocation: location)
            }
            for value in [true, false] { try await roundTrip(.bool(value), value) }
            for value in [Int16.min, -1, 0, 1, .max] { try await roundTrip(.int2(value), value) }
            for value in [Int32.min, -1, 0, 1, .max] { try await roundTrip(.int4(value), value) }
            for value in [Int64.min, -1, 0, 1, .max] { try await roundTrip(.int8(value), value) }
            let doubles: [Double] = [
                0, -1.5, .infinity, -.infinity, .greatestFiniteMagnitude, .leastNonzeroMagnitude, 0.1,
            ]
            for value in doubles { try await roundTrip(.float8(value), value) }
            let texts = ["", " ", "a", "\u{1F30D} José", "e\u{301}", String(repeating: "ü", count: 500_000)]
            for value in texts { try await roundTrip(.text(value), value) }
            try await roundTrip(.uuid(PostgresUUID(high: 1, low: .max)), PostgresUUID(high: 1, low: .max))
            let times: [PostgresTimestamp] = [
                .infinity, .minusInfinity, PostgresTimestamp(microsecondsSince2000: -1),
            ]
            for value in times { try await roundTrip(.timestamptz(value), value) }
            try await roundTrip(.textArray([]), [String]())
            try await roundTrip(.textArray(["", "a,b", "\"{}\""]), ["", "a,b", "\"{}\""])
            try await roundTrip(.int8Array([.min, 0, .max]), [Int64.min, 0, .max])
            try await roundTrip(.float8Array([-0.0, .infinity]), [-0.0, Double.infinity])
            try await roundTrip(.boolArray([true, false]), [true, false])
            let ids = [PostgresUUID(high: 1, low: .max), PostgresUUID(high: 0, low: 0)]
            try await roundTrip(.uuidArray(ids), ids)
            try await roundTrip(.timestamptzArray(times), times)
        }
    }

    @Test("NaN stays NaN, and minus zero keeps its sign")
    func specialDoubles() async throws {
        try await withConnection(Self.database.get()) { connection in
            let query = PostgresQuery(
                "SELECT $1, $2, $3::real", [.float8(.nan), .float8(-0.0), .float8(0.5)])
            let row = try await connection.query(query).only()
            #expect(try row.decode(Double.self, at: 0).isNaN)
            #expect(try row.decode(Double.self, at: 1).sign == .minus)
            #expect(try row.decode(Float.self, at: 2) == 0.5)
            #expect(try row.decode(Double.self, at: 2) == 0.5)
        }
    }

    @Test("The server understands the values as their types, not only their bytes")
    func meaning() async throws {
        try await withConnection(Self.database.get()) { connection in
            let query = PostgresQuery(
                "SELECT concat_ws('|', $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)",
                [
                    .bool(true), .int2(-2), .int4(4), .int8(8), .float8(1.5), .text("é"),
                    .uuid(PostgresUUID(high: 1, low: 2)), .textArray(["x", "y z"]), .int8Array([1, 2]),
                    .float8Array([0.5]), .null(.int4),
                ])
            let text = try await connection.query(query).only().decode(String.self, at: 0)
            #expect(
                text
                    == "t|-2|4|8|1.5|é|00000000-0000-0001-0000-000000000002|{x,\"y z\"}|{1,2}|{0.5}")
            let json = PostgresQuery(
                "SELECT string_agg(value::text, '|' ORDER BY number) FROM unnest($1) WITH ORDINALITY AS element (value, number)",
                [.jsonbArray([Array(#"{"b": "ü", "a":[1]}"#.utf8)[...], Array("null".utf8)[...]])])
            #expect(
                try await connection.query(json).only().decode(String.self, at: 0)
                    == #"{"a": [1], "b": "ü"}|null"#)
            let time = PostgresTimestamp(microsecondsSince1970: 1_700_000_000_123_456)
            let epoch = PostgresQuery(
                "SELECT (extract(epoch FROM $1) * 1000000)::bigint",
                [.timestamptz(try #require(time))])
            #expect(
                try await connection.query(epoch).only().decode(Int.self, at: 0) == 1_700_000_000_123_456)
        }
    }

    @Test("Nulls of each type, and nulls in arrays, come back as nil")
    func nulls() async throws {
        try await withConnection(Self.database.get()) { connection in
            let query = PostgresQuery(
                "SELECT $1, $2, ARRAY['a', NULL]", [.null(.text), .null(.float8)])
            let row = try await connection.query(query).only()
            #expect(try row.decode(String?.self, at: 0) == nil)
            #expect(try row.decode(Double?.self, at: 1) == nil)
            #expect(try row.decode([String?].self, at: 2) == ["a", nil])
            #expect(await code { try row.decode([String].self, at: 2) } == .decoding(.null(column: 2)))
            #expect(await code { try row.decode(Int.self, at: 3) } == .decoding(.noColumn(3)))
            #expect(await code { try row.decode(Int.self, at: -1) } == .decoding(.noColumn(-1)))
        }
    }

    @Test("Random values come back as they were")
    func randomValues() async throws {
        let seed = UInt64.random(in: 0 ... .max)
        print("RoundTripTests seed: \(seed)")
        try await withConnection(Self.database.get()) { connection in
            let statement = PreparedStatement(
                "SELECT $1, $2, $3, $4", parameters: [.text, .int8, .float8, .textArray])
            var generator = SeededGenerator(seed: seed)
            func text() -> String {
                var text = ""
                for _ in 0..<Int.random(in: 0..<40, using: &generator) {
                    // Any scalar but U+0000, which PostgreSQL has no room for.
                    let value = UInt32.random(in: 1...0x10FFFF, using: &generator)
                    if let scalar = Unicode.Scalar(value) { text.unicodeScalars.append(scalar) }
                }
                return text
            }
            for _ in 0..<300 {
                let (string, texts) = (text(), [text(), text()])
                let integer = Int64.random(in: .min ... .max, using: &generator)
                let double = Double(bitPattern: generator.next())
                let row = try await connection.query(
                    statement,
                    [.text(string), .int8(integer), .float8(double), .textArray(texts)]
                ).only()
                #expect(try row.decode(String.self, at: 0) == string)
                #expect(try row.decode(Int64.self, at: 1) == integer)
                let back = try row.decode(Double.self, at: 2)
                #expect(back == double || (back.isNaN && double.isNaN))
                #expect(try row.decode([String].self, at: 3) == texts)
            }
        }
    }

    @Test("The server refuses a text with a null byte, and the connection still works")
    func nullByte() async throws {
        try await withConnection(Self.database.get()) { connection in
            let error = await #expect(throws: PostgresError.self) {
                _ = try await connection.query(PostgresQuery("SELECT $1", [.text("a\0b")]))
            }
            #expect(error?.sqlState?.rawValue == "22021")
            try await expectAnswer(connection)
        }
    }
}
