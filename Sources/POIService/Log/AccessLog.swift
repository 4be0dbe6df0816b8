import EventLoop
import HTTPServer
import Locking
import PointsOfInterestAPI
import Telemetry

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// The log of one loop's requests, a line for each. Lines are formatted in memory of the loop and handed to the log's
/// thread in batches, so that a request costs no allocation, lock or wake-up of a thread.
///
/// A line is handed over `maximumDelay` after it was written, or earlier. Confined to its loop.
final class AccessLog {
    private let writer: LogWriter
    private let formatter: RequestLogFormatter
    private var timer: LoopTimer?
    private let state: Confined<State>

    private struct State: ~Copyable {
        var buffer = LineBuffer()
        var lineCount = 0
        var clock = LogClock()
        var members = LogMembers()
    }

    private static let maximumDelay = Duration.milliseconds(50)
    /// A batch is handed over when it has this number of bytes.
    private static let batchBytes = 16 * 1024

    init(loop: EventLoop, writer: LogWriter, formatter: RequestLogFormatter) {
        self.writer = writer
        self.formatter = formatter
        state = Confined(State())
        timer = LoopTimer(loop: loop) { [weak self] in self?.flush() }
    }

    /// Writes the line of a request.
    func record(_ request: RequestObservation) {
        if state.value.lineCount == 0 {
            state.value.clock.synchronize()
            timer?.start(after: Self.maximumDelay)
        }
        formatter.append(
            request, &state.value.clock, &state.value.members, to: &state.value.buffer)
        state.value.lineCount += 1
        if state.value.buffer.count >= Self.batchBytes { flush() }
    }

    /// Hands over all lines.
    func flush() {
        guard state.value.lineCount > 0 else { return }
        writer.write(state.value.buffer.bytes, lineCount: state.value.lineCount)
        state.value.buffer.removeAll()
        state.value.lineCount = 0
    }

    /// Hands over all lines. Call it once, at the end.
    func close() {
        flush()
        timer?.close()
        timer = nil
    }
}

extension Observability {
    /// Makes the log of a loop's requests, on that loop's thread; nil if requests aren't logged.
    func makeAccessLog(loop: EventLoop, client: LoggedClient) -> AccessLog? {
        guard observesRequests else { return nil }
        return AccessLog(
            loop: loop, writer: writer, formatter: RequestLogFormatter(isJSON: isJSON, client: client))
    }

    /// Logs a request at once. Any thread.
    package func record(_ request: RequestObservation, client: LoggedClient) {
        writer.write(RequestLogFormatter(isJSON: isJSON, client: client).line(for: request, at: .now))
    }
}

/// Memory that log lines are formatted into, used again and again. It can't be copied, so its memory has one owner.
struct LineBuffer: ~Copyable {
    private var memory = UnsafeMutableRawBufferPointer.allocate(byteCount: 4096, alignment: 8)
    /// Number of bytes written.
    private(set) var count = 0

    deinit {
        memory.deallocate()
    }

