/// A dataset that places came from, with its licence and credit: an item of the response to `GET /attributions`.
public struct Attribution: Hashable, Sendable, Codable {
    /// The dataset's name, as `PointOfInterest.Source` has it.
    public let dataset: String
    /// The licence of the data: an SPDX expression where there is one.
    public let license: String
    /// What the licence asks a map to show, where known.
    public let credit: String?
    /// A page about the dataset or its licence, where known; not necessarily a valid URL.
    public let url: String?
    /// How many places came from it.
    public let places: Int

    /// Makes an item.
    public init(dataset: String, license: String, credit: String? = nil, url: String? = nil, places: Int) {
        self.dataset = dataset
        self.license = license
        self.credit = credit
        self.url = url
        self.places = places
    }
}

extension JSONWriter {
    /// Writes the body of a response to `GET /attributions`.
    package mutating func value(_ attributions: [Attribution]) {
        beginArray()
        for attribution in attributions {
            beginObject()
            member("dataset", attribution.dataset)
            member("license", attribution.license)
            if let credit = attribution.credit { member("credit", credit) }
            if let url = attribution.url { member("url", url) }
            member("places", attribution.places)
            endObject()
        }
        endArray()
    }
}
