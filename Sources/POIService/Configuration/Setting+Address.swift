import EventLoop

extension Setting where Value == String {
    /// The address to listen on.
    public static var host: Setting {
        Setting("HOST", "address to listen on, or unix:/path of a socket", default: "127.0.0.1") {
            (text) throws(SettingRejection) in
            guard !text.isEmpty, !text.contains("\0") else { throw SettingRejection(expected: "an address") }
            guard !text.hasPrefix("unix:") || UnixSocketAddress(host: text) != nil else {
                throw SettingRejection(expected: "unix: and an absolute path of at most 107 bytes")
            }
            return text
        }
    }
}

extension Setting where Value == Int {
    /// The port to listen on.
    public static var port: Setting {
        .integer("PORT", "port to listen on; 0 lets the system choose", in: 0...65535, default: 8080)
    }
}
