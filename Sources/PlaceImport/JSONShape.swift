enum JSONShape: Equatable {
    /// In the array of this member of an object, or of its members' members (`response.venues`), or each is a member of its
    /// object, if there is one; else one after the other.
    case collection(String)
    case array
    case members
}

/// What the beginning of a stream of JSON says about the rest of it.
struct JSONBeginning {
    /// Where the places are, if no option says it.
    var shape = JSONShape.collection("features")
    /// The members of the only object that are arrays of objects, then such members of its members, with dots in their
    /// names; none where other objects follow it.
    private(set) var collections: [String] = []
    /// How many of these are members of the object itself.
    private var ownCollections = 0
    /// Likewise the members that are objects whose members are all objects, the outermost first.
    var objectsOfObjects: [String] {
        closed.sorted { $0.depth < $1.depth }.prefix(Self.maximumCollections).map(\.name)
    }
    private var closed: [(depth: Int, name: String)] = []
    /// The code of the coordinate system that the file names; nil for degrees of WGS 84.
    private(set) var referenceSystem: String?
    /// What the file says of its coordinate system, where that is no code that is known; nil if it is, or says nothing.
    private(set) var unknownSystem: String?
    /// Whether these are elements of OpenStreetMap, as Overpass gives them.
    private(set) var isOverpass = false
    /// The mapping that is usual for such places; nil for `columns`.
    private(set) var mapping: String?

    static let length = 16 * 1024
    /// How many names a member may have, and how many members are listed.
    private static let (maximumNames, maximumCollections) = (4, 20)

    init(_ bytes: ArraySlice<UInt8>) {
        let bytes = Array(bytes.prefix(Self.length))
        switch bytes.first(where: { $0 > 0x20 }) {
        case UInt8(ascii: "["): shape = .array
        case UInt8(ascii: "{"): readObject(bytes)
        default: break
        }
        let head = bytes.prefix(bytes.firstIndex(of: UInt8(ascii: "[")) ?? bytes.endIndex)
        isOverpass = collections.first == "elements" && Self.has("osm3s", in: head)
        if isOverpass { (shape, mapping) = (.collection("elements"), "openstreetmap") }
        if RejectedRows.areBeginning(bytes) {
            readRejectedContext(bytes)
        } else if collections.contains("features") || ownCollections == 0 {
            readReferenceSystem(bytes)
        }
    }

    private mutating func readObject(_ bytes: [UInt8]) {
        var (depth, isInString, isEscaped) = (0, false, false)
        var nameStart = 0
        // The names of the members that are open, the outermost first, and the depth of the outermost open array.
        var names: [String] = []
        var arrayDepth: Int?
        // The last byte that isn't a blank.
        var last: UInt8 = 0
        // How many members of each open object are objects, and how many aren't.
        var members = [(objects: 0, others: 0)]
        for (index, byte) in bytes.enumerated() where isInString || byte > 0x20 {
            if isInString {
                if isEscaped {
                    isEscaped = false
                } else if byte == UInt8(ascii: "\\") {
                    isEscaped = true
                } else if byte == UInt8(ascii: "\"") {
                    isInString = false
                    if arrayDepth == nil, 1...Self.maximumNames ~= depth, last != UInt8(ascii: ":") {
                        let name = String(decoding: bytes[nameStart..<index].prefix(100), as: UTF8.self)
                        names = names.prefix(depth - 1) + [name]
                    }
                    last = byte
                }
                continue
            }
            if arrayDepth == nil, 1...members.count ~= depth, last == UInt8(ascii: ":") {
                if byte == UInt8(ascii: "{") {
                    members[depth - 1].objects += 1
                } else {
                    members[depth - 1].others += 1
                }
            }
            switch byte {
            case UInt8(ascii: "\""): (isInString, nameStart) = (true, index + 1)
            case UInt8(ascii: "{"), UInt8(ascii: "["):
                if byte == UInt8(ascii: "{"), last == UInt8(ascii: "["), arrayDepth == depth - 1,
                    names.count == depth - 1, collections.count < Self.maximumCollections
                {
                    collections.insert(
                        names.joined(separator: "."), at: depth == 2 ? ownCollections : collections.count)
                    if depth == 2 { ownCollections += 1 }
                }
                if byte == UInt8(ascii: "["), arrayDepth == nil { arrayDepth = depth }
                if arrayDepth == nil, 1...Self.maximumNames ~= depth {
                    members = members.prefix(depth) + [(0, 0)]
                }
                depth += 1
            case UInt8(ascii: "}"), UInt8(ascii: "]"):
                depth -= 1
                if depth == arrayDepth { arrayDepth = nil }
                if depth == 0, bytes[(index + 1)...].contains(where: { $0 > 0x20 }) {
                    return (collections, closed) = ([], [])
                }
                if arrayDepth == nil, depth < members.count {
                    close(members[depth...], names)
                    members.removeLast(members.count - max(depth, 1))
                }
                if depth == 0 { return }
            default: break
            }
            if byte != UInt8(ascii: "\"") { last = byte }
        }
        close(members[...], names)
    }

