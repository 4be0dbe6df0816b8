/// The media types of a resource, and the choice among them by a request's `Accept` (RFC 9110 section 12.5.1).
///
/// The most specific range that matches a type decides its weight. The highest weight wins; of equal weights the first
/// type of the offer. Parameters of a range other than its weight are ignored, unless the same range is there without
/// parameters too: clients write `application/json; charset=utf-8` and mean `application/json`.
public struct MediaTypeOffer: Sendable {
    fileprivate struct MediaType {
        let name: String
        let typeLength: Int
    }

    /// How a range matches a type; higher is more specific.
    fileprivate enum Fit: Int, Comparable {
        case anything, anySubtype, exactWithParameters, exact

        static func < (left: Fit, right: Fit) -> Bool { left.rawValue < right.rawValue }
    }

    private let types: [MediaType]

    /// Offers types without parameters, for example `application/json`, the preferred one first.
    public init(_ types: [String]) {
        self.types = types.map { name in
            MediaType(name: name, typeLength: name.utf8.prefix { $0 != ASCII.slash }.count)
        }
    }

    /// The index of the type to respond with; nil if the client accepts none.
    ///
    /// A request without `Accept`, or with one that has no valid range, accepts everything.
    public func choice(for headers: HTTPHeaders) -> Int? {
        guard headers.contains(.accept) else { return 0 }
        var best: (index: Int, weight: Int)?
        for index in types.indices {
            guard let weight = types[index].weight(in: headers) else { return 0 }
            if weight > best?.weight ?? 0 { best = (index, weight) }
        }
        return best?.index
    }
}

extension MediaTypeOffer.MediaType {
    /// The weight of this type, 0…1000; nil if there is no valid range.
    fileprivate func weight(in headers: HTTPHeaders) -> Int? {
        var hasRange = false
        var best: (fit: MediaTypeOffer.Fit, weight: Int)?
        WeightedList.forEach(of: .accept, in: headers) { element in
            guard let slash = element.value.firstIndex(of: ASCII.slash), Self.isRange(element.value, slash)
            else { return }
            hasRange = true
            guard let fit = fit(of: element, slash: slash) else { return }
            if let best, (fit, element.weight) < best { return }
            best = (fit, element.weight)
        }
        return hasRange ? best?.weight ?? 0 : nil
    }

    private static func isRange(_ value: Slice<UnsafeRawBufferPointer>, _ slash: Int) -> Bool {
        slash > value.startIndex && slash + 1 < value.endIndex
            && value[..<slash].allSatisfy(ASCII.isToken) && value[(slash + 1)...].allSatisfy(ASCII.isToken)
    }

    private func fit(of element: WeightedList.Element, slash: Int) -> MediaTypeOffer.Fit? {
        let value = element.value
        if ASCII.equalIgnoringCase(value, name.utf8) {
            return element.hasParameters ? .exactWithParameters : .exact
        }
        guard value.endIndex - slash == 2, value[slash + 1] == ASCII.asterisk else { return nil }
        if slash - value.startIndex == 1, value[value.startIndex] == ASCII.asterisk { return .anything }
        guard slash - value.startIndex == typeLength,
            zip(value, name.utf8).prefix(typeLength).allSatisfy({ ASCII.lowercased($0) == $1 })
        else { return nil }
        return .anySubtype
    }
}
