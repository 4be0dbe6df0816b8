import Bytes
import POIService
import PointsOfInterestServerAPI
import Program

/// `poi editor-key NAME`: makes a key. Its hash, which the server's file has, is written to standard output, and the key itself to
/// the terminal: nobody can find it again.
enum EditorKeyCommand {
    static func run(_ invocation: Invocation) throws {
        let name = invocation.line.words.dropFirst().joined(separator: " ")
        guard TableCheck.isSingleLine(name, maximumLength: 100) else {
            throw ConfigurationError(
                "expected the editor's name, a line of at most 100 characters: poi editor-key NAME")
        }
        try invocation.settings.refuseUnknownFlags()
        let key = AccessKey()
        Terminal.printError("editor's key of \(name), shown once: \(key.text)")
        try Terminal.print("\(name) \(key.digest.hexadecimal)")
    }
}
