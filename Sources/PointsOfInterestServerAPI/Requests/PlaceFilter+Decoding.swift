import Bytes
import PointsOfInterestAPI

extension PlaceFilter {
    /// A filter's parameters in a query, in the order in which `encode(into:)` writes them.
    package enum Parameter: Int, QueryParameter {
        case category, dataset, q, featured

        package var name: StaticString {
            switch self {
            case .category: "category"
            case .dataset: "dataset"
            case .q: "q"
            case .featured: "featured"
            }
        }

        /// How many there are.
        static var count: Int { Self.featured.rawValue + 1 }
    }
}

extension PlaceFilter {
    /// Whether it has names, which have to be in a vocabulary.
    package var hasNames: Bool { !categories.isEmpty || hasDatasets || hasPropertyFilters }
}

extension ParameterFault {
    /// Whether it is a name that the vocabulary doesn't have.
    package var isUnknownName: Bool {
        code == .unknownCategory || code == .unknownDataset || code == .unknownProperty
    }
}

protocol FilteredParameter: QueryParameter {
    static func filter(_ parameter: PlaceFilter.Parameter) -> Self
}

extension FilteredParameter {
    package static var hasProperties: Bool { true }
}

extension QueryDecoder {
    /// A text to search for; nil where the parameter is absent or has a fault.
    mutating func searchText(_ parameter: Parameter) -> String? {
        text(
            parameter, lengths: NearbyPlacesRequest.searchTextLengths,
            "must be a text of 1 to 100 characters")
    }
}

extension QueryDecoder where Parameter: FilteredParameter {
    /// Reads the filter, and reports the faults of its parameters.
    ///
    /// - Parameter vocabulary: the names that exist. It is only evaluated if the query has names; without it they aren't
    ///   checked.
    mutating func filter(_ vocabulary: @autoclosure () -> FilterVocabulary?) -> PlaceFilter {
        // Most requests have none.
        guard
            has(.filter(.category)) || has(.filter(.dataset)) || has(.filter(.q)) || has(.filter(.featured))
                || !properties.isEmpty
        else { return PlaceFilter() }
        let filter = PlaceFilter(
            categories: categories(
                .filter(.category), atMost: NearbyPlacesRequest.maximumCategoryCount,
                vocabulary()?.categories),
            datasets: datasets(
                .filter(.dataset), atMost: PlaceFilter.maximumDatasetCount, vocabulary()?.datasets),
            searchText: searchText(.filter(.q)),
            featured: flag(.filter(.featured)))
        return properties.isEmpty ? filter : adding(propertyFilters(vocabulary()?.properties), to: filter)
    }

    /// Few requests have such filters.
    @inline(never)
    private func adding(_ propertyFilters: [PropertyFilter], to filter: PlaceFilter) -> PlaceFilter {
        var filter = filter
        filter.propertyFilters = propertyFilters
        return filter
    }

    // MARK: Names

    /// A comma-separated list of categories, each once and in order; empty where the parameter is absent, can't be read
    /// or has too many names. No category has a comma, so escaped commas separate categories, too.
    private mutating func categories(
        _ parameter: Parameter, atMost maximumCount: Int, _ vocabulary: @autoclosure () -> NameVocabulary?
    ) -> [String] {
        let list = withValue(of: parameter) { value in
            // One byte more than a name may have is enough to see that it is too long.
            Self.list(value, atMost: maximumCount)?
                .map { String(decoding: $0.prefix(NameKind.category.maximumBytes + 1), as: UTF8.self) }
        }
        guard let list else { return [] }
        return names(in: list, of: .category, parameter, atMost: maximumCount, vocabulary())
    }

    /// A comma-separated list of datasets, each once and in order; empty where the parameter is absent, can't be read or
    /// has too many names. Commas that are escaped belong to a name.
    private mutating func datasets(
        _ parameter: Parameter, atMost maximumCount: Int, _ vocabulary: @autoclosure () -> NameVocabulary?
    ) -> [String] {
        guard let value = encodedValue(of: parameter) else { return [] }
        let list = Self.list(value, atMost: maximumCount)?
            // An escape takes three bytes.
            .map { $0.prefix(3 * NameKind.dataset.maximumBytes + 1) }
            .map { (try? PercentEncoding.decode($0, plusIsSpace: true)) ?? Array($0) }
            .map { String(decoding: $0.prefix(NameKind.dataset.maximumBytes + 1), as: UTF8.self) }
        return names(in: list, of: .dataset, parameter, atMost: maximumCount, vocabulary())
    }

    /// Each name once and in order, unless there are too many.
    private mutating func names(
        in list: [String]?, of kind: NameKind, _ parameter: Parameter, atMost maximumCount: Int,
        _ vocabulary: NameVocabulary?
    ) -> [String] {
        guard let list else {
            report(parameter, .tooManyValues, "must name at most \(maximumCount) \(kind.plural)")
            return []
        }
        let names = list.uniqueInByteOrder
        for name in names {
            if name.isEmpty {
                report(parameter, .emptyParameter, "must have a name between any two commas")
            } else if name.utf8.count > kind.maximumBytes || vocabulary?.contains(name) == false {
                let hint = vocabulary?.nearest(to: name).map { "; did you mean \($0)?" } ?? ""
                report(parameter, kind.unknown, "has no \(kind) \(Self.shown(name))\(hint)")
            }
        }
        return names
    }
}

/// The kind of the names in a list.
private enum NameKind {
    case category, dataset

    var plural: String {
        switch self {
        case .category: "categories"
        case .dataset: "datasets"
        }
    }

    /// The fault of a name that the vocabulary doesn't have.
    var unknown: ProblemCode {
        switch self {
        case .category: .unknownCategory
        case .dataset: .unknownDataset
        }
    }

    /// How many bytes a name has at most. A longer one is unknown, and is not looked up.
    var maximumBytes: Int {
        switch self {
        case .category: 100
        // A hundred characters, by the table's check.
        case .dataset: 400
        }
    }
}
