import Foundation
import POIService

Terminal.prepare()
exit(
    CommandLineTool(environment: ProcessInfo.processInfo.environment)
        .run(Array(CommandLine.arguments.dropFirst())))
