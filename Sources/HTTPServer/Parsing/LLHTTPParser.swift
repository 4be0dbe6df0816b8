import CLLHTTP

/// llhttp's parser, and the record that its callbacks write.
///
/// Both lie in memory of their own: passing a stored property with `&` would be an exclusive access, and the callbacks
/// use the same object while llhttp executes. Call `restart()` before each message.
final class LLHTTPParser {
    /// What llhttp has reported of the message so far.
    struct Record {
        /// Start of the head's bytes, while a head is parsed. Ranges are offsets from it.
        var base: UnsafeRawPointer?
        var target: Range<Int> = 0..<0
        var fields: [HTTPHeaders.Field] = []
        var body: [UInt8] = []
        var isHeadComplete = false
        var isMessageComplete = false
    }

    enum Outcome: Equatable {
        /// All bytes were used, and the message is not complete.
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

    /// The size in the first line of the last chunk.
    var chunkSize: UInt64 { parser.pointee.content_length }

    /// Whether llhttp failed because it doesn't know the method.
    var hasUnknownMethod: Bool { llhttp_get_errno(parser) == HPE_INVALID_METHOD }

    /// Prepares for the next message.
    func restart() {
        llhttp_init(parser, HTTP_REQUEST, Self.settings)
        parser.pointee.data = UnsafeMutableRawPointer(recordPointer)
        recordPointer.pointee.base = nil
        recordPointer.pointee.fields.removeAll(keepingCapacity: true)
        recordPointer.pointee.body = []
        recordPointer.pointee.isHeadComplete = false
        recordPointer.pointee.isMessageComplete = false
    }

    /// Parses a complete head.
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

    // nonisolated(unsafe): written once, before its first use, and never freed; llhttp only reads it.
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

    /// Records a range of the head. Trailers are ignored.
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
    /// Adds a name, or the rest of one: llhttp may report a name in adjacent pieces.
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
