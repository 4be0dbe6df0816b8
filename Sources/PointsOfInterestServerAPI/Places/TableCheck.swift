import PointsOfInterestAPI

/// The tables' checks, for what isn't from a file: a dataset's name and license, and what people write of a place.
package enum TableCheck {
    /// Whether `is_single_line` accepts a text.
    package static func isSingleLine(_ text: String, maximumLength: Int) -> Bool {
        let scalars = text.unicodeScalars
        // Looked at first: to count the scalars of a long text takes longer.
        guard text.utf8.count <= 4 * maximumLength, (1...maximumLength).contains(scalars.count),
            let first = scalars.first, let last = scalars.last
        else { return false }
        return !isInvisible(first) && !isInvisible(last) && !scalars.contains(where: isControl)
    }

    /// Control characters (C0, DEL, C1) and Unicode's line separators, which `is_single_line` refuses anywhere.
    package static func isControl(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x00...0x1f, 0x7f...0x9f, 0x2028, 0x2029: true
        default: false
        }
    }

    /// What `is_single_line` refuses at either end.
    package static func isInvisible(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x20, 0xa0, 0x1680, 0x2000...0x200f, 0x202f, 0x205f, 0x2060, 0x3000, 0xfeff: true
        default: false
        }
    }

    /// Whether this is the tag of a language, whose first part has two or three letters (RFC 5646, section 2.2.1: longer ones are
    /// reserved). So `name:left` of OpenStreetMap isn't taken for a name in a language.
    package static func isLanguage(_ tag: [UInt8]) -> Bool {
        LanguageTag.isWellFormed(tag) && tag.prefix { $0 != UInt8(ascii: "-") }.count <= 3
    }

    /// Whether this is a name that a category may have: `^[a-z][a-z0-9]*(_[a-z0-9]+)*$`, of at most 50 characters.
    package static func isCategory(_ text: String) -> Bool {
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
}
