import CZlib
import Foundation

/// A ZIP archive, by its directory (APPNOTE 6.3.10): its files, without folders. It has one directory, at its end, as every
/// program sees it: archives in which two programs would find different files (several disks, ZIP64, bytes before the first
/// file) are refused.
struct ZIPArchive {
    let members: [ZIPMember]

    private let path: String
    private let length: Int

    private static let (maximumDirectory, maximumCount) = (16 << 20, 10_000)
    /// How much may come out of an archive that GDAL reads, which keeps most of it in memory.
    static let maximumUnpackedBytes = 1 << 30

    init(_ path: String) throws(ImportError) {
        self.path = path
        guard let length = ByteInput.size(ofFile: path) else {
            throw ImportError("it isn't a regular file", path: path)
        }
        self.length = length
        let file = try RandomAccess(path)
        // The end has 22 bytes and a comment.
        let tailStart = max(0, length - 22 - 65_535)
        let tail = try file.bytes(length - tailStart, at: tailStart)
        guard let end = Self.lastEnd(in: tail) else {
            throw ImportError("the archive is damaged: it has no directory", path: path)
        }
        let count = tail.number(2, at: end + 10)
        let (size, start) = (tail.number(4, at: end + 12), tail.number(4, at: end + 16))
        guard size <= Self.maximumDirectory, count <= Self.maximumCount else {
            throw ImportError("the archive has more than \(Self.maximumCount) files", path: path)
        }
        guard start + size == tailStart + end else {
            throw ImportError("the archive is damaged, or is one of ZIP64: unpack it first", path: path)
        }
        let directory = try file.bytes(size, at: start)
        members = try Self.members(directory, count: count, path)
    }

    /// The one file in the archive, where it may unpack to 4 GiB and to 100 times what it takes.
    func onlyMember() throws(ImportError) -> ZIPMember {
        // What macOS adds isn't one.
        let members = members.filter { !$0.name.hasPrefix("__MACOSX/") }
        guard members.count == 1 else {
            let list = members.prefix(5).map(\.shownName).joined(separator: ", ")
            throw ImportError(
                members.isEmpty
                    ? "the archive has no file"
                    : "the archive has \(members.count) files: \(list)\(members.count > 5 ? " …" : ""). Unpack it first",
                path: path)
        }
        try refuse(unpackedBytes: members[0].size, of: members[0].compressedSize, above: 4 << 30)
        return members[0]
    }

    /// Unpacks all files once, keeps nothing, and compares their sizes and checksums with the directory.
    /// - Throws: ``ImportError`` with the name of the file that is damaged; where all together unpack to more than 1 GiB, or
    ///   100 times what the archive takes.
    func verify() throws(ImportError) {
        try refuse(
            unpackedBytes: members.reduce(0) { $0 + $1.size }, of: length, above: Self.maximumUnpackedBytes)
        // Else files could share bytes, and each of them cost as much as all.
        guard members.reduce(0, { $0 + $1.compressedSize }) <= length else {
            throw ImportError("the archive is damaged: its files overlap", path: path)
        }
        for member in members {
            let input = try ByteInput(member: member, path: path)
            repeat { input.consume(input.unread.count) } while try input.fill()
        }
    }

    private func refuse(unpackedBytes: Int, of bytes: Int, above maximum: Int) throws(ImportError) {
        guard unpackedBytes > maximum || unpackedBytes / 100 > bytes else { return }
        throw ImportError(
            "the archive unpacks to \(unpackedBytes) bytes, more than \(maximum >> 30) GiB or 100 times what it takes",
            path: path)
    }

    private static func members(
        _ directory: [UInt8], count: Int, _ path: String
    ) throws(ImportError) -> [ZIPMember] {
        let damaged = ImportError("the archive is damaged: its directory is", path: path)
        var members: [ZIPMember] = []
        var entry = 0
        for _ in 0..<count {
            guard entry + 46 <= directory.count,
                directory[entry..<entry + 4].elementsEqual([0x50, 0x4b, 1, 2])
            else { throw damaged }
            let nameEnd = entry + 46 + directory.number(2, at: entry + 28)
            let next = nameEnd + directory.number(2, at: entry + 30) + directory.number(2, at: entry + 32)
            guard next <= directory.count else { throw damaged }
            let name = String(decoding: directory[entry + 46..<nameEnd], as: UTF8.self)
            // Folders are no files.
            if !name.hasSuffix("/") {
                members.append(try ZIPMember(name, directory[entry..<nameEnd], path))
            }
            entry = next
        }
        guard entry == directory.count else { throw damaged }
        return members
    }

