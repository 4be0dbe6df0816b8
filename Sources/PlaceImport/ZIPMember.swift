import Foundation

/// The one file in a ZIP archive (APPNOTE 6.3.10), by the archive's directory.
struct ZIPMember {
    let name: String
    /// Where its bytes begin.
    let offset: Int
    let compressedSize: Int
    let size: Int
    /// Whether it is compressed by DEFLATE; else it is stored as it is.
    let isCompressed: Bool

    /// How much a file may unpack to: in all, and as a multiple of what it takes.
    private static let (maximumSize, maximumRatio) = (4 << 30, 100)
    private static let maximumDirectory = 16 << 20

    /// Finds the file.
    ///
    /// - Throws: ``ImportError`` where the archive is damaged, has several files or none, or one that is encrypted, or unpacks
    ///   to too much.
    init(ofArchive path: String) throws(ImportError) {
        func refuse(_ message: String) -> ImportError { ImportError(message, path: path) }
        let bytes: (Int, Int) throws(ImportError) -> [UInt8] = { offset, count throws(ImportError) in
            do {
                let file = try FileHandle(forReadingFrom: URL(fileURLWithPath: path))
                try file.seek(toOffset: UInt64(offset))
                return Array(try file.read(upToCount: count) ?? Data())
            } catch { throw refuse("it can't be read") }
        }
        guard let length = ByteInput.size(ofFile: path) else { throw refuse("it isn't a regular file") }
        // The end has 22 bytes and a comment.
        let tailStart = max(0, length - 22 - 65_535)
        let tail = try bytes(tailStart, length - tailStart)
        guard let end = Self.lastEnd(in: tail) else {
            throw refuse("the archive is damaged: it has no directory")
        }
        let (size, start) = (tail.number(4, at: end + 12), tail.number(4, at: end + 16))
        guard size <= Self.maximumDirectory, start + size <= length else {
            throw refuse("the archive is damaged, or has too many files")
        }
        let directory = try bytes(start, size)
        var names: [String] = []
        var found: Int?
        var entry = 0
        while entry + 46 <= directory.count, directory[entry..<entry + 4].elementsEqual([0x50, 0x4b, 1, 2]) {
            let nameEnd = entry + 46 + directory.number(2, at: entry + 28)
            guard nameEnd <= directory.count else { break }
            let name = String(decoding: directory[entry + 46..<nameEnd], as: UTF8.self)
            // Folders, and what macOS adds.
            if !name.hasSuffix("/"), !name.hasPrefix("__MACOSX/") {
                names.append(name)
                found = found ?? entry
            }
            entry = nameEnd + directory.number(2, at: entry + 30) + directory.number(2, at: entry + 32)
        }
        guard let found, names.count == 1 else {
            let list = names.prefix(5).map { "\($0.prefix(60).printable)" }.joined(separator: ", ")
            throw refuse(
                names.isEmpty
                    ? "the archive has no file"
                    : "the archive has \(names.count) files: \(list)"
                        + "\(names.count > 5 ? " …" : ""). Unpack it first")
        }
        name = names[0]
        compressedSize = directory.number(4, at: found + 20)
        self.size = directory.number(4, at: found + 24)
        let (flags, method) = (directory.number(2, at: found + 8), directory.number(2, at: found + 10))
        guard flags & 1 == 0 else { throw refuse("the archive's file is encrypted") }
        guard method == 8 || method == 0 && compressedSize == self.size else {
            throw refuse("the archive's file is compressed by another method than DEFLATE: unpack it first")
        }
        isCompressed = method == 8
        guard self.size < Self.maximumSize, self.size / Self.maximumRatio <= compressedSize else {
            throw refuse(
                "the archive's file unpacks to \(self.size) bytes, more than 4 GiB or 100 times what it takes"
            )
        }
        let header = directory.number(4, at: found + 42)
        let local = try bytes(header, 30)
        guard local.count == 30, local.starts(with: [0x50, 0x4b, 3, 4]) else {
            throw refuse("the archive is damaged")
        }
        offset = header + 30 + local.number(2, at: 26) + local.number(2, at: 28)
        guard offset + compressedSize <= length else { throw refuse("the archive is damaged") }
    }

    /// Where the record at the archive's end begins.
    private static func lastEnd(in tail: [UInt8]) -> Int? {
        guard tail.count >= 22 else { return nil }
        return (0...tail.count - 22).last {
            tail[$0] == 0x50 && tail[$0..<$0 + 4].elementsEqual([0x50, 0x4b, 5, 6])
        }
    }
}

extension [UInt8] {
    /// The number in so many bytes, the lowest first.
    fileprivate func number(_ count: Int, at index: Int) -> Int {
        self[index..<index + count].reversed().reduce(0) { $0 << 8 | Int($1) }
    }
}
