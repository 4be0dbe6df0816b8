@testable import Migrator

/// A migration's file: one that is accepted has its sections where it says, and is read as the same when it is written anew.
func fuzzMigrations(_ input: [UInt8]) {
    checkFile(input)
    checkFile(Array("-- migrate:up\n\(input.text)\n-- migrate:down\n".utf8))
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
    }
    let again = try? MigrationFile(
        fileName: "0001_fuzz_it.sql", kind: .schema, bytes: Array(write(file).utf8))
    require(
        again?.up.sql == file.up.sql && again?.down.sql == file.down.sql,
        "\(file) is written as \(write(file)), and read as \(String(describing: again))")
}

private func write(_ file: MigrationFile) -> String {
    func marker(_ direction: String, _ section: MigrationFile.Section) -> String {
        "-- migrate:\(direction)\(section.isTransactional ? "" : " transaction:false")\n\(section.sql)"
    }
    return marker("up", file.up) + "\n" + marker("down", file.down)
}
