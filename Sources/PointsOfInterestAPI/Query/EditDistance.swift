/// The Levenshtein distance from a text of at most 64 bytes: how many bytes to insert, delete or replace.
///
/// A column of the usual table is two words of bits, where the distance goes up and where it goes down, so
/// that a column costs a few operations. Source: H. Hyyrö, "A Bit-Vector Algorithm for Computing Levenshtein
/// and Damerau Edit Distances", 2003, figure 3 (after G. Myers, 1999).
package struct EditDistance {
    package let text: [UInt8]
    /// For each byte, where it stands in the text.
    private let positions: [UInt64]

    /// Nil for an empty text, and for a longer one.
    package init?(from text: [UInt8]) {
        guard (1...UInt64.bitWidth).contains(text.count) else { return nil }
        var positions = [UInt64](repeating: 0, count: 256)
        for (index, byte) in text.enumerated() { positions[Int(byte)] |= 1 << UInt64(index) }
        self.text = text
        self.positions = positions
    }

    /// The distance to another text, of any length.
    package func distance(to other: [UInt8]) -> Int {
        let last = UInt64(1) << UInt64(text.count - 1)
        var distance = text.count
        var up = UInt64.max
        var down = UInt64(0)
        for byte in other {
            let equal = positions[Int(byte)]
            let unchanged = (((equal & up) &+ up) ^ up) | equal | down
            var rise = down | ~(unchanged | up)
            var fall = up & unchanged
            if rise & last != 0 { distance += 1 }
            if fall & last != 0 { distance -= 1 }
            rise = rise << 1 | 1
            fall <<= 1
            up = fall | ~(unchanged | rise)
            down = rise & unchanged
        }
        return distance
    }
}
