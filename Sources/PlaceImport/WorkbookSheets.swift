/// The sheets of a workbook, and which of them people have hidden: GDAL reads these like all others.
struct WorkbookSheets {
    private(set) var visible: [String] = []
    private(set) var hidden: [String] = []

    /// Larger parts than this aren't looked at; then all sheets count as visible.
    private static let maximumBytes = 64 << 20

    init(_ archive: ZIPArchive, path: String, _ format: GDALFormat) throws(ImportError) {
        let name = format == .workbook ? "xl/workbook.xml" : "content.xml"
        guard let member = archive.members.first(where: { $0.name == name }), member.size <= Self.maximumBytes
        else { return }
        let input = try ByteInput(member: member, path: path)
        while try input.fill() {}
        if format == .workbook { readWorkbook(input.unread) } else { readContent(input.unread) }
    }

    /// `<sheet name="Old" state="hidden">` (ECMA-376, part 1, section 18.2.19).
    private mutating func readWorkbook(_ xml: ArraySlice<UInt8>) {
        for tag in XMLTags(xml, ["sheet"]) {
            add(tag["name"], isHidden: tag["state"].map { $0 != "visible" } ?? false)
        }
    }

    /// A table has a style, whose properties say whether it is displayed (OpenDocument 1.3, part 3, section 20.267).
    private mutating func readContent(_ xml: ArraySlice<UInt8>) {
        var style = ""
        var hiddenStyles: Set<String> = []
        for tag in XMLTags(xml, ["style", "table-properties", "table"]) {
            switch tag.name {
            case "style": style = tag["name"] ?? ""
            case "table-properties": if tag["display"] == "false" { hiddenStyles.insert(style) }
            default: add(tag["name"], isHidden: hiddenStyles.contains(tag["style-name"] ?? ""))
            }
        }
    }

    private mutating func add(_ name: String?, isHidden: Bool) {
        guard let name else { return }
        if isHidden { hidden.append(name) } else { visible.append(name) }
    }
}

/// The beginnings of elements of some names in a document of XML, with their attributes, all without prefixes. The cost is
/// linear in the bytes.
struct XMLTags: Sequence, IteratorProtocol {
    struct Tag {
        let name: String
        fileprivate(set) var attributes: [String: String] = [:]

        subscript(name: String) -> String? { attributes[name] }
    }

    private var rest: ArraySlice<UInt8>
    private let names: Set<String>

    init(_ xml: ArraySlice<UInt8>, _ names: Set<String>) { (rest, self.names) = (xml, names) }

    mutating func next() -> Tag? {
        while let start = rest.firstIndex(of: UInt8(ascii: "<")) {
            rest = rest[(start + 1)...]
            let name = Self.local(rest.prefix { !Self.ends($0) })
            guard names.contains(name) else { continue }
            rest = rest.drop { !Self.ends($0) }
            var tag = Tag(name: name)
            while let (name, value) = takeAttribute() { tag.attributes[name] = value }
            return tag
        }
        return nil
    }

    private mutating func takeAttribute() -> (String, String)? {
        rest = rest.drop { $0 <= 0x20 }
        let name = rest.prefix { $0 != UInt8(ascii: "=") && !Self.ends($0) }
        guard !name.isEmpty else { return nil }
        rest = rest[name.endIndex...].drop { $0 <= 0x20 || $0 == UInt8(ascii: "=") }
        guard let quote = rest.popFirst(), quote == UInt8(ascii: "\"") || quote == UInt8(ascii: "'") else {
            return nil
        }
        let value = rest.prefix { $0 != quote }
        rest = rest[value.endIndex...].dropFirst()
        return (Self.local(name), Self.unescaped(String(decoding: value, as: UTF8.self)))
    }

    private static func ends(_ byte: UInt8) -> Bool {
        byte <= 0x20 || byte == UInt8(ascii: ">") || byte == UInt8(ascii: "/")
    }

    private static func local(_ name: ArraySlice<UInt8>) -> String {
        let colon = name.prefix(64).lastIndex(of: UInt8(ascii: ":"))
        return String(decoding: name[(colon.map { $0 + 1 } ?? name.startIndex)...].prefix(64), as: UTF8.self)
    }

    private static func unescaped(_ text: String) -> String {
        let names = ["amp": "&", "lt": "<", "gt": ">", "quot": "\"", "apos": "'"]
        return text.replacing(/&(?:(amp|lt|gt|quot|apos)|#([0-9]{1,7})|#x([0-9A-Fa-f]{1,6}));/) { found in
            if let name = found.output.1 { return names[String(name)] ?? "" }
            let number =
                found.output.2.flatMap { UInt32($0) } ?? found.output.3.flatMap { UInt32($0, radix: 16) }
            return number.flatMap(Unicode.Scalar.init).map(String.init) ?? "?"
        }
    }
}
