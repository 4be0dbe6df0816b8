import SpatialIndex

/// Which dataset places were read from, and its position in the database's history.
package struct DatasetVersion: Hashable, Sendable {
    /// The name of the dataset, which entity tags are made from.
    package let datasetID: DatasetID
    /// The number of the transaction that made it; grows with each that changes places.
    package let revision: Int64
    /// The id of the history that the revision belongs to. A restore begins another history, and revisions of different
    /// histories can't be compared.
    package let incarnation: DatasetID

    /// Makes the version of a dataset.
    package init(datasetID: DatasetID, revision: Int64, incarnation: DatasetID) {
        self.datasetID = datasetID
        self.revision = revision
        self.incarnation = incarnation
    }

    /// Whether a reader that has seen `other` would go back in time by seeing this one: both are of one history, and
    /// this revision is smaller.
    package func isOlder(than other: DatasetVersion) -> Bool {
        incarnation == other.incarnation && revision < other.revision
    }
}

extension IndexVersion {
    /// The version of the dataset that these facts belong to, with the id that it is served by.
    package init(_ facts: ServedIndex.Facts) {
        self.init(
            revision: facts.version.revision, datasetIDHigh: facts.datasetID.high,
            datasetIDLow: facts.datasetID.low)
    }
}

/// What is known of a source dataset besides its places.
package struct DatasetFacts: Hashable, Sendable {
    let license: String
    let credit, url: String?

    /// Makes the facts of a source dataset: its license, the credit that a map has to show, and the address of a page
    /// about it.
    package init(license: String, credit: String?, url: String?) {
        self.license = license
        self.credit = credit
        self.url = url
    }
}
