import Foundation
import PointsOfInterestServerAPI

/// Decides which texts PostgreSQL's checks accept (`is_single_line`), and normalises others.
enum PlaceText {
    struct Normalised {
        var text: String
        var codePoints: Int
        var isTrimmed = false
        var hadControls = false
    }

    /// Trims invisible characters, and replaces control characters and line separators with spaces.
    @inline(__always)
    static func normalise(_ bytes: ArraySlice<UInt8>) throws(RejectionReason) -> Normalised {
        if isPlain(bytes) {
            return Normalised(text: String(decoding: bytes, as: UTF8.self), codePoints: bytes.count)
        }
        return try normaliseAny(bytes)
    }

    /// Whether this is ASCII without control characters, and without a space at either end.
    @inline(__always)
    private static func isPlain(_ bytes: ArraySlice<UInt8>) -> Bool {
        guard let first = bytes.first, let last = bytes.last, first != 0x20, last != 0x20 else {
            return false
        }
        // The loop has no exit, so that many bytes are processed at once.
        var worst: UInt8 = 0
        for byte in bytes { worst = max(worst, byte &- 0x20) }
        return worst < 0x5f
    }

    @inline(never)
    private static func normaliseAny(_ bytes: ArraySlice<UInt8>) throws(RejectionReason) -> Normalised {
        guard !bytes.contains(0) else { throw .nul }
        guard let valid = String(validating: bytes, as: UTF8.self) else { throw .invalidText }
        var scalars = valid.unicodeScalars[...]
        let hadControls = scalars.contains(where: TableCheck.isControl)
        let count = scalars.count
        scalars = scalars.drop { TableCheck.isControl($0) || TableCheck.isInvisible($0) }
        while let last = scalars.last, TableCheck.isControl(last) || TableCheck.isInvisible(last) {
            scalars.removeLast()
        }
        let left = scalars.count
        let text =
            hadControls
            ? String(String.UnicodeScalarView(scalars.map { TableCheck.isControl($0) ? " " : $0 }))
            : String(scalars)
        return Normalised(text: text, codePoints: left, isTrimmed: left < count, hadControls: hadControls)
    }

    /// The name of a category that people write in another way: letters become lower-case ones without accents, and what is
    /// between words an underscore. So `Coffee Shop`, `coffee-shop` and `COFFEE_SHOP` are one category. Nil if that is no name
    /// of a category, either.
    static func category(spelling text: String) -> String? {
        guard text.utf8.count <= 400 else { return nil }
        var name: [UInt8] = []
        var isBetweenWords = false
        // Decomposed, a letter with an accent is the letter and a mark.
        for scalar in text.decomposedStringWithCanonicalMapping.unicodeScalars {
            if scalar.properties.generalCategory == .nonspacingMark || scalar == "'" || scalar == "’" {
                continue
            }
            guard scalar.isASCII, scalar.properties.isAlphabetic || ("0"..."9").contains(scalar) else {
                // A letter that ASCII doesn't have can't be left out.
                if scalar.properties.isAlphabetic { return nil }
                isBetweenWords = true
                continue
            }
            if isBetweenWords, !name.isEmpty { name.append(UInt8(ascii: "_")) }
            isBetweenWords = false
            let byte = UInt8(scalar.value)
            name.append((65...90).contains(byte) ? byte | 0x20 : byte)
        }
        let result = String(decoding: name, as: UTF8.self)
        return TableCheck.isCategory(result) ? result : nil
    }
}
