import CLLHTTP

/// llhttp's parser in memory of its own, and what its callbacks note down.
///
/// `llhttp_t` is never a stored property passed with `&`: its callbacks reach back into the same object
/// while it executes. Messages are parsed one by one: `restart()` before each.
final class LLHTTPParser {
    /// What llhttp has said of the message so far.
    struct Record {
        /// Start of the head, which lies in one piece; spans are offsets from it.
        var base: UnsafeRawPointer?
        var target: Range<Int> = 0..<0
        var fields: [HTTPHeaders.Field] = []
        var body: [UInt8] = []
        var isHeadComplete = false
        var isMessageComplete = false
    }

    enum Outcome: Equatable {
        /// All bytes were taken and the message goes on.
        case wantsMore
        /// llhttp stopped behind this many bytes, at the end of a chunk's first line or of the message.
        case paused(consumed: Int)
        case failed
    }

    private let parser: UnsafeMutablePointer<llhttp_t>
    private let recordPointer: UnsafeMutablePointer<Record>

    init() {
        parser = .allocate(capacity: 1)
        UnsafeMutableRawPointer(parser).initializeMemory(
            as: UInt8.self, repeating: 0, count: MemoryLayout<llhttp_t>.size)
        recordPointer = .allocate(capacity: 1)
        recordPointer.initialize(to: Record())
        restart()
    }

    deinit {
        recordPointer.deinitialize(count: 1)
        recordPointer.deallocate()
        parser.deallocate()
    }

    var record: Record {
        _read { yield recordPointer.pointee }
        _modify { yield &recordPointer.pointee }
    }

    /// The size that the last chunk's first line named.
    var chunkSize: UInt64 { parser.pointee.content_length }

    /// Whether llhttp failed because it does not know the method.
    var hasUnknownMethod: Bool { llhttp_get_errno(parser) == HPE_INVALID_METHOD }

    /// Forgets the last message; the next one is expected.
    func restart() {
        llhttp_init(parser, HTTP_REQUEST, Self.settings)
        parser.pointee.data = UnsafeMutableRawPointer(recordPointer)
        recordPointer.pointee.base = nil
        recordPointer.pointee.fields.removeAll(keepingCapacity: true)
        recordPointer.pointee.body = []
        recordPointer.pointee.isHeadComplete = false
        recordPointer.pointee.isMessageComplete = false
    }

    /// Parses a whole head, which must lie in one piece.
    func executeHead(_ bytes: UnsafeRawBufferPointer) -> Outcome {
        recordPointer.pointee.base = bytes.baseAddress
        defer { recordPointer.pointee.base = nil }
        return execute(bytes)
    }

    /// Parses the next bytes.
    func execute(_ bytes: UnsafeRawBufferPointer) -> Outcome {
        guard let base = bytes.baseAddress?.assumingMemoryBound(to: CChar.self) else { return .wantsMore }
        switch llhttp_execute(parser, base, bytes.count) {
        case HPE_OK:
            return .wantsMore
        case HPE_PAUSED:
            guard let position = llhttp_get_error_pos(parser) else { return .failed }
            llhttp_resume(parser)
            return .paused(consumed: position - base)
        default:
            return .failed
        }
    }

    // nonisolated(unsafe): written once, before anybody can read it, and never freed; llhttp only reads it.
    private nonisolated(unsafe) static let settings: UnsafeMutablePointer<llhttp_settings_t> = {
        let settings = UnsafeMutablePointer<llhttp_settings_t>.allocate(capacity: 1)
        llhttp_settings_init(settings)
        settings.pointee.on_url = { LLHTTPParser.note($0, $1, $2) { $0.target = $1 } }
        settings.pointee.on_header_field = { LLHTTPParser.note($0, $1, $2) { $0.appendName($1) } }
        settings.pointee.on_header_value = { LLHTTPParser.note($0, $1, $2) { $0.appendValue($1) } }
        settings.pointee.on_headers_complete = { parser in
            LLHTTPParser.record(of: parser)?.pointee.isHeadComplete = true
            return 0
        }
        settings.pointee.on_body = { parser, start, count in
            LLHTTPParser.record(of: parser)?.pointee.body.append(
                contentsOf: UnsafeRawBufferPointer(start: start, count: count))
            return 0
        }
        settings.pointee.on_chunk_header = { _ in CInt(HPE_PAUSED.rawValue) }
        settings.pointee.on_message_complete = { parser in
            LLHTTPParser.record(of: parser)?.pointee.isMessageComplete = true
            return CInt(HPE_PAUSED.rawValue)
        }
        return settings
    }()

    private static func record(of parser: UnsafeMutablePointer<llhttp_t>?) -> UnsafeMutablePointer<Record>? {
        parser?.pointee.data?.assumingMemoryBound(to: Record.self)
    }

    /// Notes a span of the head down; trailers are of no interest.
    @inline(__always)
    private static func note(
        _ parser: UnsafeMutablePointer<llhttp_t>?, _ start: UnsafePointer<CChar>?, _ count: Int,
        _ body: (inout Record, Range<Int>) -> Void
    ) -> CInt {
        guard let record = record(of: parser), let start else { return 0 }
        if let base = record.pointee.base {
            let offset = UnsafeRawPointer(start) - base
            body(&record.pointee, offset..<offset + count)
        }
        return 0
    }
}

extension LLHTTPParser.Record {
    /// A name, or the rest of one: llhttp may tell it in pieces, which then lie side by side.
    fileprivate mutating func appendName(_ span: Range<Int>) {
        if let last = fields.last, last.valueStart < 0, last.nameEnd == span.lowerBound {
            fields[fields.count - 1].nameEnd = span.upperBound
        } else {
            fields.append(
                HTTPHeaders.Field(
                    nameStart: span.lowerBound, nameEnd: span.upperBound, valueStart: -1, valueEnd: -1))
        }
    }

    fileprivate mutating func appendValue(_ span: Range<Int>) {
        guard let last = fields.indices.last else { return }
        if fields[last].valueStart < 0 { fields[last].valueStart = span.lowerBound }
        fields[last].valueEnd = span.upperBound
    }
}
