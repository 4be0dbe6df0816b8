import Dispatch
import Foundation
import Locking
import PointsOfInterestServerAPI

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// A part as a file, from which a process has its places without asking the database.
///
/// A page of 4,096 bytes, with the head and the stamp, is followed by the part's columns as they are in memory, each from a
/// multiple of 4,096 on, and at the end by the sums of their blocks and a description in JSON: the columns' sizes, the
/// vocabulary, and what the caller adds. The head is written last. Every byte that is used was summed up before, so a file can't
/// hold anything but what was written.
package enum IndexFile {
    /// Why a file can't be written or read.
    package enum Fault: Error, Hashable, CustomStringConvertible {
        /// A system call failed with this `errno`.
        case system(call: String, code: Int32)
        /// It isn't what was written: cut, or with other bytes.
        case damaged
        /// It was written by another program: `what` differs.
        case foreign(what: String)
        /// Its places take this much memory, in bytes, which is more than they may.
        case tooLarge(bytes: Int)

        package var description: String {
            switch self {
            case .system(let call, let code): "\(call): \(String(cString: strerror(code)))"
            case .damaged: "it isn't what was written"
            case .foreign(let what): "another program wrote it: the \(what) differs"
            case .tooLarge(let bytes): "its places take \(bytes >> 20) MiB"
            }
        }
    }

    /// The formats that this program reads, the last of which it writes: its own and that of the release before, if that has all
    /// that responses have. Format 3 lacks the hashes of contents, and is refused. What is in the columns belongs to the format, too: records, the folding of names, the order of kinds.
    static let formats: ClosedRange<UInt64> = 4...4

    static let alignment = 4096
    /// The bytes of a block, which has a sum.
    static let blockSize = 4 << 20

    /// The first bytes of a file.
    struct Head: BitwiseCopyable {
        /// "poi file", which is another number where the order of bytes is another one.
        static let magic: UInt64 = 0x656C_6966_2069_6F70

        var magic = Head.magic
        var format = IndexFile.formats.upperBound
        /// Where the sums of blocks begin, how many there are, and how many bytes the description behind them has.
        var sumsStart, sumCount, descriptionCount: UInt64
        /// The sum of the sums and the description.
        var endSum: UInt64
        /// The sum of the head before this.
        var sum: UInt64 = 0

        func summedUp() -> Head {
            var head = self
            head.sum = withUnsafeBytes(of: self) {
                IndexFile.sum(UnsafeRawBufferPointer(rebasing: $0.dropLast(8)))
            }
            return head
        }
    }

    /// What the file says about itself.
    struct Description: Codable {
        struct Column: Codable, Equatable {
            var stride, count: Int
        }

        struct Property: Codable {
            var name, kind: String
        }

        struct Source: Codable {
            var dataset, license: String
        }

        var placeCount: Int
        var listedCount: Int
        var columns: [Column]
        var categories: [String]
        var sources: [Source]
        var properties: [Property]
        var notes: Data
    }

    /// Sums up bytes: four FNV-1a hashes of 64 bits side by side, over words of 8 bytes, with a rotation so that no two changed
    /// bits cancel each other out for sure. It finds damage; it is no protection from somebody who may write the file.
    static func sum(_ bytes: UnsafeRawBufferPointer, from start: UInt64 = 0) -> UInt64 {
        let prime: UInt64 = 0x9E37_79B9_7F4A_7C15
        func mix(_ hash: UInt64, _ word: UInt64) -> UInt64 {
            let mixed = hash ^ word
            return (mixed << 29 | mixed >> 35) &* prime
        }
        var (a, b, c, d) = (start, start ^ 1, start ^ 2, start ^ 3)
        let whole = bytes.count & ~31
        var offset = 0
        while offset < whole {
            a = mix(a, bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
            b = mix(b, bytes.loadUnaligned(fromByteOffset: offset + 8, as: UInt64.self))
            c = mix(c, bytes.loadUnaligned(fromByteOffset: offset + 16, as: UInt64.self))
            d = mix(d, bytes.loadUnaligned(fromByteOffset: offset + 24, as: UInt64.self))
            offset += 32
        }
        for byte in bytes[whole...] { a = mix(a, UInt64(byte)) }
        return [b, c, d, UInt64(bytes.count)].reduce(a, mix)
    }

    /// The same of an array.
    package static func sum(of bytes: [UInt8]) -> UInt64 { bytes.withUnsafeBytes { sum($0) } }

    static func aligned(_ offset: Int) -> Int { (offset + alignment - 1) & ~(alignment - 1) }

    /// The parts of a range of bytes that have sums.
    fileprivate static func blocks(of count: Int) -> [Range<Int>] {
        stride(from: 0, to: count, by: blockSize).map { $0..<min(count, $0 + blockSize) }
    }
}

// MARK: - Writing

extension IndexFile {
    /// Writes a part to an empty file; the caller syncs and names it. Blocks for seconds.
    ///
    /// - Parameters:
    ///   - notes: what the caller wants to find beside the places.
    ///   - isCancelled: asked before each block.
    /// - Returns: the file's size in bytes; nil where it was cancelled.
    package static func write(
        _ part: IndexPart, notes: [UInt8], to descriptor: Int32, isCancelled: () -> Bool = { false }
    ) throws(Fault) -> Int? {
        let memory = part.columns.memory
        let description = try encoded(part, notes)
        let blockCount = memory.reduce(0) { $0 + blocks(of: $1.content.count).count }
        let sumsStart = memory.reduce(alignment) { aligned($0 + $1.content.count) }
        let size = sumsStart + 8 * blockCount + description.count
        try reserve(size, descriptor)
        var (offset, end) = (alignment, Column<UInt8>(capacity: 8 * blockCount + description.count))
        defer { end.free() }
        for column in memory {
            let content = UnsafeRawBufferPointer(column.content)
            for range in blocks(of: content.count) {
                if isCancelled() { return nil }
                let block = UnsafeRawBufferPointer(rebasing: content[range])
                withUnsafeBytes(of: sum(block)) { end.append($0.assumingMemoryBound(to: UInt8.self)) }
                try write(block, at: offset + range.lowerBound, descriptor)
            }
            offset = aligned(offset + content.count)
        }
        for byte in description { end.append(byte) }
        let head = Head(
            sumsStart: UInt64(sumsStart), sumCount: UInt64(blockCount),
            descriptionCount: UInt64(description.count), endSum: sum(UnsafeRawBufferPointer(end.content)))
        try write(UnsafeRawBufferPointer(end.content), at: sumsStart, descriptor)
        try withUnsafeBytes(of: head.summedUp()) { bytes throws(Fault) in try write(bytes, at: 0, descriptor)
        }
        return size
    }

    private static func encoded(_ part: IndexPart, _ notes: [UInt8]) throws(Fault) -> Data {
        let description = Description(
            placeCount: part.placeCount,
            listedCount: part.columns.listedCount,
            columns: part.columns.memory.map {
                .init(stride: $0.stride, count: $0.content.count / $0.stride)
            },
            categories: part.vocabulary.names,
            sources: part.vocabulary.sources.map { .init(dataset: $0.dataset, license: $0.license) },
            properties: part.vocabulary.properties.sorted.map {
                .init(name: $0.name, kind: $0.kind.rawValue)
            },
            notes: Data(notes))
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        guard let encoded = try? encoder.encode(description) else { throw .damaged }
        return encoded
    }

    /// Takes the room on the disk, so that a full one is noticed before anything is written.
    private static func reserve(_ size: Int, _ descriptor: Int32) throws(Fault) {
        #if os(Linux)
            let code = posix_fallocate(descriptor, 0, size)
            guard code == 0 || code == EOPNOTSUPP || code == EINVAL else {
                throw .system(call: "fallocate", code: code)
            }
        #endif
    }

    private static func write(
        _ bytes: UnsafeRawBufferPointer, at offset: Int, _ descriptor: Int32
    ) throws(Fault) {
        var written = 0
        while written < bytes.count {
            let rest = UnsafeRawBufferPointer(rebasing: bytes[written...])
            let count = pwrite(descriptor, rest.baseAddress, rest.count, off_t(offset + written))
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw .system(call: "write", code: count < 0 ? errno : ENOSPC) }
            written += count
        }
    }
}

