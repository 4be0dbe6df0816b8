import Foundation

let status = GeneratorProgram.run(Array(CommandLine.arguments.dropFirst())) { line, isError in
    (isError ? FileHandle.standardError : .standardOutput).write(Data((line + "\n").utf8))
}
exit(status)
