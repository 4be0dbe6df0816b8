extension ImportSource {
    /// The options that say all this but the paths, for a command line.
    var options: [String] {
        let options = optionValues.map { name, value in "\(name) \(value.quotedForShell)" }
        return options + (isUnconfined ? ["--unconfined-source"] : [])
    }

    /// The values of the options that say how the files are read, which the next files of the dataset will need again; not what
    /// is done once, nor what is only for trusted files.
    package var rememberedOptions: [String: String] {
        Dictionary(
            uniqueKeysWithValues: optionValues.filter { $0.name != "--clear" }.map { ($0.name, $0.value) })
    }

    private var optionValues: [(name: String, value: String)] {
        let columns = columns.isEmpty ? nil : columns.option
        let texts = fixedTexts.isEmpty ? nil : fixedTexts.option
        let properties = properties.isEmpty ? nil : properties.joined(separator: ",")
        let box = boundingBox.map { "\($0.west),\($0.south),\($0.east),\($0.north)" }
        let categories = categories.isEmpty ? nil : categories.sorted().joined(separator: ",")
        let tables =
            tables.isEmpty
            ? nil : tables.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }.joined(separator: ",")
        let cleared = cleared.isEmpty ? nil : cleared.map(\.text).sorted().joined(separator: ",")
        let values: [(String, String?)] = [
            ("--format", format?.rawValue), ("--encoding", encoding),
            ("--header-row", headerRow.map(String.init)),
            ("--delimiter", delimiter.map(Self.name(ofDelimiter:))),
            ("--mapping", mapping), ("--layer", layer), ("--crs", referenceSystem), ("--column", columns),
            ("--set", texts), ("--properties", properties), ("--clear", cleared), ("--bbox", box),
            ("--category", categories), ("--table", tables),
        ]
        return values.compactMap { name, value in value.map { (name, $0) } }
    }

    static func name(ofDelimiter byte: UInt8) -> String {
        byte == 0x09 ? "tab" : String(decoding: [byte], as: UTF8.self)
    }
}

/// Texts of fields as an option has them: `FIELD=TEXT`, several with commas between. A text may have commas itself, where no
/// `FIELD=` follows them: `position=Latitude, Longitude`.
extension [ImportField: String] {
    /// Nil where the option doesn't have this form, or a field twice.
    package init?(option text: String) {
        self.init()
        var last: ImportField?
        for part in text.split(separator: ",", omittingEmptySubsequences: false) {
            let names = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            if names.count == 2 {
                guard !names[1].isEmpty, let field = ImportField(rawValue: String(names[0])),
                    self[field] == nil
                else { return nil }
                self[field] = String(names[1])
                last = field
            } else {
                guard let last, !part.isEmpty else { return nil }
                self[last]? += ",\(part)"
            }
        }
    }

    /// The option that has these texts, by their fields in the order of ``ImportField``.
    package var option: String {
        ImportField.allCases.compactMap { field in self[field].map { "\(field.rawValue)=\($0)" } }
            .joined(separator: ",")
    }
}

extension String {
    package var quotedForShell: String {
        let isPlain = utf8.allSatisfy { byte in
            (byte | 0x20) &- UInt8(ascii: "a") < 26 || byte &- UInt8(ascii: "0") < 10 || byte >= 0x80
                || "/._-:=,@+".utf8.contains(byte)
        }
        return isPlain && !isEmpty ? self : "'" + printable.replacing("'", with: "'\\''") + "'"
    }
}
