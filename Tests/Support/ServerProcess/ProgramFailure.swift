/// A program that did not do what a test waited for, with all that it wrote.
public struct ProgramFailure: Error, CustomStringConvertible {
    let reason: String
    let output: String

    /// The reason, and the output.
    public var description: String { "the program \(reason); it wrote:\n\(output)" }
}
