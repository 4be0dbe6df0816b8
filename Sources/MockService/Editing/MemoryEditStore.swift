import Foundation
import Places
import PointsOfInterestAPI
import PointsOfInterestServerAPI
import SpatialIndex

/// A store of edits in memory, for the mock server and for tests: what `edit_place` of the migrations does, without a database.
/// Each edit is served at once.
///
/// An edit is one second later than the one before, beginning with a fixed time, and a version is one more than the one before:
/// so a test sees the same each time.
package final class MemoryEditStore: EditStore {
    private struct RequestKey: Hashable {
        let editor, text: String
    }

    private let index: ServedIndex
    private let fixtures: Fixtures
    /// Made by the first request, since most sessions edit nothing.
    private lazy var places = EditedPlaces(fixtures)
    /// The edits that had a key, so that one that is sent again isn't done again.
    private var requests: [RequestKey: (digest: String, outcome: EditOutcome)] = [:]

    /// Edits the places of fixtures, which `index` serves.
    package init(_ fixtures: Fixtures, servedBy index: ServedIndex) {
        (self.fixtures, self.index) = (fixtures, index)
    }

    package func record(of id: Int64) async throws(EditError) -> EditedPlace {
        try places.place(id, expecting: nil).record
    }

    package func edit(_ edit: PlaceEdit) async throws(EditError) -> EditOutcome {
        let key = edit.key.map { RequestKey(editor: edit.editor, text: $0.text) }
        if let key, let known = requests[key] {
            guard known.digest == edit.key?.digest else { throw .keyReused }
            return known.outcome
        }
        // A failed edit changes nothing.
        var edited = places
        let place = try edited.apply(edit)
        guard
            let revision = index.serve(
                edited.served, former: edited.former, categories: fixtures.categories,
                labels: fixtures.labels, properties: fixtures.properties)
        else { throw .failed(reason: "the places can't be served") }
        places = edited
        let outcome = EditOutcome(place?.record, revision: revision)
        if let key { requests[key] = (edit.key?.digest ?? "", outcome) }
        return outcome
    }

    package func versions(
        of id: Int64, from position: Int64?, count: Int
    ) async throws(EditError) -> VersionsPage {
        Self.page(try places.versions(of: id), from: position, count)
    }

    package func changes(
        in box: BoundingBox?, from position: Int64?, count: Int
    ) async throws(EditError) -> VersionsPage {
        Self.page(places.changes(in: box), from: position, count)
    }

    private static func page(
        _ all: [EditedPlaces.Item], from position: Int64?, _ count: Int
    ) -> VersionsPage {
        let items = all.filter { $0.position < position ?? .max }
        let page = items.prefix(count)
        return VersionsPage(items: page.map(\.json), next: items.count > count ? page.last?.position : nil)
    }

    package func close() async {}
}

/// The places of a mock, and what has become of them.
private struct EditedPlaces {
    /// What a place was before a change.
    private struct Version {
        let change: Int
        /// The order of all places' versions; a merge makes two in one change.
        let step: Int
        let who: String
        let place: EditedPlaceState
        let isRemoval: Bool
    }

    /// A change as a page has it, and the position of that page's end if it is the last one.
    struct Item {
        let position: Int64
        let json: [UInt8]
    }

    private let categories: NameVocabulary
    private var places: [Int64: EditedPlaceState]
    /// The removed places, and those that they were merged into.
    private var removed: [Int64: Int64?] = [:]
    /// The oldest first.
    private var versions: [Int64: [Version]] = [:]
    private var lastID: Int64
    private var changeCount = 0
    private var stepCount = 0

    /// 2026-12-01, at midnight.
    private static let beginning = 1_796_083_200

    init(_ fixtures: Fixtures) {
        categories = fixtures.categories
        let all = fixtures.places.map { EditedPlaceState($0) }
        places = Dictionary(uniqueKeysWithValues: all.map { ($0.id, $0) })
        lastID = all.map(\.id).max() ?? 0
    }

    /// In the order of their ids.
    var served: [PlaceFields] { places.values.sorted { $0.id < $1.id }.map(\.fields) }

    var former: FormerIDs { FormerIDs(Array(removed.keys), survivors: removed.compactMapValues(\.self)) }

    // MARK: Reading

