import Foundation
import MockService
import POIService

Terminal.prepare()
exit(
    MockCommand(environment: ProcessInfo.processInfo.environment)
        .run(Array(CommandLine.arguments.dropFirst())))

/// `poi-mock`: the service over fixtures, for an app's UI tests.
struct MockCommand {
    let environment: [String: String]

    private static let switches: Set<String> = ["--help", "--print-config", "--until-stdin-closes"]

    private static let usage = """
        The service of `poi serve` without a database, for an app's UI tests: it answers with fixtures.

          poi-mock [--fixtures FILE] [--port PORT] [--until-stdin-closes] [SETTINGS]

        FILE is an array of places as GET /locations answers it, or GeoJSON; without it, the seed.
        Once it listens, it prints {"port":…,"url":"…"}, one line; its log goes to standard error.
        With --until-stdin-closes it ends when its standard input does, else by SIGTERM.
        Settings are variables or options, as those of `poi serve`; --print-config shows them.
        """

    /// Runs until it is told to end; answers the exit code, see `ProgramExit`.
    func run(_ arguments: [String]) -> Int32 {
        ProgramExit.code(of: "poi-mock") {
            let line = try CommandLineArguments(arguments, switches: Self.switches)
            guard !line.switches.contains("--help") else {
                try Terminal.print(Self.usage)
                return 0
            }
            let invocation = Invocation(line: line, environment: environment)
            try invocation.refuseWords(after: 0)
            try KnownVariables.refuseMisspelt(in: environment)
            let configuration = try MockConfiguration(invocation)
            if line.switches.contains("--print-config") {
                try Terminal.print(configuration.summary)
            } else {
                try serve(configuration, untilInputEnds: line.switches.contains("--until-stdin-closes"))
            }
            return 0
        }
    }

    private func serve(_ configuration: MockConfiguration, untilInputEnds: Bool) throws {
        let observability = try Observability(
            format: configuration.service.logFormat, logsAccess: configuration.service.logsAccess,
            client: configuration.service.logClient)
        defer { observability.finish() }
        try MockServer(
            configuration: configuration, observability: observability, endsWithStandardInput: untilInputEnds
        ).run { Terminal.tell($0.json) }
    }
}
