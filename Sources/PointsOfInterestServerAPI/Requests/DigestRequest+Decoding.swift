import PointsOfInterestAPI

extension DigestRequest {
    /// The query's parameters, in the order in which `encode(into:)` writes them.
    package enum Parameter: FilteredParameter, Hashable {
        case bbox
        case filter(PlaceFilter.Parameter)
        case group, bucket, places, names

        package init?(rawValue: Int) {
            switch rawValue {
            case 0: self = .bbox
            case 1 + PlaceFilter.Parameter.count: self = .group
            case 2 + PlaceFilter.Parameter.count: self = .bucket
            case 3 + PlaceFilter.Parameter.count: self = .places
            case 4 + PlaceFilter.Parameter.count: self = .names
            default:
                guard let parameter = PlaceFilter.Parameter(rawValue: rawValue - 1) else { return nil }
                self = .filter(parameter)
            }
        }

        package var rawValue: Int {
            switch self {
            case .bbox: 0
            case .filter(let parameter): 1 + parameter.rawValue
            case .group: 1 + PlaceFilter.Parameter.count
            case .bucket: 2 + PlaceFilter.Parameter.count
            case .places: 3 + PlaceFilter.Parameter.count
            case .names: 4 + PlaceFilter.Parameter.count
            }
        }

        package var name: StaticString {
            switch self {
            case .bbox: "bbox"
            case .filter(let parameter): parameter.name
            case .group: "group"
            case .bucket: "bucket"
            case .places: "places"
            case .names: "names"
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
    ) throws(ParameterError) -> DigestRequest {
        try withQueryBytes(query) { (bytes) throws(ParameterError) in
            try QueryDecoder<Parameter>(bytes, ignoring: ignored).request(vocabulary())
        }
    }
}

extension QueryDecoder<DigestRequest.Parameter> {
    fileprivate consuming func request(_ vocabulary: FilterVocabulary?) throws(ParameterError)
        -> DigestRequest
    {
        var query = self
        let box = query.box(.bbox)
        let filter = query.filter(vocabulary)
        if query.has(.filter(.q)) {
            query.report(.filter(.q), .conflictingParameters, "can't be given: a digest searches no text")
        }
        let groups = query.groups(.group)
        let buckets = query.buckets(.bucket)
        let hasPlaces = query.flag(.places) ?? false
        if query.has(.group), query.has(.bucket) {
            query.report(.bucket, .conflictingParameters, "can't be given together with group")
        }
        if hasPlaces, query.has(.bucket) || groups.map({ $0.count != 1 }) ?? !query.has(.group) {
            query.report(.places, .conflictingParameters, "must be given with one group, and no bucket")
        }
        let asksForPlaces = hasPlaces || query.has(.bucket)
        let hasAllNames = query.all(.names)
        if hasAllNames, !asksForPlaces {
            query.report(.names, .conflictingParameters, "must be given with bucket or places")
        }
        guard query.faults.isEmpty else { throw ParameterError(faults: query.faults) }
        let part: DigestRequest.Part =
            if let buckets {
                .buckets(buckets)
            } else if let groups {
                hasPlaces ? .places(group: groups[0]) : .groups(groups)
            } else {
                .root
            }
        return DigestRequest(box: box, filter: filter, part: part, hasAllNames: hasAllNames)
    }
}

extension QueryDecoder {
    /// Numbers of groups, each once and in order; nil where the parameter is absent or has a fault.
    fileprivate mutating func groups(_ parameter: Parameter) -> [Int]? {
        parts(parameter, "must be numbers from 0 to 63") { text in
            Int(text).flatMap { (0..<PlaceDigest.groupCount).contains($0) && "\($0)" == text ? $0 : nil }
        }
    }

    /// The same of buckets.
    fileprivate mutating func buckets(_ parameter: Parameter) -> [Int]? {
        parts(parameter, "must be buckets such as 5.60") { PlaceDigest.bucket(named: $0) }
    }

    private mutating func parts(
        _ parameter: Parameter, _ rule: String, _ number: (String) -> Int?
    ) -> [Int]? {
        guard let text = text(parameter) else { return nil }
        guard let items = Self.list(text.utf8, atMost: DigestRequest.maximumPartCount) else {
            report(parameter, .tooManyValues, "\(rule), at most \(DigestRequest.maximumPartCount)")
            return nil
        }
        let numbers = items.compactMap { number(String(Substring($0))) }
        guard numbers.count == items.count else {
            report(parameter, .outOfRange, rule)
            return nil
        }
        return Set(numbers).sorted()
    }
}
