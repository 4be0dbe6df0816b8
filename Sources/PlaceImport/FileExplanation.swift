/// What `poi import --explain` says of a file: how it would be read, what is missing, and what to do next.
package struct FileExplanation: CustomStringConvertible {
    private static let shownNames = 40

    private let path: String
    private let destination: [String]
    /// The source as it was given, and with what was found that it needs, as far as the file says so itself.
    private let source: ImportSource
    private var found: ImportSource
    private var lines: [String] = []
    /// Whether the file has columns, and whether it is a response of Overpass.
    private var (isCSV, isOverpass) = (false, false)
    /// Whether the file says in which coordinate system its positions are.
    private var namesReferenceSystem = false
    private var advice: [String] = []

    /// Reads the first file's first rows, at most a thousand, and needs no database.
    /// - Parameter destination: Options about the dataset and what is done with it, for the command to run next.
    /// - Throws: ``ImportError`` where it can't be read at all; standard input can be read only once, and isn't.
    package init(_ source: ImportSource, destination: [String]) throws(ImportError) {
        guard let path = source.paths.first, path != "-" else {
            throw ImportError("standard input can't be explained: save it to a file first")
        }
        (self.path, self.destination, self.source, found) = (path, destination, source, source)
        found.paths = [path]
        let opened = try OpenedFile(path, source)
        if let input = opened.input, opened.format == .csv {
            isCSV = true
            try explainColumns(input, opened.usualMapping ?? "columns")
        } else {
            try explainObjects(opened)
        }
    }

    private mutating func explainColumns(_ input: ByteInput, _ usual: String) throws(ImportError) {
        let mapping = try found.mapping(unlessNamed: usual)
        let hasReturns = input.unread.contains(UInt8(ascii: "\r"))
        var reader = try CSVReader(
            input, mapping, delimiter: source.delimiter, headerRow: source.headerRow)
        if found.mapping == nil, reader.columns.count == 19, Int(reader.columns[0]) != nil,
            let input = try OpenedFile(path, source).input
        {
            take(mapping: "geonames", "it looks like a dump of GeoNames, which has no header")
            return try explainColumns(input, usual)
        }
        let inventory = try FieldInventory(&reader)
        let delimiter = ImportSource.name(ofDelimiter: reader.delimiter)
        let encoding = input.encoding ?? "UTF-8"
        let lineEnd = hasReturns ? "CR LF" : "LF"
        lines.append(
            "\(path): CSV, \(encoding), lines end with \(lineEnd), delimiter \(delimiter), \(reader.columns.count) columns"
        )
        if reader.headerLine > 1 { lines.append("  the header is in line \(reader.headerLine)") }
        if let duplicate = reader.duplicate(among: mapping.usedNames) {
            lines.append("  \(duplicate): rename one of them")
        }
        try explain(inventory, usual)
    }

    private mutating func explainObjects(_ opened: OpenedFile) throws(ImportError) {
        let usual: String
        let mapping: Mapping
        var reader: GeoJSONReader
        var converter: GDALProcess?
        if let input = opened.input {
            let beginning = opened.beginning
            isOverpass = beginning?.isOverpass == true
            namesReferenceSystem = beginning?.referenceSystem != nil
            usual = beginning?.mapping ?? "columns"
            mapping = try source.mapping(unlessNamed: usual)
            let (collections, objects) = (beginning?.collections ?? [], beginning?.objectsOfObjects ?? [])
            var shape = source.shape(unlessNamed: beginning?.shape)
            if let member = memberWithPlaces(among: collections, objects, unlessIn: shape) {
                found.layer = member
                shape = .collection(member)
                advise("--layer \(member.quotedForShell): the places are in a member")
            }
            reader = GeoJSONReader(input, mapping: mapping, shape: shape)
            let unknown = source.referenceSystem == nil ? beginning?.unknownSystem : nil
            if unknown != nil {
                found.referenceSystem = "EPSG:CODE"
                advise("--crs EPSG:CODE: \(ImportError.seeReferenceSystem)")
            }
            let system =
                source.referenceSystem ?? beginning?.referenceSystem ?? unknown.map {
                    "unknown, \($0.printable)"
                } ?? "degrees"
            lines.append("\(path): JSON, \(isOverpass ? "of Overpass, " : "")coordinates: \(system)")
            if case .collection(let member) = shape, (collections + objects).contains(member) {
                let members = collections.contains(member) ? collections : [member]
                lines.append("  members with places: \(members.map(\.printable).joined(separator: ", "))")
            }
        } else {
            let foreign = try GDALSource(path, source)
            usual = foreign.mapping ?? "columns"
            mapping = try source.mapping(unlessNamed: usual)
            let confinement = source.isUnconfined ? nil : try ConfinedGDAL(environment: source.environment)
            let process = try GDALProcess(
                path, foreign, mapping: mapping, source: source, confinement: confinement)
            converter = process
            let input = try ByteInput(descriptor: process.outputDescriptor, path: path, closes: true)
            reader = GeoJSONReader(input, mapping: mapping)
            lines.append(
                "\(path): \(foreign.drivers?.first ?? "a format") of GDAL, coordinates: degrees, by GDAL")
            if let hidden = foreign.sheets?.hidden, !hidden.isEmpty {
                lines.append(
                    "  hidden sheets, which aren't read unless --layer names one: "
                        + hidden.map(\.printable).joined(separator: ", "))
            }
            if foreign.isTable {
                try reader.findHeader(mapping, row: source.headerRow)
                if let row = reader.headerRow { lines.append("  the header is in row \(row)") }
            }
            explain(
                (try? GDALLayer.layers(path, foreign, source.environment, confinement)) ?? [],
                areAllRead: foreign.layerNames(source).isEmpty)
        }
        let inventory = try withExtendedLifetime(converter) { () throws(ImportError) in
            try FieldInventory(&reader, fieldCount: mapping.fieldNames.count)
        }
        // Before the next one begins.
        converter = nil
        try explain(inventory, usual)
    }

    /// The member that has the places, in an array or as the members of its object; nil where they may be where they are
    /// looked for.
    private func memberWithPlaces(
        among collections: [String], _ objects: [String], unlessIn shape: JSONShape
    ) -> String? {
        let candidates = collections + objects
        guard !candidates.isEmpty, source.layer == nil else { return nil }
        if case .collection(let member) = shape, collections.contains(member) { return nil }
        var candidate = found
        guard PlaceSample(candidate).lacksPositions else { return nil }
        let member = candidates.first { member in
            candidate.layer = member
            return PlaceSample(candidate).hasPositions
        }
        // A place may have objects of objects itself.
        return member ?? collections.first
    }

    /// Lists layers that aren't empty. What keeps `ogrinfo` from listing them keeps places from being read, which says why.
    private mutating func explain(_ layers: [GDALLayer], areAllRead: Bool) {
        let layers = layers.filter { $0.count != 0 }
        for layer in layers.prefix(Self.shownNames) {
            let count = layer.count.map { ", \($0) \($0 == 1 ? "feature" : "features")" } ?? ""
            let system = layer.referenceSystem.map { ", in \($0.prefix(100).printable)" } ?? ""
            lines.append("  layer \(layer.name.prefix(60).printable)\(count)\(system)")
        }
        if layers.count > 1, areAllRead {
            advise("--layer \(layers[0].name.quotedForShell): the places of one layer only, not of all")
            advise(
                "--column category=\(GDALLayer.field): the layer that each place is in (a folder, a sheet)")
        }
    }

    /// Says from which field each of a place's comes, and which is missing.
    private mutating func explain(_ inventory: FieldInventory, _ usualMapping: String) throws(ImportError) {
        guard inventory.rows > 0 else { return lines.append("  there are no rows") }
        if found.mapping == nil, usualMapping == "columns" { recognizeMapping(inventory) }
        let mapping = try found.mapping(unlessNamed: usualMapping)
        let sample = PlaceSample(found)
        var used: Set<String> = []
        for field in ImportField.allCases where field != .names && field != .otherNames {
            guard
                let names = mapping.origin(
                    of: field,
                    isThere: { name in
                        inventory.has(name) || name == "@id" && inventory.hasFeatureIDs
                            || name == GDALLayer.field
                            || field == .position && inventory.hasObject(name)
                    })
            else { continue }
            used.formUnion(names.map(\.asciiLowercased))
            let origin = names.isEmpty ? "a fixed text" : names.map(\.printable).joined(separator: ", ")
            lines.append("  \(field.rawValue.padded(to: 12))\(origin)")
        }
        func isThere(_ field: Int) -> Bool {
            inventory.has(mapping.fieldNames[field]) || mapping.fieldNames[field] == GDALLayer.field
        }
        for field in mapping.missingFields(where: isThere) {
            let isPosition = [.latitude, .longitude].contains(field)
            if isPosition, mapping.fieldNames.contains(where: inventory.hasObject), sample.hasPositions {
                continue
            }
            // In JSON they may be in a geometry.
            if isPosition, !isCSV, !sample.lacksPositions { continue }
            lines.append("  \(field.rawValue.padded(to: 12))not found")
            suggest(field, inventory)
        }
        suggestReferenceSystem(inventory, mapping, sample)
        let unused = inventory.fields.filter {
            !used.contains($0.name.asciiLowercased) && !mapping.hasNamesOrProperties(in: $0.name)
        }
        if !unused.isEmpty { lines.append("not used, with an example:") }
        for field in unused.prefix(Self.shownNames) {
            lines.append("  \(field.name.prefix(60).printable.padded(to: 24))\(field.examples.first ?? "")")
        }
        if unused.count > Self.shownNames { lines.append("  and \(unused.count - Self.shownNames) more") }
        lines += sample.lines
    }

    private mutating func advise(_ line: String) {
        if !advice.contains(line) { advice.append(line) }
    }

    private mutating func take(mapping name: String, _ reason: String) {
        found.mapping = name
        advise("--mapping \(name): \(reason)")
    }

    /// Suggests a column; nil is one that people have to find.
    private mutating func take(column: String?, as field: ImportField, _ reason: String) {
        let column = column ?? "COLUMN"
        found.columns[field] = column
        advise("--column \([field: column].option.quotedForShell): \(reason)")
    }

    private mutating func recognizeMapping(_ inventory: FieldInventory) {
        let known = [
            ("alltheplaces", ["@spider", "ref"], "All the Places"),
            ("foursquare", ["fsq_place_id", "fsq_category_labels"], "Foursquare"),
            ("foursquare", ["fsq_place_id", "fsq_category_labels.0"], "Foursquare"),
            ("gtfs", ["stop_id", "stop_lat", "stop_lon"], "GTFS"),
            ("overture", ["names.primary", "basic_category"], "Overture Maps"),
            ("overture", ["names.primary", "categories.primary"], "Overture Maps"),
        ]
        if let (name, _, source) = known.first(where: { $0.1.allSatisfy(inventory.has) }) {
            return take(mapping: name, "these are places of \(source)")
        }
        let tags = [
            "amenity", "shop", "tourism", "leisure", "highway", "historic", "railway", "natural", "man_made",
        ]
        if tags.count(where: inventory.has) >= 2 {
            take(mapping: "openstreetmap", "the fields are tags of OpenStreetMap")
        }
    }

    private mutating func suggest(_ field: ImportField, _ inventory: FieldInventory) {
        switch field {
        case .name:
            let words = ["name", "title", "label", "nom"]
            let texts = inventory.fields.filter { $0.numbers * 2 < $0.count && $0.positions == 0 }
            let named = texts.first { name in words.contains { name.name.asciiLowercased.hasSuffix($0) } }
            let likely = named ?? texts.max { $0.values.count < $1.values.count }
            take(column: likely?.name, as: .name, "the column that has the places' names")
        case .category:
            let fixed = "--set category=CATEGORY: all places are of one category, such as cafe or airport"
            guard let named = inventory.categories else {
                found.fixedTexts[.category] = "CATEGORY"
                advise(fixed)
                return advise("or --column category=COLUMN: the column that has each place's category")
            }
            let examples = Array(named.values.keys.sorted().prefix(3)).joined(separator: ", ")
            take(
                column: named.name, as: .category,
                "the column that has each place's category, such as \(examples)")
            advise("or \(fixed)")
        case .latitude, .longitude:
            if let position = inventory.fields.first(where: { $0.positions * 2 > $0.count }) {
                take(column: position.name, as: .position, "latitude and longitude in one column, or WKT")
            } else {
                take(column: nil, as: field, "the column that has the \(field)s, in degrees")
            }
        default: take(column: nil, as: field, "the column that has it")
        }
    }

    /// Recognises coordinates that can't be degrees.
    private mutating func suggestReferenceSystem(
        _ inventory: FieldInventory, _ mapping: Mapping, _ sample: PlaceSample
    ) {
        guard found.referenceSystem == nil, !namesReferenceSystem else { return }
        defer {
            if found.referenceSystem == nil, sample.areOutOfRange { takeReferenceSystem(isMercator: false) }
        }
        guard
            let y = mapping.origin(of: .latitude, isThere: inventory.has)?.first,
            let x = mapping.origin(of: .longitude, isThere: inventory.has)?.first
        else { return }
        func range(_ name: String) -> ClosedRange<Double>? {
            inventory.fields.first { $0.name.asciiLowercased == name.asciiLowercased }?.range
        }
        guard let eastings = range(x), let northings = range(y),
            max(abs(eastings.lowerBound), abs(eastings.upperBound)) > 400
                || max(abs(northings.lowerBound), abs(northings.upperBound)) > 400
        else { return }
        // Eastings of UTM are between these, in each of its zones; those of Web Mercator are all around the Earth.
        takeReferenceSystem(isMercator: eastings.lowerBound < 100_000 || eastings.upperBound > 900_000)
    }

    private mutating func takeReferenceSystem(isMercator: Bool) {
        found.referenceSystem = isMercator ? "EPSG:3857" : "EPSG:CODE"
        advise(
            isMercator
                ? "--crs EPSG:3857: positions are in metres, as in Web Mercator"
                : "--crs EPSG:CODE: positions are in metres; who publishes the file says in which system (such as EPSG:25832, "
                    + "UTM zone 32)")
    }

    package var description: String {
        let command = ["poi import"] + source.paths.map(\.quotedForShell) + destination + found.options
        return (lines + advice + ["next: \(command.joined(separator: " "))"]).joined(separator: "\n")
    }
}

extension Mapping {
    /// The names of the row's fields that a field of a place is made of; nil where no choice applies.
    func origin(of field: ImportField, isThere: (String) -> Bool) -> [String]? {
        let choice = self[field].first { $0.neededFields.allSatisfy { isThere(fieldNames[$0]) } }
        guard let choice else { return nil }
        var names: [String] = []
        for index in choice.fields where !names.contains(fieldNames[index]) && isThere(fieldNames[index]) {
            names.append(fieldNames[index])
        }
        return names
    }
}

extension StringProtocol {
    fileprivate func padded(to length: Int) -> String {
        String(self) + String(repeating: " ", count: Swift.max(1, length - count))
    }
}