// MARK: - The stamp

extension IndexFile {
    /// Where the stamp is in the head's page, which is written and read by itself.
    private static let stampStart = 1024

    private struct Stamp: BitwiseCopyable {
        var seconds: Double
        var sum: UInt64
    }

    /// Writes a time, in seconds since 1970, into a file that is there.
    package static func stamp(_ descriptor: Int32, _ seconds: Double) {
        let sum = withUnsafeBytes(of: seconds) { Self.sum($0) }
        do throws(Fault) {
            try withUnsafeBytes(of: Stamp(seconds: seconds, sum: sum)) { bytes throws(Fault) in
                try write(bytes, at: stampStart, descriptor)
            }
        } catch {
            // Then the file has an older one.
        }
    }

    /// The time that was written last; nil where none was.
    package static func stamp(of descriptor: Int32) -> Double? {
        var stamp = Stamp(seconds: 0, sum: 0)
        do throws(Fault) {
            try withUnsafeMutableBytes(of: &stamp) { bytes throws(Fault) in
                try read(into: bytes, at: stampStart, descriptor)
            }
        } catch {
            return nil
        }
        guard stamp.sum == withUnsafeBytes(of: stamp.seconds, { Self.sum($0) }) else { return nil }
        return stamp.seconds
    }
}

// MARK: - Reading

