/// The program, but for its process.
enum GeneratorProgram {
    /// Does what the arguments say and answers the exit code: 0; 1 where `--check` finds a file out of date, or where
    /// standard output can't be written; 64 (EX_USAGE, sysexits.h) where an argument or a definition is at fault, which
    /// is told on one line.
    ///
    /// - Parameter say: writes a line; answers the system's reason where it can't.
    static func run(_ arguments: [String], say: (_ line: String, _ isError: Bool) -> String?) -> Int32 {
        do {
            guard let options = try GeneratorOptions(arguments) else {
                guard let reason = say(GeneratorOptions.help, false) else { return 0 }
                _ = say("generate-events: standard output: \(reason)", true)
                return 1
            }
            let outdated = try Generation(options).run()
            for file in outdated {
                _ = say("generate-events: \(file) is not what \(options.definitions) makes", true)
            }
            return outdated.isEmpty ? 0 : 1
        } catch {
            _ = say("generate-events: \(error)", true)
            return 64
        }
    }
}
