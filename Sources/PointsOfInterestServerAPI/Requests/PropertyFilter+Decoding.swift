import Bytes
import PointsOfInterestAPI

struct PropertyParameter {
    /// The name of the property, decoded.
    let name: [UInt8]
    /// The value as it stands in the query.
    let value: [UInt8]
    /// The parameter as the detail of a fault shows it.
    let shown: String

    /// Nil where a parameter, decoded, has another name.
    init?(_ parameter: [UInt8], _ value: [UInt8]) {
        let prefix = PropertyFilter.prefix.description.utf8
        guard parameter.starts(with: prefix) else { return nil }
        name = Array(parameter.dropFirst(prefix.count))
        self.value = value
        let start = String(decoding: parameter.prefix(60), as: UTF8.self)
        shown = parameter.count > 60 ? start + "…" : start
    }
}

extension QueryDecoder where Parameter: FilteredParameter {
    /// Reads the parameters `property.NAME`, and reports their faults.
    ///
    /// - Parameter filterable: the properties that places can be filtered by. Nil where they aren't known: then any name is
    ///   taken, and any value.
    mutating func propertyFilters(_ filterable: FilterableProperties?) -> [PropertyFilter] {
        var filters: [PropertyFilter] = []
        var seen: Set<[UInt8]> = []
        for property in properties {
            if !seen.insert(property.name).inserted {
                report(property.shown, .repeatedParameter, "must be given once")
            } else if seen.count == PropertyFilter.maximumCount + 1 {
                report(
                    property.shown, .tooManyParameters,
                    "is one too many: a request filters by at most \(PropertyFilter.maximumCount) properties")
            } else if seen.count <= PropertyFilter.maximumCount,
                let filter = propertyFilter(property, filterable)
            {
                filters.append(filter)
            }
        }
        return filters.sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
    }

    /// Nil where it has a fault.
    private mutating func propertyFilter(
        _ property: PropertyParameter, _ filterable: FilterableProperties?
    ) -> PropertyFilter? {
        let name = String(decoding: property.name, as: UTF8.self)
        let kind = filterable?.kind(of: name)
        if let filterable, kind == nil {
            let hint = filterable.nearest(to: name).map { "; did you mean property.\($0)?" } ?? ""
            report(property.shown, .unknownProperty, "is no property that places can be filtered by\(hint)")
            return nil
        }
        do throws(PercentEncoding.Fault) {
            let values = values(
                of: property, try PercentEncoding.decode(property.value, plusIsSpace: true), kind)
            return values.map { PropertyFilter(name, anyOf: $0) }
        } catch {
            report(property.shown, .malformedEncoding, error.detail)
            return nil
        }
    }

    /// A comma-separated list of values, each once and in order; nil where it has a fault. Commas that are escaped separate
    /// values, too.
    private mutating func values(
        of property: PropertyParameter, _ text: [UInt8], _ kind: FilterableProperties.Kind?
    ) -> [String]? {
        guard !text.isEmpty else {
            report(property.shown, .emptyParameter, "must have a value")
            return nil
        }
        let maximumCount = PropertyFilter.maximumValueCount
        let list = Self.list(text, atMost: maximumCount)?.map { String(decoding: $0, as: UTF8.self) }
        guard let list else {
            report(property.shown, .tooManyValues, "must have at most \(maximumCount) values")
            return nil
        }
        let values = list.compactMap(PropertyFilter.compared)
        if list.contains(where: \.isEmpty) {
            report(property.shown, .emptyParameter, "must have a value between any two commas")
        } else if values.count < list.count {
            let maximum = PropertyFilter.valueLengths.upperBound
            report(property.shown, .outOfRange, "must have values of at most \(maximum) characters")
        } else if kind == .boolean, !values.allSatisfy({ $0 == "true" || $0 == "false" }) {
            report(property.shown, .notABoolean, "must be true or false")
        } else {
            return values.uniqueInByteOrder
        }
        return nil
    }
}
