/// The field `Link`: comma-separated targets in angle brackets with parameters (RFC 8288, section 3).
enum LinkHeader {
    /// The target of the first link with a relation; nil where there is none, or the field is malformed before it.
    static func target(of relation: String, in field: String) -> String? {
        var rest = field[...]
        while let link = takeLink(&rest) {
            // Said of another resource than the one that answered (RFC 8288, section 3.2).
            if link.parameters.contains(where: { $0.name == "anchor" }) { continue }
            // Further ones of the same link are ignored (RFC 8288, section 3.3).
            let relations = link.parameters.first { $0.name == "rel" }?.value ?? ""
            if relations.split(separator: " ").contains(where: { $0.lowercased() == relation }) {
                return link.target
            }
        }
        return nil
    }

    private struct Link {
        let target: String
        var parameters: [(name: String, value: String)] = []
    }

    private static func takeLink(_ rest: inout Substring) -> Link? {
        rest = rest.drop { $0 == " " || $0 == "\t" || $0 == "," }
        guard rest.first == "<", let end = rest.firstIndex(of: ">") else { return nil }
        var link = Link(target: String(rest[rest.index(after: rest.startIndex)..<end]))
        rest = rest[rest.index(after: end)...]
        while true {
            skipSpace(&rest)
            guard rest.first == ";" else { return link }
            rest.removeFirst()
            skipSpace(&rest)
            let name = rest.prefix { !" \t=;,\"".contains($0) }
            rest = rest[name.endIndex...]
            skipSpace(&rest)
            guard rest.first == "=" else {
                link.parameters.append((name.lowercased(), ""))
                continue
            }
            rest.removeFirst()
            skipSpace(&rest)
            guard let value = takeValue(&rest) else { return nil }
            link.parameters.append((name.lowercased(), value))
        }
    }

    /// A token or a quoted string.
    private static func takeValue(_ rest: inout Substring) -> String? {
        guard rest.first == "\"" else {
            let token = rest.prefix { !" \t;,".contains($0) }
            rest = rest[token.endIndex...]
            return String(token)
        }
        rest.removeFirst()
        var value = ""
        while let character = rest.popFirst() {
            switch character {
            case "\"": return value
            case "\\": if let escaped = rest.popFirst() { value.append(escaped) }
            default: value.append(character)
            }
        }
        return nil
    }

    private static func skipSpace(_ rest: inout Substring) {
        rest = rest.drop { $0 == " " || $0 == "\t" }
    }
}
