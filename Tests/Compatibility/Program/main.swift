// Runs the scenarios of this release's client: `record FOLDER` and `check FOLDER` against the server at
// POI_BASE_URL, `replay FOLDER` against the recorded responses. Exits with 1 where one fails.

import Foundation

let arguments = CommandLine.arguments
guard arguments.count == 3, let mode = Mode(rawValue: arguments[1]) else {
    print("usage: \(arguments[0]) record|check|replay FOLDER")
    exit(64)
}
exit(await Run(mode: mode, folder: URL(filePath: arguments[2], directoryHint: .isDirectory)).exitCode())
