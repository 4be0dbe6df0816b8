import PointsOfInterestAPI
import PointsOfInterestServerAPI
import Telemetry

/// Edits places, and knows what they were.
///
/// A store belongs to one loop and is used on its thread only.
package protocol EditStore: AnyObject {
    /// The place as its editors see it.
    func record(of id: Int64) async throws(EditError) -> EditedPlace

    /// Edits a place, and returns once that is durable.
    func edit(_ edit: PlaceEdit) async throws(EditError) -> EditOutcome

    /// What has changed a place, the newest first, also where it was removed.
    ///
    /// - Parameter position: where the page begins, of the page before; nil for the first.
    func versions(of id: Int64, from position: Int64?, count: Int) async throws(EditError) -> VersionsPage

    /// The newest changes that people have made, of places that were in a box before the change or are there now. A page may have
    /// few items or none although there are older ones.
    ///
    /// - Parameters:
    ///   - box: nil is everywhere.
    ///   - position: where the page begins, of the page before; nil for the first.
    func changes(
        in box: BoundingBox?, from position: Int64?, count: Int
    ) async throws(EditError) -> VersionsPage

    /// Adds the store's metrics, such as those of `DatabaseMetrics`, for its own loop.
    func collectMetrics(into snapshot: inout MetricsSnapshot)

    /// Closes the store. Has to end before its loop stops.
    func close() async
}

extension EditStore {
    package func collectMetrics(into snapshot: inout MetricsSnapshot) {}
}

/// What an editor does to a place.
package struct PlaceEdit: Sendable {
    package enum Action: Sendable {
        /// Makes a place of a dataset with a license.
        case create(PlaceChanges, dataset: String, license: String)
        case correct(Int64, PlaceChanges)
        case remove(Int64)
        case restore(Int64, version: Int64)
        case merge(Int64, into: Int64)
    }

    package let action: Action
    /// The versions, one of which the place has to have; nil for whatever there is.
    package let expectedVersions: [Int64]?
    /// Whose name the history gets.
    package let editor: String
    /// Makes it safe to send the edit again; nil where that isn't wanted.
    package let key: Key?

    /// The key of a request, and what it stands for.
    package struct Key: Hashable, Sendable {
        package let text: String
        /// A digest of the request's method, path and body.
        package let digest: String

        package init(text: String, digest: String) {
            self.text = text
            self.digest = digest
        }
    }

    package init(_ action: Action, expectedVersions: [Int64]?, editor: String, key: Key?) {
        self.action = action
        self.expectedVersions = expectedVersions
        self.editor = editor
        self.key = key
    }
}

/// A place as its editors see it.
package struct EditedPlace: Hashable, Sendable {
    package let id: Int64
    package let version: Int64
    /// The JSON of `EditablePlace`.
    package let json: [UInt8]

    package init(id: Int64, version: Int64, json: [UInt8]) {
        self.id = id
        self.version = version
        self.json = json
    }
}

package struct EditOutcome: Hashable, Sendable {
    /// The place afterwards; nil where it was removed.
    package let place: EditedPlace?
    /// A revision of the dataset that has the edit; nil where there are no revisions.
    package let revision: Int64?

    package init(_ place: EditedPlace?, revision: Int64? = nil) {
        self.place = place
        self.revision = revision
    }
}

/// Some of the changes of a place, or of all.
package struct VersionsPage: Hashable, Sendable {
    /// The JSON of a `PlaceVersion` each, or of a `RecentChange`.
    package let items: [[UInt8]]
    /// Where the next page begins; nil where there is none.
    package let next: Int64?

    package init(items: [[UInt8]], next: Int64?) {
        self.items = items
        self.next = next
    }
}

/// Why a place could not be edited or read. Nothing is changed, but for `unavailable`.
package enum EditError: Error, Hashable, Sendable {
    /// There never was a place with this id.
    case notFound
    case gone
    case merged(into: Int64)
    /// The place has another version than the expected one.
    case stale(version: Int64?)
    /// The content can't be the place's.
    case invalid([Problem.MemberFault])
    /// Another request had the same key.
    case keyReused
    /// The database can't be reached, or it isn't known whether it has the edit. `reason` is for the log.
    case unavailable(reason: String)
    /// Too many edits are waiting.
    case busy
    /// The store failed. `reason` is for the log.
    case failed(reason: String)
}

extension Problem.MemberFault {
    // What only a store finds wrong with an edit, since it knows the vocabulary, and what the place has already.

    package static let unknownCategory = Self(
        pointer: "/category", code: .malformed, detail: "must be a category of the service")
    package static let largeProperties = Self(
        pointer: "/properties", code: .tooLarge,
        detail: "must have at most 4096 bytes and three levels, all properties of the place together")
    package static let tooManyNames = Self(
        pointer: "/names", code: .tooLarge,
        detail: """
            must be at most 300 and have at most 8192 bytes together with otherNames, each language once
            """)
    package static let unknownVersion = Self(
        pointer: "/version", code: .outOfRange, detail: "must be one of the place's versions")
    package static func readOnly(_ member: String) -> Self {
        Self(
            pointer: JSONPointer.text(of: [member]), code: .readOnlyMember,
            detail: "can't be edited, and is another in the record")
    }
    package static let noOtherPlace = Self(
        pointer: "/into", code: .outOfRange, detail: "must be the id of another place that is there")
}
