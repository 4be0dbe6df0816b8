import Foundation
import PointsOfInterestAPI

/// Cuts the features out of a stream of GeoJSON, or the objects out of other JSON, without keeping more than one of them.
///
/// A stream is a FeatureCollection (RFC 7946), or features one after the other, each on a line or behind a record
/// separator (RFC 8142); an array of objects, or an object that has them in the array of a member, or of a member's member,
/// or as its members or those of such a member.
struct GeoJSONReader: RowReader {
    static let maximumFeatureBytes = 16 << 20

    private static let recordSeparator: UInt8 = 0x1e

    let input: ByteInput
    private var feature: GeoJSONFeature
    private var line = 1
    /// How many braces and brackets are open.
    private var depth = 0
    private var isInString = false
    private var isEscaped = false
    /// The depth at which the kept object began; nil if none is kept.
    private var keptDepth: Int?
    private let shape: JSONShape
    /// The names of the member that has the places, the outermost first, and how many of its objects are open.
    private let collectionNames: [String]
    private var openNames = 0
    /// Whether the members of a FeatureCollection are read.
    private var isInCollection = false
    /// How many braces and brackets are open around the features of a collection; nil outside of them.
    private var featuresDepth: Int?
    /// Whether each member of the collection is a feature, not each element.
    private var areMembers = false
    /// The members behind the features, as far as they are looked at; nil before.
    private var trailer: [UInt8]?
    private let isProjected: Bool
    private var kept: [UInt8] = []
    private var keptLine = 1
    private var isTooLong = false
    /// Whether all of the feature that was read last is kept.
    private var isWhole = false
    /// The layers whose features follow each other, and the mapping's field that has their names.
    private var layers: ArraySlice<GDALLayer>
    private let layerField: Int?
    /// How many features of the first of these were read.
    private var layerCount = 0
    /// The rows of a table that were read for its header, and aren't returned yet.
    private var waiting: ArraySlice<[UInt8]> = []
    /// Which row of a table has the header, where that isn't the first one.
    private(set) var headerRow: Int?
    /// What its texts name, by GDAL's names.
    private(set) var names: [String: String] = [:]
    private var isTable = false

    init(
        _ input: ByteInput, mapping: Mapping, shape: JSONShape = .collection("features"),
        isProjected: Bool = false, layers: [GDALLayer] = []
    ) {
        self.input = input
        self.layers = layers[...]
        layerField = layers.isEmpty ? nil : mapping.fieldNames.firstIndex(of: GDALLayer.field)
        self.shape = shape
        self.isProjected = isProjected
        if case .collection(let member) = shape {
            collectionNames = member.split(separator: ".").map(String.init)
        } else {
            collectionNames = []
        }
        feature = GeoJSONFeature(mapping: mapping, isProjected: isProjected)
    }

    var object: [UInt8] { kept }

    var rowObject: [UInt8]? { isWhole ? kept : nil }
    var rowText: [UInt8]? { nil }

    mutating func next(into row: inout Row) throws(ImportError) -> ReadRow {
        while true {
            let read: ReadRow
            if let bytes = waiting.popFirst() {
                row.removeAll()
                kept = bytes
                read = kept.withScanner { feature.read(&$0, into: &row) }
            } else {
                read = try nextFeature(into: &row)
            }
            if case .end = read { return .end }
            if let layerField { row.set(layerField, to: nextLayer().utf8) }
            if !isTable || !row.isBlank { return read }
        }
    }

    /// The name of the layer that the next feature is in.
    private mutating func nextLayer() -> String {
        while let layer = layers.first, let count = layer.count, layerCount >= count {
            layers.removeFirst()
            layerCount = 0
        }
        layerCount += 1
        return layers.first?.name ?? ""
    }