    /// Where the record at the archive's end begins.
    private static func lastEnd(in tail: [UInt8]) -> Int? {
        guard tail.count >= 22 else { return nil }
        return (0...tail.count - 22).last {
            tail[$0] == 0x50 && tail[$0..<$0 + 4].elementsEqual([0x50, 0x4b, 5, 6])
        }
    }
}

/// A file in a ZIP archive, as the archive's directory describes it.
struct ZIPMember {
    let name: String
    let compressedSize: Int
    let size: Int
    let checksum: UInt32
    /// Whether it is compressed by DEFLATE; else it is stored as it is.
    let isCompressed: Bool
    private let headerOffset: Int

    var shownName: String { name.prefix(60).printable }

    fileprivate init(_ name: String, _ entry: ArraySlice<UInt8>, _ path: String) throws(ImportError) {
        let entry = Array(entry)
        self.name = name
        let (flags, method) = (entry.number(2, at: 8), entry.number(2, at: 10))
        checksum = UInt32(entry.number(4, at: 16))
        (compressedSize, size) = (entry.number(4, at: 20), entry.number(4, at: 24))
        headerOffset = entry.number(4, at: 42)
        isCompressed = method == 8
        guard flags & 1 == 0 else {
            throw ImportError("\(shownName) in the archive is encrypted", path: path)
        }
        guard method == 8 || method == 0 && compressedSize == size else {
            throw ImportError(
                "\(shownName) in the archive is compressed by another method than DEFLATE: unpack it first",
                path: path)
        }
    }

    /// Where its bytes begin: behind a header of its own, which has its name again.
    func offset(in path: String) throws(ImportError) -> Int {
        let header = try RandomAccess(path).bytes(30, at: headerOffset)
        guard header.starts(with: [0x50, 0x4b, 3, 4]) else {
            throw ImportError(
                "\(shownName) in the archive is damaged: it isn't where it should be", path: path)
        }
        return headerOffset + 30 + header.number(2, at: 26) + header.number(2, at: 28)
    }
}

/// Checks what comes out of an archive's member, piece by piece.
struct ZIPMemberCheck {
    private let member: ZIPMember
    private var count = 0
    private var checksum = UInt32(0)

    init(_ member: ZIPMember) { self.member = member }

    /// Takes the first `taken` bytes; returns what is wrong, nil if nothing is yet.
    mutating func take(_ bytes: [UInt8], _ taken: Int) -> String? {
        count += taken
        guard count <= member.size else { return "it has more bytes than the archive says" }
        checksum = UInt32(truncatingIfNeeded: crc32_z(uLong(checksum), bytes, taken))
        return nil
    }

    /// What is wrong at the end; nil if nothing is.
    var fault: String? {
        guard count == member.size else { return "it has \(count) bytes instead of \(member.size)" }
        return checksum == member.checksum ? nil : "its checksum (CRC-32) is another one"
    }
}

/// Reads pieces of a file from anywhere in it.
private struct RandomAccess {
    private let path: String
    private let file: FileHandle

    init(_ path: String) throws(ImportError) {
        self.path = path
        guard let file = FileHandle(forReadingAtPath: path) else {
            throw ImportError("it can't be read", path: path)
        }
        self.file = file
    }

    func bytes(_ count: Int, at offset: Int) throws(ImportError) -> [UInt8] {
        var bytes: [UInt8] = []
        do {
            try file.seek(toOffset: UInt64(offset))
            bytes = Array(try file.read(upToCount: count) ?? Data())
        } catch {
            throw ImportError("it can't be read: \(error.localizedDescription)", path: path)
        }
        guard bytes.count == count else {
            throw ImportError("the archive is damaged: it ends early", path: path)
        }
        return bytes
    }
}

extension [UInt8] {
    /// The number in so many bytes, the lowest first.
    fileprivate func number(_ count: Int, at index: Int) -> Int {
        self[index..<index + count].reversed().reduce(0) { $0 << 8 | Int($1) }
    }
}
