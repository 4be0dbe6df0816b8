extension String {
    /// Whether every character is ASCII.
    ///
    /// To be asked of a text from outside before it is looked up in a dictionary or compared: Swift does both by
    /// canonical equivalence, which takes the square of a run of combining marks, of which 16 KiB take 0.2 s.
    var isASCII: Bool { utf8.allSatisfy { $0 < 0x80 } }
}