    /// Takes the names of the columns from a row below a title, of which GDAL has made the columns' names.
    ///
    /// - Parameter row: which row it is; nil for the one that has what the mapping needs, if the first one doesn't.
    mutating func findHeader(_ mapping: Mapping, row number: Int?) throws(ImportError) {
        isTable = true
        guard number != 1 else { return }
        var row = Row(fieldCount: mapping.fieldNames.count)
        for index in 2...(number ?? TableHeader.maximumRows) {
            guard case .row = try nextFeature(into: &row) else { break }
            waiting.append(kept)
            guard case .object(let object) = try? JSONDecoder().decode(JSONValue.self, from: Data(kept)),
                case .object(let cells) = object["properties"]
            else { break }
            if number == nil, index == 2, TableHeader(cells.members.map(\.name)).isFound(by: mapping) {
                return
            }
            let texts = cells.members.compactMap { name, value in value.text.map { (name, $0) } }
            guard number.map({ $0 == index }) ?? TableHeader(texts.map(\.1)).isFound(by: mapping) else {
                continue
            }
            feature.nameFields(texts)
            names = Dictionary(texts) { first, _ in first }
            waiting = []
            layerCount += index - 1
            headerRow = index
            return
        }
        if let number { throw input.error("there is no row \(number), which should have the header") }
    }

    /// Reads the next feature, or why it is none.
    private mutating func nextFeature(into row: inout Row) throws(ImportError) -> ReadRow {
        while true {
            if input.unread.isEmpty, try !input.fill() {
                guard depth > 0 else { return .end }
                throw input.error(
                    keptDepth == nil ? "the FeatureCollection isn't closed" : "the feature isn't closed",
                    line: keptDepth == nil ? line : keptLine)
            }
            let (length, event) = scan(input.unread)
            input.consume(length)
            guard event != .nothing else { continue }
            guard event != .unexpected else { throw input.error("there should be a feature", line: line) }
            if event == .end {
                try checkTrailer()
                continue
            }
            row.removeAll()
            row.line = keptLine
            isWhole = event == .feature && !isTooLong
            if isTooLong { return .rejected(.rowTooLong, detail: "more than 16 MiB") }
            guard event == .feature else {
                return .rejected(.malformedRow, detail: "the feature isn't closed")
            }
            return kept.withScanner { feature.read(&$0, into: &row) }
        }
    }

    private enum Event {
        case nothing, feature, truncated, unexpected
        /// The end of the object that has the features.
        case end
    }

    /// Refuses a coordinate system that is named only behind the features: these were read as degrees.
    private mutating func checkTrailer() throws(ImportError) {
        defer { trailer = nil }
        let text = String(decoding: trailer ?? [], as: UTF8.self)
        guard !isProjected, let found = JSONBeginning.referenceSystem(in: text),
            let system = found.code ?? found.unknown
        else { return }
        throw input.error(
            "its coordinate system, \(system.printable), is behind its features: \(ImportError.seeReferenceSystem)"
        )
    }

    /// Reads on to the end of a feature or of the bytes, and keeps what belongs to the feature.
    private mutating func scan(_ bytes: ArraySlice<UInt8>) -> (length: Int, Event) {
        let unread = bytes.span
        var index = 0
        // Bytes before this index are kept already, or aren't to be kept.
        var start = 0
        var trailerStart = trailer == nil ? unread.count : 0
        while index < unread.count {
            let byte = unread[index]
            index &+= 1
            switch byte {
            case UInt8(ascii: "\n"):
                line += 1
                if isInString { endString(at: byte) }
            case Self.recordSeparator:
                if depth > 0 { return (index, abandon()) }
            case _ where isInString: endString(at: byte)
            case UInt8(ascii: "{"), UInt8(ascii: "["):
                if beginsCollection(with: byte) {
                    (isInCollection, featuresDepth, areMembers) = (true, 1, shape == .members)
                } else if isBetweenFeatures {
                    guard byte == UInt8(ascii: "{") else { return (index, .unexpected) }
                    beginFeature()
                    start = index - 1
                } else if depth == openNames + 1, !isInCollection, isOnTheWay(byte) {
                    keep(bytes.dropFirst(start).prefix(index - start))
                    start = index
                    if namesFeatures(), byte == UInt8(ascii: "[") || mayBeMembers {
                        (keptDepth, isInCollection, featuresDepth) = (nil, true, depth + 1)
                        areMembers = byte == UInt8(ascii: "{")
                    } else if byte == UInt8(ascii: "{"), isNamed(collectionNames[openNames]) {
                        openNames += 1
                    }
                }
                depth += 1
            case UInt8(ascii: "}"), UInt8(ascii: "]"):
                guard depth > 0 else { return (index, .unexpected) }
                depth -= 1
                if depth <= openNames { openNames = max(depth - 1, 0) }
                if depth == keptDepth {
                    keep(bytes.dropFirst(start).prefix(index - start))
                    keptDepth = nil
                    return (index, .feature)
                }
                if let featuresDepth, depth < featuresDepth {
                    self.featuresDepth = nil
                    (trailer, trailerStart) = ([], index)
                }
                if depth == 0, isInCollection {
                    isInCollection = false
                    keepTrailer(bytes.dropFirst(trailerStart).prefix(index - trailerStart))
                    return (index, .end)
                }
            case UInt8(ascii: " "), UInt8(ascii: "\r"), UInt8(ascii: "\t"): break
            case UInt8(ascii: ",") where featuresDepth != nil: break
            // The names of the members of which each is a place.
            case UInt8(ascii: "\"") where isBetweenMembers, UInt8(ascii: ":") where isBetweenMembers:
                isInString = byte == UInt8(ascii: "\"")
            default:
                if isBetweenFeatures { return (index, .unexpected) }
                isInString = byte == UInt8(ascii: "\"")
            }
        }
        if keptDepth != nil { keep(bytes.dropFirst(start)) }
        keepTrailer(bytes.dropFirst(trailerStart))
        return (index, .nothing)
    }

