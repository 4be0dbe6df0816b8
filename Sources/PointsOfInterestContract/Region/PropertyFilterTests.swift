import Foundation
import PointsOfInterestClient
import Testing

@Suite("Filters by properties", .timeLimit(.minutes(2)))
struct PropertyFilterTests {
    private typealias Filters = (properties: [PropertyFilter], category: String?)

    /// Walks through the pages of filters, and notes where they don't have exactly the places that match.
    private func compare(
        sourceLocation: SourceLocation = #_sourceLocation, _ filters: (FilterablePlaces) -> [Filters]
    ) async throws {
        try await Region.compare(sourceLocation: sourceLocation) { region, differences in
            let known = try await FilterablePlaces(of: region)
            guard !known.filters.isEmpty else { throw NotShown(fact: .filterableProperty) }
            for (filters, category) in filters(known) {
                var request = NearbyPlacesRequest(
                    box: region.box, limit: 7, categories: category.map { [$0] } ?? [])
                request.propertyFilters = filters
                var found: [Int] = []
                for try await place in try await Service.client().allNearbyPlacesAsSent(request) {
                    found.append(place.id)
                }
                let matching = known.places.filter { place in
                    (category ?? place.category) == place.category
                        && filters.allSatisfy { known.admits(place, by: $0) }
                }
                differences.expect(
                    found.sorted(), is: matching.map(\.id).sorted(), "/locations?\(request.encodedQuery)")
            }
        }
    }

    @Test(
        "A filter finds the places that have one of its values, page by page, and no others",
        .contract(
            .invariant, in: .locations,
            otherwise: "A user who needs a lift is shown places without one, or isn't shown those with it."),
        .needs(.filterableProperty))
    func values() async throws {
        try await compare { known in (known.filters + known.emptyFilters).map { ([$0], nil) } }
    }

    @Test(
        "Several filters, and a filter with a category, find the places that match all",
        .contract(
            .invariant, in: .locations, otherwise: "Each further filter shows more places instead of fewer."),
        .needs(.filterableProperty))
    func combined() async throws {
        try await compare { known in
            let pairs = zip(known.filters, known.filters.reversed()).filter { $0.name < $1.name }
            return pairs.map { ([$0, $1], nil) }
                + known.filters.prefix(3).map { filter in
                    ([filter], known.places.first { known.admits($0, by: filter) }?.category)
                }
        }
    }

    @Test(
        "Texts are compared whole and by their letters, with accents written in either way",
        .contract(
            .invariant, in: .locations,
            otherwise: "A filter by a value that an app has read from a place doesn't find that place."),
        .needs(.filterableProperty))
    func texts() async throws {
        try await compare { known in
            known.filters.filter { !known.isBoolean($0.name) }.flatMap { filter -> [Filters] in
                let text = filter.values[0]
                let others = [
                    text.decomposedStringWithCanonicalMapping, text.uppercased(), text.lowercased(),
                    String(text.dropLast()), "\(text) ",
                ]
                return others.filter { (1...200).contains($0.unicodeScalars.count) }
                    .map { text -> Filters in ([PropertyFilter(filter.name, anyOf: [text])], nil) }
            }
        }
    }

    @Test(
        "Clusters count the places that match",
        .contract(
            .invariant, in: .clusters, otherwise: "A map shows more places than the list beside it."),
        .needs(.filterableProperty))
    func clusters() async throws {
        try await Region.compare { region, differences in
            let known = try await FilterablePlaces(of: region)
            for filter in known.filters + known.emptyFilters {
                let zoom = min(region.cellZoom + 5, ClustersRequest.zooms.upperBound)
                var request = ClustersRequest(box: region.box, zoom: zoom)
                request.propertyFilters = [filter]
                let found = Set(known.places.filter { known.admits($0, by: filter) }.map(\.id))
                try await region.compare(request, found: found, into: &differences)
            }
        }
    }

    @Test(
        "The next page is filtered as the first, in whatever order values and properties were named",
        .contract(
            .invariant, in: .locations,
            otherwise: "A list shows what was filtered out where the user scrolls on."),
        .needs(.filterableProperty))
    func nextPage() async throws {
        let names = try await Service.description().filterableProperties
        guard let name = names.first(where: { !$0.isBoolean })?.name else { return }
        var request = NearbyPlacesRequest(box: try .earth, limit: 1)
        let plain = try await Service.response(to: "/locations?\(request.encodedQuery)")
        request.propertyFilters = [PropertyFilter(name, anyOf: ["b", "a"])]
        let query = request.encodedQuery
        let one = try await Service.response(to: "/locations?\(query)")
        let other = try await Service.response(to: "/locations?" + query.replacing("=a,b", with: "=b%2Ca,b"))
        #expect(one.status == 200)
        #expect(one.header("ETag") == other.header("ETag"))
        #expect(one.header("ETag") == nil || one.header("ETag") != plain.header("ETag"))
    }

