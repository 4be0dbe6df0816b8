import Bytes
import PointsOfInterestAPI

extension NearbyPlacesRequest {
    /// The query's parameters.
    package enum Parameter: FilteredParameter, Hashable {
        case lat, long, radius, limit, bbox
        case filter(PlaceFilter.Parameter)
        case properties, lang, cursor, ids, sort, near

        package init?(rawValue: Int) {
            switch rawValue {
            case 0: self = .lat
            case 1: self = .long
            case 2: self = .radius
            case 3: self = .limit
            case 4: self = .bbox
            case 5 + PlaceFilter.Parameter.count: self = .properties
            case 6 + PlaceFilter.Parameter.count: self = .lang
            case 7 + PlaceFilter.Parameter.count: self = .cursor
            case 8 + PlaceFilter.Parameter.count: self = .ids
            case 9 + PlaceFilter.Parameter.count: self = .sort
            case 10 + PlaceFilter.Parameter.count: self = .near
            default:
                guard let parameter = PlaceFilter.Parameter(rawValue: rawValue - 5) else { return nil }
                self = .filter(parameter)
            }
        }

        package var rawValue: Int {
            switch self {
            case .lat: 0
            case .long: 1
            case .radius: 2
            case .limit: 3
            case .bbox: 4
            case .filter(let parameter): 5 + parameter.rawValue
            case .properties: 5 + PlaceFilter.Parameter.count
            case .lang: 6 + PlaceFilter.Parameter.count
            case .cursor: 7 + PlaceFilter.Parameter.count
            case .ids: 8 + PlaceFilter.Parameter.count
            case .sort: 9 + PlaceFilter.Parameter.count
            case .near: 10 + PlaceFilter.Parameter.count
            }
        }

        package var name: StaticString {
            switch self {
            case .lat: "lat"
            case .long: "long"
            case .radius: "radius"
            case .limit: "limit"
            case .bbox: "bbox"
            case .filter(let parameter): parameter.name
            case .properties: "properties"
            case .lang: "lang"
            case .cursor: "cursor"
            case .ids: "ids"
            case .sort: "sort"
            case .near: "near"
            }
        }
    }

    /// Reads a raw query.
    ///
    /// - Parameters:
    ///   - query: the UTF-8 bytes of a request target after its `?`, still percent-encoded.
    ///   - ignored: parameters that a gateway adds, which are not read.
    ///   - vocabulary: the names that exist. It is only evaluated if the query has names; without it they aren't checked.
    package static func decode(
        query: some Collection<UInt8>, ignoring ignored: [ParameterPattern] = [],
        vocabulary: @autoclosure () -> FilterVocabulary? = nil
    ) throws(ParameterError) -> NearbyPlacesRequest {
        try withQueryBytes(query) { (bytes) throws(ParameterError) in
            try decode(query: bytes, ignoring: ignored, vocabulary: vocabulary())
        }
    }

    package static func decode(
        query bytes: UnsafeBufferPointer<UInt8>, ignoring ignored: [ParameterPattern],
        vocabulary: @autoclosure () -> FilterVocabulary?
    ) throws(ParameterError) -> NearbyPlacesRequest {
        var query = QueryDecoder<Parameter>(bytes, ignoring: ignored)
        if query.has(.ids) { return try decodeIDs(&query) }
        let hasBox = query.has(.bbox)
        let sort = query.has(.sort) ? query.sort(.sort) : nil
        if sort != nil { query.requireValue(of: .filter(.q), "must be given with sort=relevance") }
        let hasNear = query.has(.near)
        let needsCenter = sort == nil ? !hasBox : hasNear || !hasBox && query.has(.radius)
        let center =
            needsCenter
            ? query.coordinate(latitude: .lat, longitude: .long)
            : query.optionalCoordinate(latitude: .lat, longitude: .long)
        let radiusMeters = query.number(
            .radius, in: 0.nextUp...maximumRadiusMeters,
            "must be a number of metres above 0 and at most 20037508")
        if hasBox, query.has(.radius) {
            query.report(.radius, .conflictingParameters, "can't be given together with bbox")
        }
        let nearMeters = hasNear ? near(&query) : nil
        let limit = query.integer(.limit, in: limits, "must be a whole number from 1 to 100")
        let box = query.box(.bbox)
        let filter = query.filter(vocabulary())
        let content = query.content(properties: .properties, languages: .lang)
        let cursor = query.text(.cursor).map(PageCursor.init(rawValue:))
        let request = NearbyPlacesRequest(
            center: center, radiusMeters: radiusMeters, limit: limit, box: box, filter: filter,
            content: content, cursor: cursor, sort: sort, nearMeters: nearMeters)
        if cursor != nil { query.checkCursor(.cursor, of: request) }
        guard query.faults.isEmpty else { throw ParameterError(faults: query.faults) }
        return request
    }