    private mutating func keepTrailer(_ bytes: ArraySlice<UInt8>) {
        guard let count = trailer?.count else { return }
        trailer? += bytes.prefix(JSONBeginning.length - count)
    }

    /// Takes a byte of a string, which may be its end.
    @inline(__always)
    private mutating func endString(at byte: UInt8) {
        if isEscaped {
            isEscaped = false
        } else if byte == UInt8(ascii: "\\") {
            isEscaped = true
        } else if byte == UInt8(ascii: "\"") {
            isInString = false
        }
    }

    /// Begins anew after a record separator (RFC 8142, section 2.2).
    private mutating func abandon() -> Event {
        (depth, isInString, isEscaped, keptDepth) = (0, false, false, nil)
        (isInCollection, featuresDepth, openNames, trailer) = (false, nil, 0, nil)
        return .truncated
    }

    private var isBetweenFeatures: Bool { keptDepth == nil && (depth == 0 || depth == featuresDepth) }
    private var isBetweenMembers: Bool { areMembers && isBetweenFeatures && depth == featuresDepth }
    /// Whether the object of a named member may have a place in each of its members; GeoJSON has an array.
    private var mayBeMembers: Bool { !collectionNames.isEmpty && collectionNames != ["features"] }

    /// Whether a brace or bracket is the one around all places.
    private func beginsCollection(with byte: UInt8) -> Bool {
        guard depth == 0 else { return false }
        switch shape {
        case .array: return byte == UInt8(ascii: "[")
        case .members: return byte == UInt8(ascii: "{")
        case .collection: return false
        }
    }

    /// Whether a member that begins with a brace or bracket may have the places, or have them further in.
    private func isOnTheWay(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: "[") || mayBeMembers || openNames + 1 < collectionNames.count
    }

    private mutating func beginFeature() {
        keptDepth = depth
        keptLine = line
        isTooLong = false
        kept.removeAll(keepingCapacity: true)
    }

    private mutating func keep(_ bytes: ArraySlice<UInt8>) {
        isTooLong = isTooLong || kept.count + bytes.count > Self.maximumFeatureBytes
        if !isTooLong { kept += bytes }
    }

    /// Whether the brace or bracket that was kept last is the one around the places.
    private func namesFeatures() -> Bool {
        guard case .collection(let member) = shape else { return false }
        // A name may have dots itself.
        if depth == 1, isNamed(member) { return true }
        return openNames + 1 == collectionNames.count && isNamed(collectionNames[openNames])
    }

    /// Whether the brace or bracket that was kept last begins the value of a member of this name.
    private func isNamed(_ name: String) -> Bool {
        func isBlank(_ byte: UInt8) -> Bool { byte <= 0x20 }
        // Then it isn't kept. Whoever looked behind blanks each time would never come to an end.
        guard !isTooLong else { return false }
        let before = kept.dropLast().reversed().drop(while: isBlank)
        guard before.first == UInt8(ascii: ":") else { return false }
        return before.dropFirst().drop(while: isBlank).starts(with: "\"\(name)\"".utf8.reversed())
    }
}
