import CLLHTTP
import EventLoop

/// llhttp's parser, and the record that its callbacks write.
///
/// Both lie in memory of their own: passing a stored property with `&` would be an exclusive access, and the callbacks
/// use the same object while llhttp executes. Call `restart()` before each message.
final class LLHTTPParser {
    struct Record {
        /// Start of the head's bytes, while a head is parsed. Ranges are offsets from it.
        var base: UnsafeRawPointer?
        var target: Range<Int> = 0..<0
        /// Number of names of fields, those of trailers included.
        var fieldCount = 0
        var body: [UInt8] = []
        var isHeadComplete = false
        var isMessageComplete = false
    }

    enum Outcome: Equatable {
        case wantsMore
        /// llhttp stopped behind this many bytes, at the end of a chunk's first line or of the message.
        case paused(consumed: Int)
        case failed
    }

    private let parser: UnsafeMutablePointer<llhttp_t>
    private let recordPointer: UnsafeMutablePointer<Record>

    init() {
        parser = .allocateZeroed()
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

    var hasUnknownMethod: Bool { llhttp_get_errno(parser) == HPE_INVALID_METHOD }

    func restart() {
        llhttp_init(parser, HTTP_REQUEST, Self.settings)
        parser.pointee.data = UnsafeMutableRawPointer(recordPointer)
        recordPointer.pointee.base = nil
        recordPointer.pointee.fieldCount = 0
        if !recordPointer.pointee.body.isEmpty { recordPointer.pointee.body = [] }
        recordPointer.pointee.isHeadComplete = false
        recordPointer.pointee.isMessageComplete = false
    }

    func executeHead(_ bytes: UnsafeRawBufferPointer) -> Outcome {
        recordPointer.pointee.base = bytes.baseAddress
        defer { recordPointer.pointee.base = nil }
        return execute(bytes)
    }

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
        settings.pointee.on_url = { parser, start, count in
            guard let record = LLHTTPParser.record(of: parser), let start, let base = record.pointee.base
            else {
                return 0
            }
            let offset = UnsafeRawPointer(start) - base
            record.pointee.target = offset..<offset + count
            return 0
        }
        // Only counted: names and values are found by `RequestHead`.
        settings.pointee.on_header_field_complete = { parser in
            LLHTTPParser.record(of: parser)?.pointee.fieldCount += 1
            return 0
        }
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
}