    /// What was written; valid until something else is written.
    var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(rebasing: memory[..<count]) }

    /// Removes all bytes, and keeps the memory.
    mutating func removeAll() {
        count = 0
    }

    /// Makes room for `maximumCount` bytes, and returns the address to write them to. `commit` then adds the bytes that
    /// were written.
    @inline(__always)
    mutating func room(for maximumCount: Int) -> UnsafeMutableRawPointer? {
        if memory.count - count < maximumCount { grow(by: maximumCount) }
        return memory.baseAddress.map { $0 + count }
    }

    /// Adds bytes that were written into `room`.
    @inline(__always)
    mutating func commit(_ count: Int) {
        self.count += count
    }

    /// Makes room for `maximumCount` bytes at the end, and adds those that `write` writes there; `write` returns how
    /// many it wrote.
    @inline(__always)
    mutating func withRoom(for maximumCount: Int, _ write: (UnsafeMutableRawPointer) -> Int) {
        if memory.count - count < maximumCount { grow(by: maximumCount) }
        guard let start = memory.baseAddress else { return }
        let written = write(start + count)
        precondition(written <= maximumCount, "more was written than there was room for")
        count += written
    }

    private mutating func grow(by needed: Int) {
        let larger = UnsafeMutableRawBufferPointer.allocate(
            byteCount: max(2 * memory.count, count + needed), alignment: 8)
        larger.copyMemory(from: bytes)
        memory.deallocate()
        memory = larger
    }

    @inline(__always)
    mutating func append(_ byte: UInt8) {
        withRoom(for: 1) { end in
            end.storeBytes(of: byte, as: UInt8.self)
            return 1
        }
    }

    @inline(__always)
    mutating func append(_ bytes: UnsafeRawBufferPointer) {
        guard let source = bytes.baseAddress else { return }
        withRoom(for: bytes.count) { end in
            end.copyMemory(from: source, byteCount: bytes.count)
            return bytes.count
        }
    }

    @inline(__always)
    mutating func append(_ text: StaticString) {
        append(UnsafeRawBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }

    /// Appends a whole number's digits.
    mutating func append(decimal number: UInt64) {
        if number < 10 { return append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: number)) }
        if number >= 1000 {
            append(decimal: number / 1000)
            return append(threeDigits: number % 1000, from: 0, to: 3)
        }
        append(threeDigits: number, from: number >= 100 ? 0 : number >= 10 ? 1 : 2, to: 3)
    }

    /// Appends thousandths as a decimal number, without zeros at its end: 1250 is `1.25`.
    mutating func append(thousandths number: UInt64) {
        let (whole, fraction) = number.quotientAndRemainder(dividingBy: 1000)
        append(decimal: whole)
        guard fraction != 0 else { return }
        append(UInt8(ascii: "."))
        append(threeDigits: fraction, from: 0, to: fraction % 10 != 0 ? 3 : fraction % 100 != 0 ? 2 : 1)
    }

    /// Appends some of the three digits of a number below 1000.
    @inline(__always)
    private mutating func append(threeDigits number: UInt64, from start: Int, to end: Int) {
        guard let room = room(for: 4) else { return }
        // Those before `start` are shifted out, those from `end` on overwritten later.
        let text = UInt32(threeDigits: number) >> UInt32(8 * start)
        room.storeBytes(of: text.littleEndian, as: UInt32.self)
        commit(end - start)
    }

    /// Appends the content of a JSON string.
    mutating func append(escaping text: UnsafeRawBufferPointer) {
        guard text.assumingMemoryBound(to: UInt8.self).needsEscape else { return append(text) }
        var writer = JSONWriter()
        writer.value(String(decoding: text, as: UTF8.self))
        let quoted = writer.bytes
        quoted.withUnsafeBytes { append(UnsafeRawBufferPointer(rebasing: $0[1..<$0.count - 1])) }
    }

    /// Appends the content of a JSON string.
    mutating func append(escaping text: String) {
        var text = text
        text.withUTF8 { append(escaping: UnsafeRawBufferPointer($0)) }
    }
}

extension UInt32 {
    /// The three digits of a number below 1000, in the order of memory.
    @inline(__always)
    fileprivate init(threeDigits number: UInt64) {
        let number = UInt32(truncatingIfNeeded: number)
        let digits = number / 100 | (number / 10 % 10) << 8 | (number % 10) << 16
        self = digits + UInt32(UInt8(ascii: "0")) * 0x01_0101
    }
}

/// Writes the wall clock's time for readings of the monotonic clock. The text is formatted once a second; only its
/// milliseconds change in between.
struct LogClock: ~Copyable {
    /// The difference between the two clocks.
    private var offsetNanoseconds: Int64 = 0
    private var second = Int.min
    /// The text of `second`; its milliseconds are those of the last time.
    private let text = UnsafeMutableRawBufferPointer.allocate(byteCount: Self.length, alignment: 8)

    /// Length of a time such as `2026-11-21T01:35:33.250Z`.
    private static let length = 24
    private static let millisecondsOffset = 20

    deinit {
        text.deallocate()
    }

    /// Reads both clocks again, since somebody may have set the wall clock.
    mutating func synchronize() {
        set(WallClock.nanoseconds(), at: MonotonicClock.nanoseconds())
    }

    /// Sets the wall clock's time that belongs to a reading of the monotonic clock.
    mutating func set(_ wallNanoseconds: Int64, at monotonicNanoseconds: Int64) {
        offsetNanoseconds = wallNanoseconds - monotonicNanoseconds
    }

    /// Writes the time of a reading in the format of RFC 3339, in UTC with milliseconds.
    mutating func append(_ monotonicNanoseconds: Int64, to buffer: inout LineBuffer) {
        let milliseconds = Int((monotonicNanoseconds + offsetNanoseconds) / 1_000_000)
        let (second, rest) = milliseconds.quotientAndRemainder(dividingBy: 1000)
        if second != self.second { format(second) }
        let end = UInt32(threeDigits: UInt64(rest.magnitude)) | UInt32(UInt8(ascii: "Z")) << 24
        text.storeBytes(of: end.littleEndian, toByteOffset: Self.millisecondsOffset, as: UInt32.self)
        buffer.append(UnsafeRawBufferPointer(text))
    }

    private mutating func format(_ second: Int) {
        self.second = second
        text.copyBytes(from: Timestamp(seconds: second, milliseconds: 0).rfc3339.utf8.prefix(Self.length))
    }
}
