/// The options of the command line.
struct GeneratorOptions {
    static let help = """
        Makes Swift types and a page of documentation from a folder of event definitions.

        usage: generate-events --definitions FOLDER [--swift FILE] [--catalog FILE] [--documentation FILE] [options]

          --definitions FOLDER    the folder whose *.json files define the events
          --swift FILE            the Swift file to write, for an app
          --catalog FILE          the Swift file with the definitions to write, for the service
          --documentation FILE    the Markdown page to write
          --type NAME             the name of the enum (TrackingEvent)
          --access LEVEL          its access level: public, package or internal (internal)
          --import MODULE         the module that the file imports (PointsOfInterestClient; none for nothing)
          --check                 write nothing; fail if a file is not what would be written
        """

    enum Access: String {
        case `public`, package, `internal`
    }

    private(set) var definitions = ""
    private(set) var swiftFile: String?
    private(set) var catalog: String?
    private(set) var documentation: String?
    private(set) var type = "TrackingEvent"
    private(set) var access = Access.internal
    private(set) var module: String? = "PointsOfInterestClient"
    private(set) var isCheck = false

    /// Reads the arguments; nil if they ask for help.
    init?(_ arguments: [String]) throws {
        var rest = arguments[...]
        while let argument = rest.popFirst() {
            if argument == "--help" || argument == "-h" { return nil }
            if argument == "--check" {
                isCheck = true
                continue
            }
            guard argument.hasPrefix("--"), let value = rest.popFirst(), !value.isEmpty else {
                throw GeneratorError("\(argument): not an option with a value; --help lists them")
            }
            try set(argument, to: value)
        }
        guard !definitions.isEmpty else { throw GeneratorError("--definitions is missing") }
        guard swiftFile != nil || catalog != nil || documentation != nil else {
            throw GeneratorError("nothing to make: give --swift, --catalog or --documentation")
        }
    }

    private mutating func set(_ option: String, to value: String) throws {
        switch option {
        case "--definitions": definitions = value
        case "--swift": swiftFile = value
        case "--catalog": catalog = value
        case "--documentation": documentation = value
        case "--type":
            guard SwiftName.isTypeName(value) else {
                throw GeneratorError("--type: \(value) is no type's name")
            }
            type = value
        case "--access":
            guard let level = Access(rawValue: value) else {
                throw GeneratorError("--access: public, package or internal, not \(value)")
            }
            access = level
        case "--import":
            guard SwiftName.isTypeName(value) || value == "none" else {
                throw GeneratorError("--import: \(value) is no module's name")
            }
            module = value == "none" ? nil : value
        default: throw GeneratorError("\(option) is not an option; --help lists them")
        }
    }
}
