import DifficultPlaces
import Foundation
import Geodesy
import PointsOfInterestAPI
import PointsOfInterestServerAPI
import Randomness
import Testing

@testable import SpatialIndex

@Suite("A part as a file")
struct IndexFileTests {
    /// A file that is gone with the value.
    private final class TemporaryFile {
        let descriptor: Int32
        private let path = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
            .path

        init() { descriptor = open(path, O_RDWR | O_CREAT | O_EXCL, 0o600) }

        deinit {
            close(descriptor)
            unlink(path)
        }

        var content: [UInt8] { (try? Data(contentsOf: URL(fileURLWithPath: path))).map(Array.init) ?? [] }

        func replace(with content: [UInt8]) {
            ftruncate(descriptor, 0)
            pwrite(descriptor, content, content.count, 0)
        }
    }

    private static func part(_ count: Int = 2000) -> IndexPart {
        var generator = SeededGenerator(seed: 7)
        let focus = Coordinate.anywhere(using: &generator)
        return .packing(SnapshotTests.places(0..<Int64(count), around: focus, using: &generator))
    }

    private static func contents(of part: IndexPart) -> [[UInt8]] {
        part.columns.memory.map { Array($0.content) }
    }

    private func read(_ file: TemporaryFile) throws(IndexFile.Fault) -> (part: IndexPart, notes: [UInt8]) {
        try IndexFile.read(from: file.descriptor, maximumBytes: 1 << 30)
    }

    @Test("What is read is what was written, with vocabulary and notes", arguments: [0, 1, 17, 2000])
    func roundTrip(count: Int) throws {
        let (part, file) = (Self.part(count), TemporaryFile())
        let size = try IndexFile.write(part, notes: [1, 2, 3], to: file.descriptor)
        #expect(size == file.content.count)
        let (readPart, notes) = try read(file)
        #expect(notes == [1, 2, 3])
        #expect(readPart.vocabulary == part.vocabulary)
        #expect(readPart.placeCount == count)
        #expect(Self.contents(of: readPart) == Self.contents(of: part))
        let center = try Coordinate(latitude: 1, longitude: 2)
        let query = IndexQuery(ranking: Ranking(center: center, radiusMeters: nil, limit: 21))
        let pages = [part, readPart].map {
            IndexSnapshot(part: $0, version: .revision(1)).search(query)?.placed.map(\.id)
        }
        #expect(pages[0] == pages[1])
    }

    @Test("The same places make the same bytes: nothing else that was in memory is in a file")
    func sameBytes() throws {
        let files = [TemporaryFile(), TemporaryFile()]
        for file in files {
            _ = try IndexFile.write(Self.part(), notes: [], to: file.descriptor)
            // Memory that the next part gets has something in it.
            let used = (0..<64).map { _ in [UInt8](repeating: 0xA5, count: .random(in: 1...200_000)) }
            #expect(used.allSatisfy { $0.last == 0xA5 })
        }
        let isSame = files[0].content == files[1].content
        #expect(isSame)
    }

    @Test("A file that was changed, cut, or filled with anything is never taken for what was written")
    func damage() throws {
        let (part, file) = (Self.part(), TemporaryFile())
        _ = try IndexFile.write(part, notes: [9], to: file.descriptor)
        let (content, contents) = (file.content, Self.contents(of: part))
        var generator = SeededGenerator()
        for round in 0..<500 {
            var changed = content
            switch round % 5 {
            case 0: changed.removeLast(.random(in: 1...changed.count, using: &generator))
            case 1:
                changed = (0..<Int.random(in: 0..<10_000, using: &generator)).map { _ in generator.next8() }
            case 2:
                changed[.random(in: 0..<64, using: &generator)] ^=
                    1 << UInt8.random(in: 0..<8, using: &generator)
            default:
                for _ in 0..<Int.random(in: 1...8, using: &generator) {
                    changed[.random(in: changed.indices, using: &generator)] ^= 0x80
                }
            }
            guard changed != content else { continue }
            file.replace(with: changed)
            // Between the columns are bytes that nobody reads.
            if let found = try? read(file) { #expect(Self.contents(of: found.part) == contents) }
        }
        file.replace(with: Array(content.dropLast()))
        #expect(throws: IndexFile.Fault.damaged) { _ = try read(file) }
    }

    @Test("The file of another program is named as such, and places that take too much memory are refused")
    func others() throws {
        let file = TemporaryFile()
        _ = try IndexFile.write(Self.part(), notes: [], to: file.descriptor)
        #expect(throws: IndexFile.Fault.self) {
            _ = try IndexFile.read(from: file.descriptor, maximumBytes: 1000)
        }
        var content = file.content
        content[8] = 99
        file.replace(with: content)
        #expect(throws: IndexFile.Fault.foreign(what: "format, which is 99,")) { _ = try read(file) }
        content[0] = 0
        file.replace(with: content)
        #expect(throws: IndexFile.Fault.foreign(what: "kind of file")) { _ = try read(file) }
    }

    @Test("Writing ends early where it is cancelled, and what it left is no file")
    func cancelled() throws {
        let file = TemporaryFile()
        #expect(
            try IndexFile.write(Self.part(), notes: [], to: file.descriptor, isCancelled: { true }) == nil)
        #expect(throws: IndexFile.Fault.foreign(what: "kind of file")) { _ = try read(file) }
    }

    @Test("The format's number stands for what is in the columns")
    func format() {
        // Whoever changes records, the folding or the packing adds a format to `IndexFile.formats`, and writes down here what
        // these places make now.
        let sums = Self.contents(of: Self.part()).map { $0.withUnsafeBytes { IndexFile.sum($0) } }
        let sum = sums.withUnsafeBytes { IndexFile.sum($0) }
        #expect(IndexFile.formats.upperBound == 4)
        #expect(sum == 14_698_616_664_597_813_197)
    }
}

extension SeededGenerator {
    fileprivate mutating func next8() -> UInt8 { UInt8(truncatingIfNeeded: next()) }
}
