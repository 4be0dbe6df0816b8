import PointsOfInterestServerAPI

// Names, other names and properties as one value of JSON each: from GeoJSON, or as text in a column. `poi datasets export`
// writes them so, since no list of columns and no separator has room for all of them.
extension Row {
    /// The bytes of a field between these two, which belong together, without blanks around them; nil if it isn't so.
    private func bytes(of field: Int, from first: UInt8, to last: UInt8) -> ArraySlice<UInt8>? {
        let text = bytes(of: self[field]).drop { $0 <= 0x20 }
        guard text.first == first, let end = text.lastIndex(where: { $0 > 0x20 }), end > text.startIndex,
            text[end] == last
        else { return nil }
        return text[...end]
    }

    /// The members of a field's JSON object, as they are written, without the braces; nil where there is none. Whether it is
    /// JSON isn't known.
    func objectMembers(of field: Int) -> ArraySlice<UInt8>? {
        bytes(of: field, from: UInt8(ascii: "{"), to: UInt8(ascii: "}"))?.dropFirst().dropLast()
    }

    /// The texts among the members of a field's JSON object, by their names, and whether all of it could be read. Other
    /// members are passed over.
    mutating func texts(ofObject field: Int) -> (texts: [(name: [UInt8], text: Range<Int>)], isWhole: Bool) {
        guard let json = bytes(of: field, from: UInt8(ascii: "{"), to: UInt8(ascii: "}")) else {
            return ([], true)
        }
        var texts: [(name: [UInt8], text: Range<Int>)] = []
        var isWhole = true
        Array(json).withScanner { scanner in
            do throws(JSONScanner.SyntaxError) {
                try scanner.object { (name, scanner) throws(JSONScanner.SyntaxError) in
                    guard scanner.next == UInt8(ascii: "\"") else { return try scanner.skipValue() }
                    let text = try scanner.string()
                    let content = name.withContent(in: scanner.bytes, atMost: json.count) { name in
                        text.withContent(in: scanner.bytes, atMost: json.count) { (Array(name), Array($0)) }
                    }
                    guard let (name, text) = content else { return }
                    texts.append((name, appendText { $0 += text }))
                }
                isWhole = scanner.flaws.isEmpty && scanner.position == json.count
            } catch {
                isWhole = false
            }
        }
        return (texts, isWhole)
    }

    /// The texts of a field's JSON array; nil where it is anything else than an array of texts.
    mutating func texts(ofArray field: Int) -> [Range<Int>]? {
        guard let json = bytes(of: field, from: UInt8(ascii: "["), to: UInt8(ascii: "]")) else { return nil }
        var texts: [[UInt8]] = []
        let isList = Array(json).withScanner { scanner in
            do throws(JSONScanner.SyntaxError) {
                try scanner.array { (scanner) throws(JSONScanner.SyntaxError) in
                    let text = try scanner.string()
                    text.withContent(in: scanner.bytes, atMost: json.count) { texts.append(Array($0)) }
                }
            } catch {
                return false
            }
            return scanner.flaws.isEmpty && scanner.position == json.count
        }
        return isList ? texts.map { text in appendText { $0 += text } } : nil
    }
}
