import Foundation

exit(
    MockCommand(environment: ProcessInfo.processInfo.environment)
        .run(Array(CommandLine.arguments.dropFirst())))