extension IndexFile {
    /// Reads a file into memory, on all processors, and compares its sums. Blocks: a second for two gigabytes that the system has
    /// in memory.
    ///
    /// - Parameter maximumBytes: the memory that the part may take.
    /// - Returns: the part, and what the writer has noted.
    package static func read(
        from descriptor: Int32, maximumBytes: Int
    ) throws(Fault) -> (part: IndexPart, notes: [UInt8]) {
        let head = try head(descriptor)
        let (sums, description) = try end(head, descriptor)
        var reader = ColumnReader(description.columns)
        let bytes = description.columns.reduce(0) { $0 + $1.stride * $1.count }
        guard bytes <= maximumBytes else { throw .tooLarge(bytes: bytes) }
        let columns = PartColumns(
            count: description.placeCount, listedCount: description.listedCount, from: &reader)
        do throws(Fault) {
            guard reader.isComplete else { throw .foreign(what: "form of the columns") }
            try read(into: columns.memory.map(\.content), sums, descriptor)
        } catch {
            columns.free()
            throw error
        }
        return (
            IndexPart(columns: columns, vocabulary: IndexVocabulary(description)), Array(description.notes)
        )
    }

    /// Maps a file into memory, which the system reads and drops as it likes, and compares its sums. Nobody may change the file as
    /// long as the part is there; replacing it by another one is safe.
    ///
    /// - Returns: the part, and what the writer has noted.
    package static func map(_ descriptor: Int32) throws(Fault) -> (part: IndexPart, notes: [UInt8]) {
        let head = try head(descriptor)
        let (sums, description) = try end(head, descriptor)
        let file = try MappedFile(descriptor)
        var reader = ColumnReader(description.columns, in: file.bytes)
        let columns = PartColumns(
            count: description.placeCount, listedCount: description.listedCount, from: &reader)
        guard reader.isComplete else { throw .foreign(what: "form of the columns") }
        var rest = sums[...]
        for column in columns.memory {
            for range in blocks(of: column.content.count) {
                let block = UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(column.content)[range])
                guard rest.popFirst() == sum(block) else { throw .damaged }
            }
        }
        return (
            IndexPart(columns: columns, vocabulary: IndexVocabulary(description), in: file),
            Array(description.notes)
        )
    }

    private static func head(_ descriptor: Int32) throws(Fault) -> Head {
        var head = Head(sumsStart: 0, sumCount: 0, descriptionCount: 0, endSum: 0)
        try withUnsafeMutableBytes(of: &head) { bytes throws(Fault) in
            try read(into: bytes, at: 0, descriptor)
        }
        guard head.magic == Head.magic else { throw .foreign(what: "kind of file") }
        guard formats.contains(head.format) else { throw .foreign(what: "format, which is \(head.format),") }
        guard head.sum == head.summedUp().sum else { throw .damaged }
        return head
    }

    private static func end(_ head: Head, _ descriptor: Int32) throws(Fault) -> ([UInt64], Description) {
        let (sumBytes, count) = (Int(head.sumCount) * 8, Int(head.descriptionCount))
        let end = Column<UInt8>(uninitialized: sumBytes + count)
        defer { end.free() }
        try read(into: end.content, at: Int(head.sumsStart), descriptor)
        let bytes = UnsafeRawBufferPointer(end.content)
        guard head.endSum == sum(bytes),
            let description = try? JSONDecoder().decode(Description.self, from: Data(bytes[sumBytes...]))
        else { throw .damaged }
        let sums = (0..<Int(head.sumCount)).map {
            bytes.loadUnaligned(fromByteOffset: 8 * $0, as: UInt64.self)
        }
        return (sums, description)
    }

    /// A block of the file, and where it belongs.
    private struct Block: @unchecked Sendable {
        // @unchecked: the memory belongs to nobody else while the file is read, and each block to one thread.
        let memory: UnsafeMutableRawBufferPointer
        let offset: Int
        let sum: UInt64
    }

    private static func read(
        into memory: [UnsafeMutableRawBufferPointer], _ sums: [UInt64], _ descriptor: Int32
    ) throws(Fault) {
        var (found, offset) = ([Block](), alignment)
        for column in memory {
            for range in blocks(of: column.count) {
                guard found.count < sums.count else { throw .damaged }
                found.append(
                    Block(
                        memory: UnsafeMutableRawBufferPointer(rebasing: column[range]),
                        offset: offset + range.lowerBound, sum: sums[found.count]))
            }
            offset = aligned(offset + column.count)
        }
        let (blocks, fault) = (found, Lock<Fault?>(nil))
        DispatchQueue.concurrentPerform(iterations: blocks.count) { index in
            guard fault.withLock({ $0 == nil }) else { return }
            do throws(Fault) {
                let block = blocks[index]
                try read(into: block.memory, at: block.offset, descriptor)
                guard sum(UnsafeRawBufferPointer(block.memory)) == block.sum else { throw .damaged }
            } catch {
                fault.withLock { $0 = error }
            }
        }
        if let fault = fault.withLock({ $0 }) { throw fault }
    }

    private static func read(
        into memory: UnsafeMutableRawBufferPointer, at offset: Int, _ descriptor: Int32
    ) throws(Fault) {
        var done = 0
        while done < memory.count {
            let rest = UnsafeMutableRawBufferPointer(rebasing: memory[done...])
            let count = pread(descriptor, rest.baseAddress, rest.count, off_t(offset + done))
            if count < 0, errno == EINTR { continue }
            if count < 0 { throw .system(call: "read", code: errno) }
            guard count > 0 else { throw .damaged }
            done += count
        }
    }
}

