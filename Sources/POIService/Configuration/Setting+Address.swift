extension Setting where Value == String {
    /// The address to listen on.
    public static var host: Setting { .text("HOST", "address to listen on", default: "127.0.0.1") }
}

extension Setting where Value == Int {
    /// The port to listen on.
    public static var port: Setting {
        .integer("PORT", "port to listen on; 0 lets the system choose", in: 0...65535, default: 8080)
    }
}
