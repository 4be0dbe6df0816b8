@testable import Migrator

/// SQL, as the scanner of statements reads it, and as a migration's file.
///
/// What is before it as a statement or a comment of its own, or around it as a quote, changes nothing but what it adds. A
/// file that is accepted has sections that the migrator can run, and is read as the same when it is written anew.
func fuzzMigrations(_ input: [UInt8]) {
    let text = input.text
    let statements = SQLStatementScanner(text).statements
    require(
        statements.count <= text.utf8.count { $0 == UInt8(ascii: ";") } + 1,
        "too many statements: \(statements)")
    for comment in ["-- ; ' $$\n", "/* ; ' /* \" */ ; */", " \t\r\n", ";;"] {
        let again = SQLStatementScanner(comment + text).statements
        require(again == statements, "\(statements), but behind \(comment): \(again)")
    }
    for statement in [
        "COMMIT;", "SELECT 'it''s;', E'\\';', $q$;$q$, \"a;\";", "CREATE FUNCTION f() BEGIN ATOMIC ; END;",
    ] {
        let again = Array(SQLStatementScanner(statement + text).statements.dropFirst())
        require(again == statements, "\(statements), but behind \(statement): \(again)")
    }
    for quoted in [
        // With a text that ends in "$poi", the closing quote begins earlier.
        "\(text)$poi".contains("$poi$") ? "''" : "$poi$\(text)$poi$", "'\(text.putting("'", before: "'"))'",
        "\"\(text.putting("\"", before: "\""))\"",
        "e'\(text.putting("\\", before: "\\", "'"))'",
    ] {
        let again = SQLStatementScanner("DO \(quoted); COMMIT").statements
        require(again == [["DO"], ["COMMIT"]], "in \(quoted): \(again)")
    }
    checkFile(input)
    checkFile(Array("-- migrate:up\n\(text)\n-- migrate:down\n".utf8))
}

extension String {
    /// The text with a sign before each of some signs. Not by characters: one that combines with the next isn't found.
    fileprivate func putting(_ sign: Unicode.Scalar, before signs: Unicode.Scalar...) -> String {
        String(String.UnicodeScalarView(unicodeScalars.flatMap { signs.contains($0) ? [sign, $0] : [$0] }))
    }
}

private func checkFile(_ bytes: [UInt8]) {
    let file: MigrationFile
    do throws(MigrationError) {
        file = try MigrationFile(fileName: "0001_fuzz_it.sql", kind: .schema, bytes: bytes)
    } catch {
        guard case .malformedFile("0001_fuzz_it.sql", let line, let problem) = error else {
            fatalError("another error: \(error)")
        }
        let lineCount = bytes.count { $0 == UInt8(ascii: "\n") } + 1
        return require((1...lineCount).contains(line) && !problem.isEmpty, "no line has it: \(error)")
    }
    let lines = bytes.text.unicodeScalars.split(separator: "\n", omittingEmptySubsequences: false)
    for section in [file.up, file.down] {
        let start = section.firstLine - 1
        let count = section.sql.unicodeScalars.count { $0 == "\n" } + 1
        let isThere =
            start + count <= lines.count
            && section.sql.unicodeScalars.elementsEqual(
                lines[start..<start + count].joined(separator: "\n".unicodeScalars))
        require(isThere || section.sql.isEmpty, "not at line \(section.firstLine): \(section)")
        let statements = SQLStatementScanner(section.sql).statements
        require(section.isEmpty == statements.isEmpty, "not empty: \(section)")
        if section.isTransactional {
            let ends: [String?] = ["BEGIN", "COMMIT", "END", "ABORT", "START"]
            require(!statements.contains { ends.contains($0.first) }, "it ends the transaction: \(section)")
        } else {
            require(statements.count <= 1, "not one statement: \(section)")
        }
    }
    let again = try? MigrationFile(
        fileName: "0001_fuzz_it.sql", kind: .schema, bytes: Array(write(file).utf8))
    require(
        again?.up.sql == file.up.sql && again?.down.sql == file.down.sql,
        "\(file) is written as \(write(file)), and read as \(String(describing: again))")
}

private func write(_ file: MigrationFile) -> String {
    func marker(_ direction: String, _ section: MigrationFile.Section) -> String {
        "-- migrate:\(direction) transaction:\(section.isTransactional)\n\(section.sql)"
    }
    return marker("up", file.up) + "\n" + marker("down", file.down)
}
