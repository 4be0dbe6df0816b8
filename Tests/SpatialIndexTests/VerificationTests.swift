import DifficultPlaces
import PointsOfInterestAPI
import Randomness
import Testing

@testable import SpatialIndex

@Suite("Comparing a snapshot with what its places are made from")
struct VerificationTests {
    /// What a place has, each of which may differ by itself.
    fileprivate enum Part: CaseIterable {
        case latitude, longitude, category, isFeatured, source, words, names, record, status, version
    }

    /// The places as they are read, one of them with another of its parts.
    private static func read(
        _ places: [TestPlace], _ vocabulary: IndexVocabulary, changing changed: Int64? = nil,
        _ part: Part? = nil
    ) -> IndexPartBuilder {
        var builder = IndexPartBuilder(expecting: places.count, vocabulary: vocabulary)
        for place in places.sorted(by: { $0.id < $1.id }) {
            let part = place.id == changed ? part : nil
            let other = place.category == "bar" ? "zoo" : "bar"
            guard let category = builder.category(named: part == .category ? other : place.category) else {
                continue
            }
            let source = part == .source ? IndexSource(dataset: "o", license: "o") : place.source
            let number = source.map { builder.number(of: $0) } ?? 0
            let addition = part == .words ? " d" : part == .names ? "\nx" : ""
            (place.foldedNames + Array(addition.utf8)).withUnsafeBufferPointer { names in
                place.record(changing: part).withUnsafeBytes { record in
                    var entry = IndexEntry(
                        id: place.id, latitude: place.position.latitude + (part == .latitude ? 1e-9 : 0),
                        longitude: place.position.longitude + (part == .longitude ? 1e-9 : 0),
                        category: category, isFeatured: place.isFeatured != (part == .isFeatured),
                        source: number, foldedNames: names, record: record)
                    entry.isListed = place.isListed
                    builder.add(entry)
                }
            }
        }
        return builder
    }

    /// A snapshot of several parts with places that were removed and replaced, and its places.
    private static func snapshot(
        using generator: inout SeededGenerator
    ) -> (IndexSnapshot, [TestPlace]) {
        var places = (0..<60).map { id in
            TestPlace(id: Int64(id * 3), at: .anywhere(using: &generator), using: &generator)
        }
        for index in places.indices {
            places[index].names = places[index].names.map { name in name.filter { $0 != "d" } }
        }
        let old = places.map { place in
            var place = place
            if place.id % 30 == 0 { place.isFeatured.toggle() }
            return place
        }
        let gone = TestPlace(id: 1000, at: .anywhere(using: &generator), using: &generator)
        let first = IndexSnapshot(part: .packing(old + [gone]), version: .revision(1))
        let changed = places.filter { $0.id % 30 == 0 }
        return (
            first.applying(
                removedIDs: [1000], added: .packing(changed, first.vocabulary), version: .revision(2)),
            places
        )
    }

    @Test("Equal places have no difference, and a change of any part of a place is found")
    func parts() {
        var generator = SeededGenerator()
        let (snapshot, places) = Self.snapshot(using: &generator)
        #expect(snapshot.partCount == 2)
        let all = Int64.min...Int64.max
        let none = snapshot.differences(in: all, from: Self.read(places, snapshot.vocabulary))
        #expect(none == IndexDifferences())
        for part in Part.allCases {
            for id in [Int64(0), 6, 9, 177] {
                let read = Self.read(places, snapshot.vocabulary, changing: id, part)
                let differences = snapshot.differences(in: all, from: read)
                #expect(differences.changedCount == 1 && differences.removedIDs == [], "\(part)")
            }
        }
    }

    @Test("Added and removed places are found within the compared range, and not beyond it")
    func range() {
        var generator = SeededGenerator()
        let (snapshot, places) = Self.snapshot(using: &generator)
        for range in [Int64.min...59, 60...62, 61...100, 170...Int64.max, 178...Int64.max] {
            let inside = places.filter { range.contains($0.id) }
            let removed = Set(inside.filter { _ in Bool.random(using: &generator) }.map(\.id))
            var read = inside.filter { !removed.contains($0.id) }
            let added = TestPlace(
                id: range.upperBound == .max ? 2000 : range.upperBound, at: .anywhere(using: &generator),
                using: &generator)
            let isNew = !inside.contains { $0.id == added.id }
            if isNew { read.append(added) }
            let differences = snapshot.differences(in: range, from: Self.read(read, snapshot.vocabulary))
            #expect(differences.removedIDs == removed.sorted(), "\(range)")
            #expect(differences.changedCount == (isNew ? 1 : 0), "\(range)")
        }
    }
}

extension TestPlace {
    /// The record of a place with another property that nobody filters by, or another version.
    fileprivate func record(changing part: VerificationTests.Part?) -> [UInt8] {
        var other = self
        switch part {
        case .status: other.operatingStatus = operatingStatus == nil ? .permanentlyClosed : nil
        case .version: other.version += 1
        case .record:
            let members = properties?.dropFirst().dropLast() ?? ""
            other.properties = "{\(members)\(members.isEmpty ? "" : ", ")\"unheard of\": 1}"
        default: break
        }
        return other.record
    }
}
