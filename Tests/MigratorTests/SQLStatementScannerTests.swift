import Testing

@testable import Migrator

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
