import SpatialIndex

/// Which dataset places were read from, and where it stands among the others.
package struct DatasetVersion: Hashable, Sendable {
    /// The name of the dataset, which entity tags are made from.
    package let datasetID: DatasetID
    /// The number of the transaction that made it; grows with each that changes places.
    package let revision: Int64
    /// The name of the database's history: another one after a restore, whose revisions mean nothing to the former.
    package let incarnation: DatasetID

    /// Names a dataset of a history.
    package init(datasetID: DatasetID, revision: Int64, incarnation: DatasetID) {
        self.datasetID = datasetID
        self.revision = revision
        self.incarnation = incarnation
    }

    /// Whether a reader that has seen the other one would go back by seeing this one.
    package func isOlder(than other: DatasetVersion) -> Bool {
        incarnation == other.incarnation && revision < other.revision
    }
}

extension IndexVersion {
    /// The dataset that is known, by the id that it is served by.
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

    /// Says how a source dataset is licensed, whom it credits, and where it is.
    package init(license: String, credit: String?, url: String?) {
        self.license = license
        self.credit = credit
        self.url = url
    }
}