    private static func near(_ query: inout QueryDecoder<Parameter>) -> Double? {
        if !query.has(.sort) {
            query.report(.near, .conflictingParameters, "can't be given without sort=relevance")
        }
        return query.number(
            .near, in: 0...maximumRadiusMeters, "must be a number of metres from 0 to 20037508")
    }

    /// Reads `ids`, a centre and what places come with, and refuses everything else.
    private static func decodeIDs(
        _ query: inout QueryDecoder<Parameter>
    ) throws(ParameterError) -> NearbyPlacesRequest {
        let ids = query.ids(.ids, atMost: maximumIDCount)
        let center = query.optionalCoordinate(latitude: .lat, longitude: .long)
        let content = query.content(properties: .properties, languages: .lang)
        for parameter in Parameter.allCases where query.has(parameter) {
            switch parameter {
            case .ids, .lat, .long, .properties, .lang: break
            case .radius, .limit, .bbox, .filter, .cursor, .sort, .near:
                query.report(parameter, .conflictingParameters, "can't be given together with ids")
            }
        }
        for property in query.properties {
            query.report(property.shown, .conflictingParameters, "can't be given together with ids")
        }
        guard query.faults.isEmpty else { throw ParameterError(faults: query.faults) }
        var request = NearbyPlacesRequest(ids: ids, center: center)
        request.content = content
        return request
    }

    /// By relevance, up to how many metres from the centre places are near; nil where none is.
    package var nearLimit: Double? {
        guard sort == .relevance, center != nil else { return nil }
        let meters = nearMeters ?? Self.defaultNearMeters
        return meters > 0 ? meters : nil
    }

    /// The coordinate that places are ordered by their distance from: the centre, else the box's middle; nil where there
    /// is neither.
    package var orderCenter: Coordinate? { center ?? box?.middle }

    /// The position that the page begins after; nil for the first page, and for a cursor that isn't this request's.
    package var start: PagePosition? {
        cursor.flatMap { cursor in try? cursor.start(in: self) }
    }
}

extension QueryDecoder {
    fileprivate mutating func checkCursor(_ parameter: Parameter, of request: NearbyPlacesRequest) {
        // With other faults, the query that the cursor has to match isn't known.
        guard let cursor = request.cursor, faults.isEmpty else { return }
        do {
            _ = try cursor.start(in: request)
        } catch {
            switch error {
            case .malformed:
                report(parameter, .malformedCursor, "must be a cursor from a Link header, unchanged")
            case .mismatch:
                report(parameter, .cursorMismatch, "belongs to another query")
            }
        }
    }
}

extension PlaceRequest {
    /// The query's parameters.
    package enum Parameter: Int, QueryParameter {
        case lat, long, lang

        package var name: StaticString {
            switch self {
            case .lat: "lat"
            case .long: "long"
            case .lang: "lang"
            }
        }
    }

    /// Reads the id from the path, and a raw query.
    ///
    /// - Parameters:
    ///   - id: the path's segment, percent-decoded.
    ///   - query: the UTF-8 bytes of a request target after its `?`, still percent-encoded.
    ///   - ignored: parameters that a gateway adds, which are not read.
    /// - Returns: nil where the segment is not an id: there is nothing at such a path.
    package static func decode(
        id: String, query: some Collection<UInt8>, ignoring ignored: [ParameterPattern] = []
    ) throws(ParameterError) -> PlaceRequest? {
        let request = try withQueryBytes(query) { (bytes) throws(ParameterError) in
            var query = QueryDecoder<Parameter>(bytes, ignoring: ignored)
            let center = query.optionalCoordinate(latitude: .lat, longitude: .long)
            let languages = query.languages(.lang)
            guard query.faults.isEmpty else { throw ParameterError(faults: query.faults) }
            return PlaceRequest(id: 0, center: center, languages: languages)
        }
        guard let number = Int(placeID: id) else { return nil }
        return PlaceRequest(id: number, center: request.center, languages: request.languages)
    }
}

