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
        let hadControls = scalars.contains(where: isControl)
        let count = scalars.count
        scalars = scalars.drop { isControl($0) || isInvisible($0) }
        while let last = scalars.last, isControl(last) || isInvisible(last) { scalars.removeLast() }
        let left = scalars.count
        let text =
            hadControls
            ? String(String.UnicodeScalarView(scalars.map { isControl($0) ? " " : $0 })) : String(scalars)
        return Normalised(text: text, codePoints: left, isTrimmed: left < count, hadControls: hadControls)
    }

    /// Control characters (C0, DEL, C1) and Unicode's line separators, which `is_single_line` refuses anywhere.
    static func isControl(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x00...0x1f, 0x7f...0x9f, 0x2028, 0x2029: true
        default: false
        }
    }

    /// What `is_single_line` refuses at either end.
    static func isInvisible(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x20, 0xa0, 0x1680, 0x2000...0x200f, 0x202f, 0x205f, 0x2060, 0x3000, 0xfeff: true
        default: false
        }
    }

    /// Whether this is the tag of a language, whose first part has two or three letters (RFC 5646, section 2.2.1: longer ones are
    /// reserved). So `name:left` of OpenStreetMap isn't taken for a name in a language.
    static func isLanguage(_ tag: [UInt8]) -> Bool {
        LanguageTag.isWellFormed(tag) && tag.prefix { $0 != UInt8(ascii: "-") }.count <= 3
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
        return isCategory(result) ? result : nil
    }

    /// Whether this is a name that a category may have: `^[a-z][a-z0-9]*(_[a-z0-9]+)*$`, of at most 50 characters.
    static func isCategory(_ text: String) -> Bool {
        guard text.utf8.count <= 50, let first = text.utf8.first, first &- UInt8(ascii: "a") < 26 else {
            return false
        }
        var last = first
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"): break
            case UInt8(ascii: "_") where last != UInt8(ascii: "_"): break
            default: return false
            }
            last = byte
        }
        return last != UInt8(ascii: "_")
    }
}

/// The tables' checks, for texts that aren't from a file, such as a dataset's name and license.
package enum TableCheck {
    /// Whether `is_single_line` accepts a text.
    package static func isSingleLine(_ text: String, maximumLength: Int) -> Bool {
        let normalised = try? PlaceText.normalise(Array(text.utf8)[...])
        guard let normalised, normalised.text == text else { return false }
        return (1...maximumLength).contains(normalised.codePoints)
    }

    package static func isWebsite(_ text: String) -> Bool { PlaceWebsite.isAccepted(text.utf8) }

    /// Whether PostgreSQL reads a text as `jsonb`. Whether `is_properties` accepts it is for the database to say: it writes
    /// JSON in its own way, in which a number may be longer.
    package static func isJSON(_ text: [UInt8]) -> Bool {
        text.withScanner { scanner in
            do throws(JSONScanner.SyntaxError) {
                try scanner.skipValue()
            } catch {
                return false
            }
            scanner.skipBlanks()
            guard scanner.position == text.count else { return false }
            return scanner.flaws.isEmpty || scanner.flaws == .number && hasStorableNumbers(&scanner)
        }
    }

    /// Whether all numbers of a JSON text are in the form in which PostgreSQL writes numbers of `jsonb`, of any length, or
    /// without a flaw. It writes 1e300 with 301 digits.
    private static func hasStorableNumbers(_ scanner: inout JSONScanner) -> Bool {
        let text = scanner.bytes
        scanner = JSONScanner(text)
        while scanner.position < text.count {
            do throws(JSONScanner.SyntaxError) {
                switch scanner.next {
                case UInt8(ascii: "\""): _ = try scanner.string()
                case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"):
                    scanner.flaws = []
                    let number = text[try scanner.number()]
                    guard scanner.flaws.isEmpty || number.count <= 1000 && !number.contains(where: isExponent)
                    else { return false }
                default: scanner = JSONScanner(text, from: scanner.position + 1)
                }
            } catch {
                return false
            }
        }
        return true
    }

    private static func isExponent(_ byte: UInt8) -> Bool { byte | 0x20 == UInt8(ascii: "e") }

    package static func isCategory(_ text: String) -> Bool { PlaceText.isCategory(text) }
}
