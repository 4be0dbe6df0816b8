/// The media types of a resource, and the choice among them by a request's `Accept` (RFC 9110 section 12.5.1).
///
/// The most specific range that matches a type decides its weight. The highest weight wins; of equal weights the first
/// type of the offer. Parameters of a range other than its weight are ignored, unless the same range is there without
/// parameters too: clients write `application/json; charset=utf-8` and mean `application/json`.
public struct MediaTypeOffer: Sendable {
    private struct MediaType {
        let name: [UInt8]
        let typeLength: Int
    }

    private let types: [MediaType]

    /// Offers types without parameters, in lower case, for example `application/json`, the preferred one first.
    public init(_ types: [String]) {
        self.types = types.map { name in
            MediaType(name: Array(name.utf8), typeLength: name.utf8.prefix { $0 != ASCII.slash }.count)
        }
    }

    /// The index of the type to respond with; nil if the client accepts none.
    ///
    /// A request without `Accept`, or with one that has no valid range, accepts everything.
    public func choice(for headers: HTTPHeaders) -> Int? {
        guard headers.has(.accept) else { return 0 }
        return soleType(in: headers) ?? weighedType(in: headers)
    }

    /// The type where the one `Accept` is `*/*` or names that type and nothing else, as most clients write it; nil for any
    /// other request.
    private func soleType(in headers: HTTPHeaders) -> Int? {
        headers.withOnlyValue(of: .accept) { value in
            if ASCII.isLowercase("*/*", of: value) {
                return types.indices.first
            }
            return types.firstIndex { ASCII.isLowercase($0.name, of: value) }
        } ?? nil
    }

    /// The type with the highest weight; nil if all weights are 0. Reads the list once for all types.
    private func weighedType(in headers: HTTPHeaders) -> Int? {
        withUnsafeTemporaryAllocation(of: Score.self, capacity: types.count) { scores in
            scores.initialize(repeating: Score())
            var hasRange = false
            WeightedList.forEach(of: .accept, in: headers) { element in
                guard let range = MediaRange(element) else { return }
                hasRange = true
                for index in types.indices {
                    guard let fit = range.fit(types[index].name, typeLength: types[index].typeLength) else {
                        continue
                    }
                    scores[index] = max(scores[index], Score(fit: fit, weight: element.weight))
                }
            }
            guard hasRange else { return 0 }
            var best: (index: Int, weight: Int)?
            for index in types.indices where scores[index].weight > best?.weight ?? 0 {
                best = (index, scores[index].weight)
            }
            return best?.index
        }
    }
}

/// How well the ranges so far match a type: the most specific one, and its weight.
private struct Score: Comparable {
    private var fit = 0
    private(set) var weight = 0

    /// No range matches.
    init() {}

    init(fit: MediaRange.Fit, weight: Int) {
        self.fit = fit.rawValue
        self.weight = weight
    }

    static func < (left: Score, right: Score) -> Bool {
        left.fit != right.fit ? left.fit < right.fit : left.weight < right.weight
    }
}

/// A media range of an `Accept`: a type, `type/*` or `*/*`.
private struct MediaRange {
    /// How a range matches a type; higher is more specific.
    enum Fit: Int {
        case anything = 1
        case anySubtype, exactWithParameters, exact
    }

    private let value: UnsafeRawBufferPointer
    private let slash: Int
    private let hasParameters: Bool

    /// Reads an element of the list; nil if it is no media range.
    init?(_ element: WeightedList.Element) {
        value = element.value
        hasParameters = element.hasParameters
        var slash: Int?
        for index in 0..<value.count where !ASCII.isToken(value[index]) {
            guard slash == nil, value[index] == ASCII.slash else { return nil }
            slash = index
        }
        guard let slash, slash > 0, slash + 1 < value.count else { return nil }
        self.slash = slash
    }

    /// How the range matches a type; nil if it doesn't.
    func fit(_ name: [UInt8], typeLength: Int) -> Fit? {
        if ASCII.isLowercase(name, of: value) { return hasParameters ? .exactWithParameters : .exact }
        guard value.count - slash == 2, value[slash + 1] == ASCII.asterisk else { return nil }
        if slash == 1, value[0] == ASCII.asterisk { return .anything }
        guard slash == typeLength else { return nil }
        for index in 0..<slash where ASCII.lowercased(value[index]) != name[index] { return nil }
        return .anySubtype
    }
}