extension CategoriesRequest {
    /// The query's parameters.
    package enum Parameter: Int, QueryParameter {
        case q, lang, words

        package var name: StaticString {
            switch self {
            case .q: "q"
            case .lang: "lang"
            case .words: "words"
            }
        }
    }

    /// Reads a raw query, as `PlaceRequest.decode` does.
    package static func decode(
        query: some Collection<UInt8>, ignoring ignored: [ParameterPattern] = []
    ) throws(ParameterError) -> CategoriesRequest {
        try withQueryBytes(query) { (bytes) throws(ParameterError) in
            var query = QueryDecoder<Parameter>(bytes, ignoring: ignored)
            let request = CategoriesRequest(
                searchText: query.searchText(.q), languages: query.languages(.lang),
                hasAllWords: query.all(.words))
            guard query.faults.isEmpty else { throw ParameterError(faults: query.faults) }
            return request
        }
    }
}

extension ClustersRequest {
    /// The query's parameters, in the order in which `encode(into:)` writes them.
    package enum Parameter: FilteredParameter, Hashable {
        case zoom, bbox
        case filter(PlaceFilter.Parameter)
        case properties, lang

        package init?(rawValue: Int) {
            switch rawValue {
            case 0: self = .zoom
            case 1: self = .bbox
            case 2 + PlaceFilter.Parameter.count: self = .properties
            case 3 + PlaceFilter.Parameter.count: self = .lang
            default:
                guard let parameter = PlaceFilter.Parameter(rawValue: rawValue - 2) else { return nil }
                self = .filter(parameter)
            }
        }

        package var rawValue: Int {
            switch self {
            case .zoom: 0
            case .bbox: 1
            case .filter(let parameter): 2 + parameter.rawValue
            case .properties: 2 + PlaceFilter.Parameter.count
            case .lang: 3 + PlaceFilter.Parameter.count
            }
        }

        package var name: StaticString {
            switch self {
            case .zoom: "zoom"
            case .bbox: "bbox"
            case .filter(let parameter): parameter.name
            case .properties: "properties"
            case .lang: "lang"
            }
        }
    }

    /// Reads a raw query whose names aren't checked.
    package static func decode(query: some Collection<UInt8>) throws(ParameterError) -> ClustersRequest {
        try withQueryBytes(query) { (bytes) throws(ParameterError) in
            try decode(query: bytes, ignoring: [], vocabulary: nil)
        }
    }

    /// Reads a raw query.
    ///
    /// - Parameters:
    ///   - bytes: the UTF-8 bytes of a request target after its `?`, still percent-encoded.
    ///   - ignored: parameters that a gateway adds, which are not read.
    ///   - vocabulary: the names that exist. It is only evaluated if the query has names; without it they aren't checked.
    package static func decode(
        query bytes: UnsafeBufferPointer<UInt8>, ignoring ignored: [ParameterPattern],
        vocabulary: @autoclosure () -> FilterVocabulary?
    ) throws(ParameterError) -> ClustersRequest {
        var query = QueryDecoder<Parameter>(bytes, ignoring: ignored)
        query.requireValue(of: .zoom)
        query.requireValue(of: .bbox)
        let zoom = query.integer(
            .zoom, in: zooms, "must be a whole number from \(zooms.lowerBound) to \(zooms.upperBound)")
        let box = query.box(.bbox)
        let filter = query.filter(vocabulary())
        let content = query.content(properties: .properties, languages: .lang)
        if let zoom, let box {
            let count = ClusterCells(box, zoom: zoom).count
            if count > maximumCellCount {
                query.report(
                    .zoom, .outOfRange,
                    "is too large for this bbox, which touches \(count) cells; at most \(maximumCellCount) are counted"
                )
            }
        }
        guard query.faults.isEmpty, let zoom, let box else { throw ParameterError(faults: query.faults) }
        return ClustersRequest(box: box, zoom: zoom, filter: filter, content: content)
    }
}