    /// - Throws: where there is no such place, or it has another version.
    func place(_ id: Int64, expecting versions: [Int64]?) throws(EditError) -> EditedPlaceState {
        guard let place = places[id] else { throw absence(of: id) }
        try check(place.version, versions)
        return place
    }

    private func absence(of id: Int64) -> EditError {
        guard let survivor = removed[id] else { return .notFound }
        return survivor.map { .merged(into: $0) } ?? .gone
    }

    private func check(_ version: Int, _ expected: [Int64]?) throws(EditError) {
        guard expected?.contains(Int64(version)) ?? true else {
            throw .stale(version: Int64(version))
        }
    }

    /// The changes of a place, the newest first.
    func versions(of id: Int64) throws(EditError) -> [Item] {
        guard places[id] != nil || removed[id] != nil else { throw .notFound }
        return (versions[id] ?? []).indices.reversed().map { index in
            Item(position: position(id, index), json: document(id, index).inStoredOrder.json)
        }
    }

    /// The changes of all places that were in a box before or are there now, the newest first.
    func changes(in box: BoundingBox?) -> [Item] {
        versions.flatMap { id, all in
            all.indices.compactMap { index -> Item? in
                let (was, now) = (all[index].place, places[id])
                let isInBox = [was, now].contains { place in
                    guard let box else { return true }
                    return place?.isIn(box) ?? false
                }
                guard isInBox else { return nil }
                var document = document(id, index)
                document.append((now ?? was).placeOfChange)
                return Item(position: position(id, index), json: document.inStoredOrder.json)
            }
        }.sorted { $0.position > $1.position }
    }

    private func position(_ id: Int64, _ index: Int) -> Int64 { Int64(versions[id]?[index].step ?? 0) }

    private func document(_ id: Int64, _ index: Int) -> JSONValue.Object {
        let all = versions[id] ?? []
        let version = all[index]
        let next = index + 1 < all.count ? all[index + 1].place : places[id]
        let changes = version.isRemoval ? [:] : next.map { version.place.changes(until: $0) } ?? [:]
        return [
            "version": .integer(version.place.version),
            "changedAt": .string(EditedPlaceState.text(ofSeconds: Self.beginning + version.change)),
            "who": .string(version.who), "isRemoval": .boolean(version.isRemoval), "changes": changes,
        ]
    }

    // MARK: Editing

    /// - Returns: the place afterwards; nil where it was removed.
    mutating func apply(_ edit: PlaceEdit) throws(EditError) -> EditedPlaceState? {
        changeCount += 1
        // As the server names them, whose role is poi_edit.
        let who = "\(edit.editor) (poi_edit)"
        switch edit.action {
        case .create(let changes, let dataset, let license):
            return try create(changes, dataset, license)
        case .correct(let id, let changes):
            let place = try place(id, expecting: edit.expectedVersions)
            try changes.checkReadOnly(of: place.record)
            return try correct(place, place.patched(by: changes.values), changes.resets, who)
        case .remove(let id):
            remove(try place(id, expecting: edit.expectedVersions), who)
            return nil
        case .restore(let id, let version):
            return try restore(id, Int(version), edit.expectedVersions, who)
        case .merge(let id, let other):
            return try merge(id, into: other, edit.expectedVersions, who)
        }
    }

    private mutating func create(
        _ changes: PlaceChanges, _ dataset: String, _ license: String
    ) throws(EditError) -> EditedPlaceState {
        lastID += 1
        var place = EditedPlaceState(
            id: lastID, source: .init(dataset: dataset, id: String(lastID), license: license))
        place.set(changes.values)
        try add(&place)
        return place
    }

    private mutating func correct(
        _ place: EditedPlaceState, _ changes: [String: JSONValue], _ resets: [String], _ who: String
    ) throws(EditError) -> EditedPlaceState {
        let reset = place.sourceValues.filter { member in
            resets.contains { wanted in
                wanted == "*" || wanted == member.key || member.key.begins(with: wanted + ".")
            }
        }
        let source = place.sourceMembers
        var corrected = place
        corrected.set(reset.merging(changes) { $1 })
        if corrected.source != nil {
            for name in reset.keys { corrected.sourceValues[name] = nil }
            for name in changes.keys { corrected.sourceValues[name] = source[name] ?? .null }
        }
        return try write(corrected, insteadOf: place, who)
    }

    private mutating func remove(_ place: EditedPlaceState, mergedInto survivor: Int64? = nil, _ who: String)
    {
        keep(place, who, isRemoval: true)
        places[place.id] = nil
        removed.updateValue(survivor, forKey: place.id)
    }

