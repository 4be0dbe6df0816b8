/// The media types of a resource, and the choice among them by a request's `Accept` (RFC 9110 section 12.5.1).
///
/// The most specific range that matches a type decides its weight. The highest weight wins; of equal weights the first
/// type of the offer. Parameters of a range other than its weight are ignored, unless the same range is there without
/// parameters too: clients write `application/json; charset=utf-8` and mean `application/json`.
package struct MediaTypeOffer: Sendable {
    private struct MediaType {
        let name: [UInt8]
        let typeLength: Int
    }

    private let types: [MediaType]

    /// Offers types without parameters, in lower case, for example `application/json`, the preferred one first.
    package init(_ types: [String]) {
        self.types = types.map { name in
            MediaType(name: Array(name.utf8), typeLength: name.utf8.prefix { $0 != ASCII.slash }.count)
        }
    }

    /// The index of the type to respond with; nil if the client accepts none. Without `Accept`, or with one that has no valid
    /// range, it accepts everything.
    package func choice(for headers: HTTPHeaders) -> Int? {
        guard headers.has(.accept) else { return 0 }
        return soleType(in: headers) ?? weighedType(in: headers)
    }

    /// Most clients write one `Accept` that is `*/*` or names a type and nothing else; nil for any other request.
    private func soleType(in headers: HTTPHeaders) -> Int? {
        headers.withOnlyValue(of: .accept) { value in
            if ASCII.isLowercase("*/*", of: value) { return types.indices.first }
            for index in types.indices where ASCII.isLowercase(types[index].name, of: value) { return index }
            return nil
        } ?? nil
    }

    private func weighedType(in headers: HTTPHeaders) -> Int? {
        var scores = [Score?](repeating: nil, count: types.count)
        var hasRange = false
        WeightedList.forEach(of: .accept, in: headers) { element in
            guard let range = MediaRange(element) else { return }
            hasRange = true
            for index in types.indices {
                guard let fit = range.fit(types[index].name, typeLength: types[index].typeLength) else {
                    continue
                }
                let score = Score(fit: fit, weight: element.weight)
                scores[index] = max(scores[index] ?? score, score)
            }
        }
        guard hasRange else { return 0 }
        var best: (index: Int, weight: Int)?
        for index in types.indices {
            guard let weight = scores[index]?.weight, weight > best?.weight ?? 0 else { continue }
            best = (index, weight)
        }
        return best?.index
    }
}

private struct Score: Comparable {
    let fit: MediaRange.Fit
    let weight: Int

    static func < (left: Score, right: Score) -> Bool {
        (left.fit.rawValue, left.weight) < (right.fit.rawValue, right.weight)
    }
}

/// A media range of an `Accept`: a type, `type/*` or `*/*`.
private struct MediaRange {
    /// How a range matches a type; higher is more specific.
    enum Fit: Int {
        case anything = 1
        case anySubtype, exactWithParameters, exact
    }

    private let element: WeightedList.Element
    private let slash: Int

    /// Reads an element of the list; nil if it is no media range.
    init?(_ element: WeightedList.Element) {
        self.element = element
        let value = element.value
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
        let value = element.value
        if ASCII.isLowercase(name, of: value) { return element.hasParameters ? .exactWithParameters : .exact }
        guard value.count - slash == 2, value[slash + 1] == ASCII.asterisk else { return nil }
        if slash == 1, value[0] == ASCII.asterisk { return .anything }
        guard slash == typeLength else { return nil }
        for index in 0..<slash where ASCII.lowercased(value[index]) != name[index] { return nil }
        return .anySubtype
    }
}
