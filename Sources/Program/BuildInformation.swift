package enum BuildInformation {
    /// Three numbers, as CONTRIBUTING.md explains. An addition raises the second one.
    package static let version = "0.10.0"

    /// As far as conditional compilation reveals it.
    package static let swift: String = {
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
