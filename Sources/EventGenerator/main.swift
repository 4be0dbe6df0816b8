import Foundation
import PointsOfInterestAPI

do {
    guard let options = try GeneratorOptions(Array(CommandLine.arguments.dropFirst())) else {
        print(GeneratorOptions.help)
        exit(EXIT_SUCCESS)
    }
    let isCurrent = try Generation(options).run()
    exit(isCurrent ? EXIT_SUCCESS : EXIT_FAILURE)
} catch {
    FileHandle.standardError.write(Data("generate-events: \(error)\n".utf8))
    // EX_USAGE (sysexits.h): what was given is at fault.
    exit(64)
}