    /// Notes which objects that end have nothing but objects as members; `names` are those of the inner ones.
    private mutating func close(_ members: ArraySlice<(objects: Int, others: Int)>, _ names: [String]) {
        for (depth, (objects, others)) in zip(members.indices, members) where objects > 1 && others == 0 {
            if depth == 0 {
                shape = .members
            } else if names.count >= depth {
                closed.append((depth, names.prefix(depth).joined(separator: ".")))
            }
        }
    }

    /// Reads what ``RejectedRows`` has written of the file that the first object comes from.
    private mutating func readRejectedContext(_ bytes: [UInt8]) {
        (shape, collections, isOverpass) = (.collection("features"), [], false)
        let text = String(decoding: bytes, as: UTF8.self)
        let name = text.firstMatch(of: /"rejected_mapping"\s*:\s*"([a-z]{1,40})"/).map { String($0.output.1) }
        mapping = name.flatMap { Mapping.builtIn[$0] == nil ? nil : $0 }
        referenceSystem = text.firstMatch(of: /"rejected_crs"\s*:\s*"([A-Z]{1,10}:[0-9]{1,10})"/).map {
            String($0.output.1)
        }
    }

    private mutating func readReferenceSystem(_ bytes: [UInt8]) {
        guard let system = Self.referenceSystem(in: String(decoding: bytes, as: UTF8.self)) else { return }
        (referenceSystem, unknownSystem) = system
    }

    /// What a text says by the member `crs` of GeoJSON as it was in 2008, or by that of ArcGIS: a code, nil for degrees with
    /// the longitude first, which are usual; or what isn't known. Nil where there is no such member.
    static func referenceSystem(in text: String) -> (code: String?, unknown: String?)? {
        let member = /"crs"\s*:\s*("[^"]{0,200}"|\{[^{}]{0,80}\{[^{}]{0,200}\}?|\{[^{}]{0,80}\}?)/
        if let found = text.firstMatch(of: member)?.output.1 {
            if found.contains(/\bCRS84"/) { return (nil, nil) }
            let name = found.firstMatch(of: /(EPSG|ESRI):[0-9.]{0,8}:?([0-9]{4,6})"/)?.output
            // {"type": "EPSG", "properties": {"code": 25832}}
            let number = found.firstMatch(of: /"code"\s*:\s*"?([0-9]{4,6})\b/)?.output.1
            return known(name.map { "\($0.1):\($0.2)" } ?? number.map { "EPSG:\($0)" }, in: found)
        }
        guard let found = text.firstMatch(of: /"spatialReference"\s*:\s*(\{[^{}]{0,200}\}?)/)?.output.1 else {
            return nil
        }
        let code =
            found.firstMatch(of: /"latestWkid"\s*:\s*([0-9]{4,6})\b/)?.output.1
            ?? found.firstMatch(of: /"wkid"\s*:\s*([0-9]{4,6})\b/)?.output.1
        // EPSG's numbers are smaller; 102100 is an old one of 3857.
        return known(code.map { ($0.count < 6 ? "EPSG:" : "ESRI:") + $0 }, in: found)
    }

    private static func known(_ code: String?, in text: Substring) -> (code: String?, unknown: String?) {
        (code == "EPSG:4326" ? nil : code, code == nil ? String(text) : nil)
    }

    private static func has(_ word: String, in bytes: ArraySlice<UInt8>) -> Bool {
        bytes.split(separator: UInt8(ascii: "\"")).contains { $0.elementsEqual(word.utf8) }
    }
}
