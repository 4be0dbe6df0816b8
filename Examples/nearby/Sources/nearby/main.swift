import Foundation
import NearbyKit
import PointsOfInterestClient

/// Writes a line at once, on a pipe too.
@Sendable func write(_ line: String, to file: FileHandle = .standardOutput) {
    file.write(Data((line + "\n").utf8))
}

do {
    guard let localhost = URL(string: "http://127.0.0.1:8080") else { fatalError("no URL") }
    let command = try Command(arguments: Array(CommandLine.arguments.dropFirst()))
    let environment = AppEnvironment(
        configuration: try AppConfiguration(defaultBaseURL: localhost),
        locationFetcher: GivenLocation(command.position),
        eventQueue: EventsFolder.queue(command.eventsFolder))
    let program = Nearby(environment: environment, request: command.request) { write($0) }
    Task {
        let outcome = await program.run(command.action)
        // What can't be sent now is sent the next time.
        _ = await environment.eventUploader?.flush()
        exit(outcome.rawValue)
    }
    // Timers fire on it, and the main actor's tasks run on it.
    RunLoop.main.run()
} catch let error as Command.UsageError {
    write(error.message + "\n" + Command.usage, to: .standardError)
    exit(64)
} catch {
    write(error.localizedDescription, to: .standardError)
    exit(64)
}
