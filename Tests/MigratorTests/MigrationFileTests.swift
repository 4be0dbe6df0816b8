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
        "A file that ends its transaction itself is refused, since its record would not commit with it",
        arguments: [
            "BEGIN", "COMMIT", "end", "ROLLBACK", "START TRANSACTION", "ABORT", "PREPARE TRANSACTION 'a'",
            "commit and chain",
        ])
    func transactionControl(statement: String) {
        let message = problem("-- migrate:up\nSELECT 1;\n\(statement);\n-- migrate:down\n")
        #expect(message?.contains("controls the transaction itself") == true)
    }

    @Test(
        "A statement that only looks like transaction control is accepted",
        arguments: [
            "SAVEPOINT s; ROLLBACK TO SAVEPOINT s; RELEASE s", "DO $$ BEGIN NULL; END $$",
            "CREATE FUNCTION f() RETURNS int BEGIN ATOMIC SELECT 1; END", "SELECT 'COMMIT'",
            "PREPARE p AS SELECT 1",
        ])
    func harmless(statement: String) throws {
        #expect(throws: Never.self) { try parse("-- migrate:up\n\(statement);\n-- migrate:down\n") }
    }

    @Test("A transaction:false section with several statements is refused")
    func severalWithoutTransaction() {
        let message = problem("-- migrate:up transaction:false\nSELECT 1;\nSELECT 2;\n-- migrate:down\n")
        #expect(message?.contains("has 2 statements under transaction:false") == true)
    }

    @Test(
        "A name that isn't NNNN_verb_object.sql is refused",
        arguments: [
            "create.sql", "0001.sql", "0001-create.sql", "0001_.sql", "0001_Create.sql", "0001_a.txt",
            "٠٠٠١_create.sql", "_0001_a.sql", "0001_a b.sql", "0001_/../a.sql",
        ])
    func names(name: String) {
        #expect(throws: MigrationError.malformedName(name)) {
            try parse("-- migrate:up\nSELECT 1;\n-- migrate:down\n", name: name)
        }
    }
}

@Suite("Statements in a text of SQL")
struct SQLStatementScannerTests {
    @Test(
        "Semicolons end statements, unless something hides them",
        arguments: [
            ("", 0), ("  \n\t", 0), (";;", 0), ("-- a; b", 0), ("/* a; /* nested; */ b; */", 0),
            ("SELECT 1", 1), ("SELECT 1; -- done", 1), ("SELECT 1; SELECT 2", 2),
            ("SELECT 1 - 1; SELECT 2 / 1", 2),
            ("SELECT 'a;b', 'it''s;'; SELECT 2", 2), (#"SELECT E'a\';b'"#, 1), (#"SELECT 'a\'; SELECT 2"#, 2),
            (#"SELECT 1 AS "a;b""#, 1), ("DO $$ BEGIN; END $$", 1), ("DO $a$ $b$ ; $$ ; $a$; SELECT 2", 2),
            ("SELECT $1; SELECT $2", 2), ("SELECT a$b$c; SELECT $d$;$d$", 2),
            ("CREATE RULE r AS ON INSERT TO t DO (SELECT 1; SELECT 2)", 1),
            (
                "CREATE FUNCTION f() RETURNS int BEGIN ATOMIC SELECT 1; SELECT CASE WHEN true THEN 1 END; END; SELECT 2",
                2
            ),
            ("CREATE OR REPLACE PROCEDURE p() BEGIN ATOMIC SELECT 1; END", 1),
            ("SELECT 'open; forever", 1), ("DO $$ open; forever", 1), ("/* open; forever", 0),
            ("SELECT E'\\", 1),
            ("$", 1), ("SELECT '€;'; SELECT \"Größe\"", 2),
        ])
    func counts(sql: String, count: Int) {
        #expect(SQLStatementScanner(sql).statements.count == count)
    }

    @Test("A statement's first words are in upper case")
    func words() {
        let statements = SQLStatementScanner("create /* a */ Table places (id int); commit").statements
        #expect(statements == [["CREATE", "TABLE", "PLACES", "ID"], ["COMMIT"]])
    }
}
