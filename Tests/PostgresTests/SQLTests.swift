import Testing

@testable import Postgres

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
