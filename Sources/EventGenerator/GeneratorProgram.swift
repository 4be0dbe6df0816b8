/// The program, but for its process.
enum GeneratorProgram {
    /// Does what the arguments say and answers the exit code: 0; 1 where `--check` finds a file out of date; 64
    /// (EX_USAGE, sysexits.h) where an argument or a definition is at fault, which is told on one line.
    static func run(_ arguments: [String], say: (_ line: String, _ isError: Bool) -> Void) -> Int32 {
        do {
            guard let options = try GeneratorOptions(arguments) else {
                say(GeneratorOptions.help, false)
                return 0
            }
            let outdated = try Generation(options).run()
            for file in outdated {
                say("generate-events: \(file) is not what \(options.definitions) makes", true)
            }
            return outdated.isEmpty ? 0 : 1
        } catch {
            say("generate-events: \(error)", true)
            return 64
        }
    }
}