extension Int {
    /// A place's id. It has one spelling, so that a place has one URL: no sign, no leading zero.
    package init?(placeID text: String) {
        guard let number = Int(text), number > 0, String(number) == text else { return nil }
        self = number
    }
}

extension QueryDecoder {
    /// What places come with.
    fileprivate mutating func content(properties: Parameter, languages: Parameter) -> PlaceContent {
        // Most requests have neither.
        guard has(properties) || has(languages) else { return PlaceContent() }
        return PlaceContent(properties: propertyNames(properties), languages: self.languages(languages))
    }

    /// An order of places; nil where it has a fault.
    fileprivate mutating func sort(_ parameter: Parameter) -> PlaceSort? {
        let sort = withValue(of: parameter) { value in
            PlaceSort.allCases.first { value.isSame(as: $0.rawValue) }
        }
        if sort == .some(nil) { report(parameter, .unknownSort, "must be relevance, or left out") }
        return sort ?? nil
    }

    /// A comma-separated list of languages in lower case, each once, in the request's order; empty where the parameter is absent or
    /// has a fault. No tag has a comma, so escaped commas separate tags, too.
    fileprivate mutating func languages(_ parameter: Parameter) -> [String] {
        let maximumCount = NearbyPlacesRequest.maximumLanguageCount
        let list = withValue(of: parameter) { value in
            // One byte more than a tag may have is enough to see that it is too long.
            Self.list(value, atMost: maximumCount)?.map { Array($0.prefix(LanguageTag.maximumBytes + 1)) }
        }
        switch list {
        case nil: return []
        case .some(nil):
            report(parameter, .tooManyValues, "must name at most \(maximumCount) languages")
            return []
        case .some(let tags?):
            var languages: [String] = []
            for tag in tags {
                let text = String(decoding: tag, as: UTF8.self)
                if tag.isEmpty {
                    report(parameter, .emptyParameter, "must have a language between any two commas")
                } else if !LanguageTag.isWellFormed(tag) {
                    report(
                        parameter, .malformedLanguage,
                        "has \(Self.shown(text)), which is no language tag such as en or zh-Hant-TW")
                } else {
                    languages.append(text)
                }
            }
            return languages.uniqueLanguages
        }
    }

    /// A comma-separated list of names of properties, each once and in order; empty where the parameter is absent or has a
    /// fault. Commas that are escaped belong to a name.
    fileprivate mutating func propertyNames(_ parameter: Parameter) -> [String] {
        guard let value = encodedValue(of: parameter) else { return [] }
        let maximumCount = NearbyPlacesRequest.maximumPropertyCount
        guard let list = Self.list(value, atMost: maximumCount) else {
            report(parameter, .tooManyValues, "must name at most \(maximumCount) properties")
            return []
        }
        let names = list.map {
            String(decoding: (try? PercentEncoding.decode($0, plusIsSpace: true)) ?? Array($0), as: UTF8.self)
        }
        if names.contains("") {
            report(parameter, .emptyParameter, "must have a name between any two commas")
        }
        return names.uniqueInByteOrder
    }

    /// A comma-separated list of places' ids, each once and in order; empty where it has a fault.
    fileprivate mutating func ids(_ parameter: Parameter, atMost maximumCount: Int) -> [Int] {
        // One byte more than an id may have is enough to see that it is too long.
        let list = withValue(of: parameter) { value in
            Self.list(value, atMost: maximumCount)?.map { String(decoding: $0.prefix(20), as: UTF8.self) }
        }
        switch list {
        case nil: return []
        case .some(nil):
            report(parameter, .tooManyValues, "must name at most \(maximumCount) places")
            return []
        case .some(let texts?):
            let ids = texts.compactMap(Int.init(placeID:))
            guard ids.count == texts.count else {
                report(
                    parameter, .notAnInteger,
                    "must be ids of places, as they come in responses, with a comma between any two")
                return []
            }
            return Set(ids).sorted()
        }
    }
}
