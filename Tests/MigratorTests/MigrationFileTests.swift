import Hashing
import Testing

@testable import Migrator

@Suite("A migration's file")
struct MigrationFileTests {
    private func parse(_ text: String, name: String = "0001_create_places.sql") throws -> MigrationFile {
        try MigrationFile(fileName: name, kind: .schema, bytes: Array(text.utf8))
    }

    /// The message of the error that a text causes.
    private func problem(_ text: String) -> String? {
        let error = #expect(throws: MigrationError.self) { try parse(text) }
        return error?.description
    }

    @Test("A migration's file has a version, a name, two sections and a checksum")
    func parts() throws {
        let text = "-- migrate:up\nCREATE TABLE a ();\n\n-- migrate:down\nDROP TABLE a;\n"
        let file = try parse(text)
        #expect(file.version == "0001")
        #expect(file.name == "0001_create_places")
        #expect(file.up.sql == "CREATE TABLE a ();\n")
        #expect(file.up.firstLine == 2)
        #expect(file.down.sql == "DROP TABLE a;\n")
        #expect(file.down.firstLine == 5)
        #expect(file.up.isTransactional && file.down.isTransactional)
        #expect(file.checksum == SHA256.hexDigest(of: Array(text.utf8)))
    }

    @Test("Comments before the first marker, spaces around it and Windows line ends are fine")
    func leniency() throws {
        let file = try parse(
            "-- why\r\n\r\n--migrate:up  \r\nSELECT 1;\r\n--  migrate:down\t\r\n-- nothing\r\n")
        #expect(file.up.sql == "SELECT 1;\r")
        #expect(file.down.isEmpty)
    }

    @Test("transaction:false belongs to its section alone")
    func transactionFalse() throws {
        let text =
            "-- migrate:up transaction:false\nCREATE INDEX CONCURRENTLY i ON a (b);\n-- migrate:down\nDROP INDEX i;"
        let file = try parse(text)
        #expect(!file.up.isTransactional)
        #expect(file.down.isTransactional)
    }

    @Test("A marker counts only at the beginning of a line")
    func markerInText() throws {
        let file = try parse("-- migrate:up\nSELECT '-- migrate:down';\n-- migrate:down\nSELECT 2;")
        #expect(file.up.sql == "SELECT '-- migrate:down';")
    }

    @Test(
        "A broken file is refused, with the line and the reason",
        arguments: [
            ("", "1: does not begin with `-- migrate:up`"),
            ("SELECT 1;", "1: does not begin with `-- migrate:up`"),
            ("-- migrate:down\n-- migrate:up\nSELECT 1;", "1: does not begin with `-- migrate:up`"),
            ("-- migrate:up\nSELECT 1;\n", "3: has no `-- migrate:down` after its up part"),
            (
                "-- migrate:up\nSELECT 1;\n-- migrate:up\nSELECT 2;",
                "4: has no `-- migrate:down` after its up part"
            ),
            (
                "-- migrate:up\nSELECT 1;\n-- migrate:down\n-- migrate:down\n",
                "4: has a third `-- migrate:` marker"
            ),
            (
                "SELECT 0;\n-- migrate:up\nSELECT 1;\n-- migrate:down\n",
                "1: has statements before `-- migrate:up`"
            ),
            ("-- migrate:up\n-- nothing\n-- migrate:down\n", "1: has nothing to apply"),
            (
                "-- migrate:up\nSELECT 1;\n-- migrate:sideways\n",
                "3: has an unknown marker `migrate:sideways`"
            ),
            ("-- migrate:up transaction:no\n", "1: has an unknown option `transaction:no`"),
            ("-- migrate:up\nSELECT '\0';\n-- migrate:down\n", "1: is not UTF-8 text"),
        ])
    func broken(text: String, message: String) {
        #expect(problem(text) == "0001_create_places.sql:" + message)
    }

    @Test("Bytes that are not UTF-8 are refused")
    func notUTF8() {
        #expect(throws: MigrationError.malformedFile("0001_a.sql", line: 1, "is not UTF-8 text")) {
            try MigrationFile(fileName: "0001_a.sql", kind: .schema, bytes: [0x2d, 0xff])
        }
    }

    @Test(
        "A name that isn't NNNN_verb_object.sql is refused",
        arguments: [
            "create.sql", "001_a.sql", "00001_a.sql", "0001.sql", "0001-create.sql", "0001_.sql",
            "0001_Create.sql", "0001_a.txt",
            "٠٠٠١_create.sql", "_0001_a.sql", "0001_a b.sql", "0001_/../a.sql",
        ])
    func names(name: String) {
        #expect(throws: MigrationError.malformedName(name)) {
            try parse("-- migrate:up\nSELECT 1;\n-- migrate:down\n", name: name)
        }
    }
}
