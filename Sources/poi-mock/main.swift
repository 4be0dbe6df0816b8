import Foundation
import POIService

Terminal.prepare()
exit(
    MockCommand(environment: ProcessInfo.processInfo.environment)
        .run(Array(CommandLine.arguments.dropFirst())))
