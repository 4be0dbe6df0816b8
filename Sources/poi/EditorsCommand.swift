import Bytes
import POIService
import PointsOfInterestServerAPI
import Program

/// `poi editors key NAME`: makes a key. Its hash, which the server's file has, is written to standard output, and the key itself to
/// the terminal: nobody can find it again.
enum EditorsCommand {
    static func run(_ invocation: Invocation) throws {
        let words = invocation.line.words.dropFirst()
        let name = words.dropFirst().joined(separator: " ")
        guard words.first == "key", TableCheck.isSingleLine(name, maximumLength: 100) else {
            throw ConfigurationError(
                "expected the editor's name, a line of at most 100 characters: poi editors key NAME")
        }
        try invocation.settings.refuseUnknownFlags()
        let key = AccessKey()
        Terminal.printError("editor's key of \(name), shown once: \(key.text)")
        try Terminal.print("\(name) \(key.digest.hexadecimal)")
    }
}