/// The memory of a file, as long as somebody needs it.
final class MappedFile: @unchecked Sendable {
    // @unchecked: the memory is only read.
    let bytes: UnsafeMutableRawBufferPointer

    init(_ descriptor: Int32) throws(IndexFile.Fault) {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw .system(call: "fstat", code: errno) }
        guard status.st_size > 0 else { throw .damaged }
        let memory = mmap(nil, Int(status.st_size), PROT_READ, MAP_PRIVATE, descriptor, 0)
        guard let memory, memory != MAP_FAILED else { throw .system(call: "mmap", code: errno) }
        bytes = UnsafeMutableRawBufferPointer(start: memory, count: Int(status.st_size))
    }

    deinit { munmap(bytes.baseAddress, bytes.count) }
}

/// Makes columns for those that a file has, one after the other.
struct ColumnReader {
    private var rest: ArraySlice<IndexFile.Description.Column>
    private var hasOther = false
    /// The file in memory, where columns are parts of it, and where the next one begins.
    private let file: UnsafeMutableRawBufferPointer?
    private var offset = IndexFile.alignment

    init(_ columns: [IndexFile.Description.Column], in file: UnsafeMutableRawBufferPointer? = nil) {
        rest = columns[...]
        self.file = file
    }

    /// Whether the columns that were made are those of the file.
    var isComplete: Bool { !hasOther && rest.isEmpty }

    /// The next column, for the file's elements; empty where the file has another one there.
    mutating func next<Element>() -> Column<Element> {
        guard let column = rest.popFirst(), column.stride == MemoryLayout<Element>.stride, column.count >= 0
        else {
            hasOther = true
            return file?.baseAddress.map { Column(mapped: $0, count: 0) } ?? Column(capacity: 0)
        }
        guard let file, let start = file.baseAddress else { return Column(uninitialized: column.count) }
        let memory = start + offset
        let (size, overflows) = column.stride.multipliedReportingOverflow(by: column.count)
        guard !overflows, size <= file.count - offset else {
            hasOther = true
            return Column(mapped: start, count: 0)
        }
        offset = min(file.count, IndexFile.aligned(offset + size))
        return Column(mapped: memory, count: column.count)
    }
}

extension PartColumns {
    /// Columns for what a file has, in the order of `memory`.
    fileprivate init(count: Int, listedCount: Int, from file: inout ColumnReader) {
        (self.count, self.listedCount) = (count, listedCount)
        (x, y, z) = (file.next(), file.next(), file.next())
        (latitudes, longitudes, ids, hashes) = (file.next(), file.next(), file.next(), file.next())
        (kinds, sources, importances) = (file.next(), file.next(), file.next())
        (addressInitials, recordStarts, records) = (file.next(), file.next(), file.next())
        words = WordColumns(
            sorted: SortedWords(starts: file.next(), bytes: file.next()), byEnds: file.next(),
            postingStarts: file.next(), postings: file.next(), placeStarts: file.next(),
            placeWords: file.next())
        addressWords = AddressWords(
            sorted: SortedWords(starts: file.next(), bytes: file.next()), blockStarts: file.next(),
            blocks: file.next())
        (idSlots, trees, listedPlaces, boxes) = (file.next(), file.next(), file.next(), file.next())
        tiles = TileOrder(quadkeys: file.next(), places: file.next(), blocks: file.next())
    }
}

extension IndexVocabulary {
    fileprivate init(_ file: IndexFile.Description) {
        self.init(
            properties: FilterableProperties(
                file.properties.compactMap { property in
                    FilterableProperties.Kind(rawValue: property.kind).map { (property.name, $0) }
                }))
        for name in file.categories { _ = number(adding: name) }
        for source in file.sources {
            _ = number(adding: IndexSource(dataset: source.dataset, license: source.license))
        }
    }
}
