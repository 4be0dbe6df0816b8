import Foundation
import MockService
import Program
import Telemetry

Terminal.prepare()
exit(
    MockCommand(environment: ProcessInfo.processInfo.environment)
        .run(Array(CommandLine.arguments.dropFirst())))

private struct MockCommand {
    let environment: [String: String]

    private static let switches: Set<String> = [
        "--help", "--version", "--print-config", "--until-stdin-closes",
    ]

    private static let usage = """
        Serves what `poi serve` does, from fixtures instead of a database, for an app's UI tests.

          poi-mock [--fixtures FILE] [--scenario SCENARIO] [--port PORT] [--until-stdin-closes] [SETTINGS]

        FILE has places as a response to GET /locations, or as GeoJSON; the default is the seed.
        SCENARIO is what happens to all requests until a session changes it for itself:
          normal   nothing is wrong (the default)
          slow     each response comes 3 s late
          flaky    of three requests the third gets a 503
          offline  each request is reset, without a response
          empty    there are no places
        Once it listens, it prints one line, {"port":…,"url":"…"}. Its log goes to standard error.
        SIGTERM ends it; with --until-stdin-closes, so does the end of its standard input.
        Settings are variables or options, as for `poi serve`; --print-config shows them. --version shows the version.
        Other users of this machine can read options while it runs: give keys in variables, or in files
        (--api-keys-file, --events-keys-file, --events-hash-key-file).
        """

    /// Returns the exit code, see `ProgramExit`.
    func run(_ arguments: [String]) -> Int32 {
        ProgramExit.code(of: "poi-mock") {
            let line = try CommandLineArguments(arguments, switches: Self.switches)
            guard !line.switches.contains("--help") else {
                try Terminal.print(Self.usage)
                return 0
            }
            guard !line.switches.contains("--version") else {
                try Terminal.print("poi-mock \(BuildInformation.version)")
                return 0
            }
            let invocation = Invocation(line: line, environment: environment)
            try invocation.refuseWords(after: 0)
            try SettingName.refuseMisspelt(in: environment)
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
            format: configuration.service.logFormat, logsAccess: configuration.service.logsAccess)
        defer { observability.finish() }
        try MockServer(
            configuration: configuration, observability: observability, endsWithStandardInput: untilInputEnds
        ).run { Terminal.tell($0.json) }
    }
}
