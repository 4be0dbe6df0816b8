/// What this program is.
package enum BuildInformation {
    /// The version of the service and of its contract.
    package static let version = OpenAPIDocument.version

    /// The version of the compiler, to its minor number: what conditional compilation tells.
    static let swift: String = {
        #if compiler(>=6.5)
            "6.5 or later"
        #elseif compiler(>=6.4)
            "6.4"
        #elseif compiler(>=6.3)
            "6.3"
        #else
            "6.2"
        #endif
    }()
}