    @Test(
        "A property that can't be filtered by is refused, with its parameter",
        .contract(
            .invariant, .recorded, in: .problems,
            otherwise: "A misspelt filter is ignored, and the app shows what was not asked for."),
        arguments: [
            RefusedQuery("property.no_such_property=x", ["property.no_such_property": .unknownProperty]),
            RefusedQuery("property.=x", ["property.": .unknownProperty]),
            RefusedQuery(
                "property.no_such_property=x&property.no_such_property=y&limit=0",
                ["property.no_such_property": .repeatedParameter, "limit": .outOfRange]),
            RefusedQuery("property=x", ["property": .unknownParameter]),
        ])
    func refused(refused: RefusedQuery) async throws {
        for target in ["/locations?lat=0&long=0&", "/locations/clusters?zoom=0&bbox=0,0,1,1&"] {
            guard target.contains("lat") || !refused.query.contains("limit") else { continue }
            let problem = try #require(await Service.problem(of: target + refused.query))
            #expect(problem.status == 400)
            for (parameter, code) in refused.faults {
                #expect(problem.errors.contains { $0.parameter == parameter && $0.code == code })
            }
        }
    }

    @Test(
        "Values that a filter can't have are refused, and so is a misspelt name, with the right one",
        .contract(
            .invariant, in: .locations,
            otherwise: "A mistake in the app's filter looks like a list without places."),
        .needs(.filterableProperty))
    func values400() async throws {
        for property in try await Service.description().filterableProperties.prefix(5) {
            func expect(_ values: [String], _ code: ProblemCode) async throws {
                var request = NearbyPlacesRequest(box: try .earth)
                request.propertyFilters = [PropertyFilter(property.name, anyOf: values)]
                let problem = try #require(await Service.problem(of: "/locations?\(request.encodedQuery)"))
                #expect(problem.status == 400 && problem.code == code, "\(request.encodedQuery)")
                #expect(problem.errors.map(\.parameter) == ["property.\(property.name)"])
            }
            if property.isBoolean { try await expect(["yes"], .notABoolean) }
            try await expect(["a", ""], .emptyParameter)
            try await expect((1...21).map(String.init), .tooManyValues)
            try await expect([String(repeating: "a", count: 201)], .outOfRange)
            var request = NearbyPlacesRequest(box: try .earth)
            request.propertyFilters = [PropertyFilter(property.name + "x", anyOf: ["true"])]
            let names = try await Service.description().filterableProperties.map(\.name)
            guard property.name.utf8.count < 60, !names.contains(property.name + "x") else { continue }
            let problem = try #require(await Service.problem(of: "/locations?\(request.encodedQuery)"))
            #expect(problem.code == .unknownProperty)
            #expect(problem.errors.first?.detail.contains("did you mean property.") == true)
        }
    }
}

/// The places of a region with the properties that they can be filtered by, and filters that some of them match.
struct FilterablePlaces {
    /// The region's places, with those properties only.
    let places: [PointOfInterest]
    /// For each property at most three filters, each of which some place matches.
    let filters: [PropertyFilter]
    /// For each property a filter that no place matches, as all may match each of the others; none for a boolean of which
    /// places have both values.
    let emptyFilters: [PropertyFilter]
    private let booleans: Set<String>

    init(of region: Region) async throws {
        let properties = Array(try await Service.description().filterableProperties.prefix(8))
        booleans = Set(properties.filter(\.isBoolean).map(\.name))
        guard !properties.isEmpty else {
            (places, filters, emptyFilters) = ([], [], [])
            return
        }
        let places = try await region.places(properties: properties.map(\.name))
        self.places = places
        let filters = properties.flatMap { property in
            Self.values(of: property.name, isBoolean: property.isBoolean, in: places).map {
                PropertyFilter(property.name, anyOf: $0)
            }
        }
        self.filters = filters
        emptyFilters = properties.compactMap { property in
            let texts = property.isBoolean ? ["true", "false"] : ["no such value"]
            let known = Set(filters.filter { $0.name == property.name }.flatMap(\.values))
            return texts.first { !known.contains($0) }.map { PropertyFilter(property.name, anyOf: [$0]) }
        }
    }

    func isBoolean(_ name: String) -> Bool { booleans.contains(name) }

    /// Swift compares texts by canonical equivalence, which is comparing them in Normalization Form C.
    func admits(_ place: PointOfInterest, by filter: PropertyFilter) -> Bool {
        place.texts(of: filter.name, isBoolean: isBoolean(filter.name)).contains { text in
            filter.values.contains(text) && (1...200).contains(text.unicodeScalars.count)
        }
    }

    /// The most frequent value, another one, and several.
    private static func values(of name: String, isBoolean: Bool, in places: [PointOfInterest]) -> [[String]] {
        var counts: [String: Int] = [:]
        for text in places.flatMap({ $0.texts(of: name, isBoolean: isBoolean) }) {
            counts[text, default: 0] += 1
        }
        let frequent = counts.filter {
            !$0.key.contains(",") && (1...200).contains($0.key.unicodeScalars.count)
        }.sorted { ($1.value, $0.key) < ($0.value, $1.key) }.map(\.key)
        guard let first = frequent.first else { return [] }
        var values = [[first]]
        if let last = frequent.dropFirst().last { values.append([last]) }
        if frequent.count > 1 { values.append(Array(frequent.prefix(20))) }
        return values
    }
}

extension PointOfInterest {
    fileprivate func texts(of name: String, isBoolean: Bool) -> [String] {
        let values: [JSONValue]
        switch properties?[name] {
        case .array(let texts)? where !isBoolean: values = texts
        case let value?: values = [value]
        case nil: values = []
        }
        return values.compactMap { value in
            switch value {
            case .boolean(let isTrue): isBoolean ? (isTrue ? "true" : "false") : nil
            case .string(let text): isBoolean ? nil : text
            default: nil
            }
        }
    }
}