    private mutating func restore(
        _ id: Int64, _ version: Int, _ expected: [Int64]?, _ who: String
    ) throws(EditError) -> EditedPlaceState {
        let old = versions[id] ?? []
        if removed[id] != nil {
            if let last = old.last(where: \.isRemoval) { try check(last.place.version, expected) }
        } else {
            _ = try place(id, expecting: expected)
        }
        guard let was = old.last(where: { $0.place.version == version })?.place else {
            guard let place = places[id], place.version == version else { throw .invalid([.unknownVersion]) }
            return place
        }
        guard let place = places[id] else {
            var place = was
            // Those of the place go on.
            place.version = old.last?.place.version ?? was.version
            try add(&place)
            removed[id] = nil
            return place
        }
        let (shown, source) = (was.members, place.sourceMembers)
        var restored = place
        restored.members = shown
        if place.source != nil {
            restored.sourceValues = [:]
            for name in Set(source.keys).union(shown.keys).union(was.sourceValues.keys)
            where was.sourceValues[name] != nil || shown[name] != source[name] {
                restored.sourceValues[name] = source[name] ?? .null
            }
        }
        return try write(restored, insteadOf: place, who)
    }

    private mutating func merge(
        _ id: Int64, into other: Int64, _ expected: [Int64]?, _ who: String
    ) throws(EditError) -> EditedPlaceState {
        guard places[id] != nil else { throw absence(of: id) }
        guard id != other, let survivor = places[other] else { throw .invalid([.noOtherPlace]) }
        let place = try place(id, expecting: expected)
        var changes = place.members.filter { name, _ in
            survivor.members[name] == nil
                && (["address", "website"].contains(name) || name.begins(with: "names.")
                    || name.begins(with: "properties."))
        }
        var both = survivor
        both.set(changes)
        var known = Set((both.shownNames + survivor.otherNames).map { $0.lowercased() })
        let added = ([place.members["name"]?.text ?? ""] + place.otherNames).filter {
            known.insert($0.lowercased()).inserted
        }
        if !added.isEmpty {
            changes["other_names"] = .array((survivor.otherNames + added).map { .string($0) })
        }
        let merged = try correct(survivor, changes, [], who)
        remove(place, mergedInto: other, who)
        for (removedID, into) in removed where into == id { removed.updateValue(other, forKey: removedID) }
        return merged
    }

    // MARK: Writing

    private mutating func add(_ place: inout EditedPlaceState) throws(EditError) {
        try place.check(categories)
        place.renew(atSeconds: Self.beginning + changeCount)
        places[place.id] = place
    }

    /// What is the same stays the same version.
    private mutating func write(
        _ place: EditedPlaceState, insteadOf old: EditedPlaceState, _ who: String
    ) throws(EditError) -> EditedPlaceState {
        guard place != old else { return old }
        try place.check(categories)
        keep(old, who, isRemoval: false)
        var place = place
        place.renew(atSeconds: Self.beginning + changeCount)
        places[place.id] = place
        return place
    }

    private mutating func keep(_ place: EditedPlaceState, _ who: String, isRemoval: Bool) {
        stepCount += 1
        versions[place.id, default: []].append(
            Version(change: changeCount, step: stepCount, who: who, place: place, isRemoval: isRemoval))
    }
}

extension PlaceChanges {
    /// The values by members' names in the database.
    fileprivate var values: [String: JSONValue] {
        (try? JSONDecoder().decode([String: JSONValue].self, from: Data(members))) ?? [:]
    }
}

extension PlaceChanges {
    /// Members that nobody edits have to be as they are.
    fileprivate func checkReadOnly(of place: EditedPlace) throws(EditError) {
        func decoded<Value: Decodable>(_: Value.Type, _ json: [UInt8]) -> Value? {
            try? JSONDecoder().decode(Value.self, from: Data(json))
        }
        let record = decoded(JSONValue.Object.self, place.json)
        // Escaped, a value may be six times as long as in the record.
        let wrong = readOnly.filter {
            $0.json.count > 6 * place.json.count
                || decoded(JSONValue.self, $0.json) != record?[$0.name] ?? .null
        }
        guard wrong.isEmpty else { throw .invalid(wrong.map { .readOnly($0.name) }) }
    }
}
