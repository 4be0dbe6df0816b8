import Foundation
import PointsOfInterestClient

// Sends numbered events from a queue in a folder. It can be killed at any moment and started again with the same
// arguments; it goes on where it was. On standard output it says, a line each:
//
//   tracked N              events up to N are in the queue
//   acknowledged N N N…    the service has said that it has these
//   refused N N N…         the service refused these
//   empty                  the service has everything, and the program ends
//
// What fails on the way is told on standard error, a line each.

@Sendable func say(_ line: String, to file: FileHandle = .standardOutput) {
    file.write(Data((line + "\n").utf8))
}

@Sendable func tell(_ report: EventUploader.Report) {
    func numbers(_ ids: [UUID]) -> String {
        ids.map { String(NumberedEvents.number(of: $0)) }.joined(separator: " ")
    }
    switch report {
    case .acknowledged(let ids, _): say("acknowledged " + numbers(ids))
    case .refused(let ids, _): say("refused " + numbers(ids))
    case .split(let events): say("split: \(events)", to: .standardError)
    case .failed(let error): say("failed: \(error)", to: .standardError)
    case .unauthorized(let error): say("unauthorized: \(error)", to: .standardError)
    // It reports no mistakes.
    case .reportStored, .reportRefused: break
    }
}

do {
    let options = try SenderOptions(Array(CommandLine.arguments.dropFirst()))
    // The queue has room for everything: an event that is missing in the end must be missing for another reason.
    let queue = try EventQueue(
        directory: URL(fileURLWithPath: options.directory), maximumEvents: options.count + 1,
        maximumBytes: .max)
    let service = PointsOfInterestService(
        baseURL: options.baseURL,
        headers: { _ in options.key.map { ["Authorization": "Bearer \($0)"] } ?? [:] })
    let uploader = EventUploader(
        queue: queue, service: service,
        policy: EventUploader.Policy(
            batchEvents: options.batch, gathering: .zero, firstPause: .milliseconds(50),
            maximumPause: .milliseconds(500), maximumRetryAfter: .seconds(1)), report: tell)
    let uploading = Task { await uploader.run() }

    let events = NumberedEvents(user: options.user, time: options.time)
    let progress = try Progress(path: options.directory + "/tracked")
    while progress.tracked < options.count {
        queue.track(events.event(progress.tracked + 1))
        progress.note(progress.tracked + 1)
    }
    say("tracked \(options.count)")
    await queue.drained()
    uploading.cancel()
    say("empty")
} catch let error as SenderError {
    say("event-sender: \(error)\n\(SenderOptions.usage)", to: .standardError)
    exit(64)
} catch {
    say("event-sender: \(error)", to: .standardError)
    exit(74)
}
