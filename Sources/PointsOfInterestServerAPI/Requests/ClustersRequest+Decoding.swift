extension ClustersRequest {
    /// The query's parameters, in the order in which `encode(into:)` writes them.
    package enum Parameter: Int, QueryParameter {
        case zoom, bbox, category, q, featured

        package var name: StaticString {
            switch self {
            case .zoom: "zoom"
            case .bbox: "bbox"
            case .category: "category"
            case .q: "q"
            case .featured: "featured"
            }
        }
    }

    /// Reads a raw query.
    ///
    /// - Parameters:
    ///   - bytes: the UTF-8 bytes of a request target behind its `?`, still percent-encoded.
    ///   - ignored: parameters that a gateway adds, which are not read.
    ///   - vocabulary: the categories that have ever existed, looked up where the query has some; without it they aren't
    ///     checked.
    /// - Throws: every fault of the query at once.
    package static func decode(
        query bytes: UnsafeBufferPointer<UInt8>, ignoring ignored: [ParameterPattern],
        vocabulary: @autoclosure () -> CategoryVocabulary?
    ) throws(ParameterError) -> ClustersRequest {
        var query = QueryDecoder<Parameter>(bytes, ignoring: ignored)
        query.requireValue(of: .zoom)
        query.requireValue(of: .bbox)
        let zoom = query.integer(
            .zoom, in: zooms, "must be a whole number from \(zooms.lowerBound) to \(zooms.upperBound)")
        let box = query.box(.bbox)
        let categories = query.categories(
            .category, atMost: NearbyPlacesRequest.maximumCategoryCount, vocabulary())
        let searchText = query.text(
            .q, lengths: NearbyPlacesRequest.searchTextLengths, "must be a text of 1 to 100 characters")
        let featured = query.flag(.featured)
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
        return ClustersRequest(
            box: box, zoom: zoom, categories: categories, searchText: searchText, featured: featured)
    }
}
