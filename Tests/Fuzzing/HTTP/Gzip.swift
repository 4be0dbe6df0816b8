import CZlib
import Foundation
@testable import HTTPServer
@testable import PlaceImport

/// Compressed bytes, as a request's body and as a file of an import. The first byte says what the others are: gzip, the
/// deflated content of gzip members whose checksums are made here, or what is to be compressed.
///
/// Both decoders say the same of the same bytes, neither gives more than its limit at once, and what is compressed comes
/// back as it was.
func fuzzGzip(_ input: [UInt8]) {
    guard let first = input.first else { return }
    let rest = Array(input.dropFirst())
    switch first % 4 {
    case 0: compare(rest)
    case 1: compare([0x1f, 0x8b] + rest)
    case 2: compare(member(deflated: rest) + (first < 128 ? [] : member(deflated: rest)))
    default: compress(rest)
    }
}

private let limit = 3000

private func compare(_ body: [UInt8]) {
    guard let decoder = GzipDecoder() else { fatalError("no memory") }
    let outcome = decoder.decode(body, limit: limit)
    let file = read(body)
    switch outcome {
    case .decoded(let decoded):
        require(decoded.count <= limit, "\(decoded.count) bytes")
        require(file == decoded, "the import reads it as \(file.map { "\($0.count) bytes" } ?? "damaged")")
    case .tooLarge:
        require(file.map { $0.count > limit } ?? true, "too large, and the import reads \(file?.count ?? 0)")
    // The import takes what doesn't begin as gzip for plain text.
    case .malformed:
        require(file == nil || file == body, "malformed, and the import reads \(file?.count ?? 0) bytes")
    }
    // The decoder's memory is used again, whatever it was given before.
    require(decoder.decode(body, limit: limit) == outcome, "another outcome for the second time")
}

private func compress(_ content: [UInt8]) {
    var encoders: [(any GzipEncoder)?] = [ZlibEncoder(.speed), ZlibEncoder(.size)]
    #if canImport(CISAL)
        encoders.append(ISALEncoder())
    #endif
    for encoder in encoders { compress(content, by: encoder) }
}

private func compress(_ content: [UInt8], by encoder: (any GzipEncoder)?) {
    guard let decoder = GzipDecoder(), let body = encoder?.encode(content) else { fatalError("no memory") }
    require(decoder.decode(body, limit: content.count) == .decoded(content), "it doesn't come back")
    require(read(body) == content, "the import doesn't get it back")
    if !content.isEmpty {
        require(decoder.decode(body, limit: content.count - 1) == .tooLarge, "the limit doesn't hold")
    }
}

/// What an import reads of a file with these bytes; nil if it is damaged. Of a bomb, only the beginning.
private func read(_ file: [UInt8]) -> [UInt8]? {
    do throws(ImportError) {
        let input = try ByteInput(descriptor: pipe(with: file), path: "fuzzed", closes: true)
        var content: [UInt8] = []
        repeat {
            require(input.unread.count <= 2 * ByteInput.chunk, "\(input.unread.count) bytes at once")
            content += input.unread
            input.consume(input.unread.count)
            guard content.count <= 4 << 20 else { break }
        } while try input.fill()
        return content
    } catch {
        return nil
    }
}

/// A gzip member (RFC 1952, section 2.3) of deflated bytes, as far as they are that.
private func member(deflated: [UInt8]) -> [UInt8] {
    var stream = z_stream()
    guard inflateInit2_(&stream, -15, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size)) == Z_OK else {
        return []
    }
    defer { inflateEnd(&stream) }
    var used = deflated.count
    var input = deflated
    let content = [UInt8](unsafeUninitializedCapacity: 1 << 16) { output, count in
        input.withUnsafeMutableBufferPointer { input in
            stream.next_in = input.baseAddress
            stream.avail_in = UInt32(input.count)
            stream.next_out = output.baseAddress
            stream.avail_out = UInt32(output.count)
            _ = inflate(&stream, Z_FINISH)
            used -= Int(stream.avail_in)
            count = output.count - Int(stream.avail_out)
        }
    }
    let checksum = UInt32(truncatingIfNeeded: crc32(0, content, UInt32(content.count)))
    let trailer = [checksum, UInt32(content.count)].flatMap { number in
        (0..<4).map { UInt8(number >> (8 * $0) & 255) }
    }
    return [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255] + deflated[..<used] + trailer
}
