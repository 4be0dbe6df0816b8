/// How a program ends: its exit code, and the line that says why.
package enum ProgramExit {
    /// Runs a program to its end; answers the exit code that it answers, else 64 for a bad call or setting and 1
    /// for any other failure.
    ///
    /// - Parameter name: what the line on standard error begins with.
    package static func code(of name: String, _ body: () throws -> Int32) -> Int32 {
        do {
            return try body()
        } catch let error as ConfigurationError {
            Terminal.printError("\(name): \(error)")
            return ConfigurationError.exitCode
        } catch {
            Terminal.printError("\(name): \(error)")
            return 1
        }
    }
}
