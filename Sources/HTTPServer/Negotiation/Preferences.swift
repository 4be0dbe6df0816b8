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

/// Reads the lists of `Accept` and `Accept-Encoding`: elements with parameters, of which `q` is the weight (RFC 9110
/// section 12.4.2).
///
/// Lenient, as section 5.6.1 demands: empty elements are skipped, and so are elements whose weight isn't a number from
/// 0 to 1. Digits after the third are ignored.
enum WeightedList {
    struct Element {
        /// The element without its parameters and the blanks around it; not empty.
        let value: UnsafeRawBufferPointer
        /// Whether there are parameters before the weight.
        let hasParameters: Bool
        /// The weight in thousandths, 0…1000.
        let weight: Int
    }

    /// Calls a closure with each element of all fields of a kind, in order.
    static func forEach(of field: KnownField, in headers: HTTPHeaders, _ body: (Element) -> Void) {
        headers.forEachValue(of: field) { value in
            var rest = value
            while !rest.isEmpty {
                let element = takePart(of: &rest, upTo: ASCII.comma)
                if let element = Element(element) { body(element) }
            }
        }
    }

    /// Removes the bytes before the next unquoted separator, and the separator; returns the bytes.
    fileprivate static func takePart(
        of rest: inout UnsafeRawBufferPointer, upTo separator: UInt8
    ) -> UnsafeRawBufferPointer {
        var isQuoted = false
        var isEscaped = false
        var index = 0
        while index < rest.count {
            let byte = rest[index]
            if isEscaped {
                isEscaped = false
            } else if isQuoted, byte == UInt8(ascii: "\\") {
                isEscaped = true
            } else if byte == UInt8(ascii: "\"") {
                isQuoted.toggle()
            } else if byte == separator, !isQuoted {
                break
            }
            index &+= 1
        }
        let part = UnsafeRawBufferPointer(rebasing: rest[..<index])
        rest = UnsafeRawBufferPointer(rebasing: rest[min(index + 1, rest.count)...])
        return part
    }
}

extension WeightedList.Element {
    fileprivate init?(_ bytes: UnsafeRawBufferPointer) {
        var rest = bytes
        value = ASCII.trimmed(WeightedList.takePart(of: &rest, upTo: ASCII.semicolon))
        guard !value.isEmpty else { return nil }
        var hasParameters = false
        while !rest.isEmpty {
            let parameter = ASCII.trimmed(WeightedList.takePart(of: &rest, upTo: ASCII.semicolon))
            if parameter.isEmpty { continue }
            if ASCII.lowercased(parameter[0]) == UInt8(ascii: "q"), parameter.count > 1,
                parameter[1] == UInt8(ascii: "=")
            {
                let number = UnsafeRawBufferPointer(rebasing: parameter[2...])
                guard let weight = Self.weight(number) else { return nil }
                // Extensions may follow the weight; none was ever defined.
                self.weight = weight
                self.hasParameters = hasParameters
                return
            }
            hasParameters = true
        }
        self.weight = 1000
        self.hasParameters = hasParameters
    }

    /// Reads a number from 0 to 1, in thousandths; nil for anything else.
    private static func weight(_ bytes: UnsafeRawBufferPointer) -> Int? {
        guard !bytes.isEmpty, bytes[0] == ASCII.zero || bytes[0] == ASCII.zero + 1 else { return nil }
        var weight = Int(bytes[0] - ASCII.zero) * 1000
        guard bytes.count > 1 else { return weight }
        guard bytes[1] == ASCII.dot else { return nil }
        var place = 100
        for index in 2..<bytes.count {
            guard ASCII.isDigit(bytes[index]) else { return nil }
            weight += Int(bytes[index] - ASCII.zero) * place
            place /= 10
        }
        return weight <= 1000 ? weight : nil
    }
}
