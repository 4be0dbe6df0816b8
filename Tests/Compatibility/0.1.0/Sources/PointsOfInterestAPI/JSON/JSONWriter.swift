/// Writes JSON (RFC 8259) straight into bytes, without Foundation: the server's way to its answers.
///
/// The caller pairs the begins with the ends and names each member of an object; the writer sees to commas,
/// escapes and the form of numbers.
public struct JSONWriter: ~Copyable {
    private var buffer: ByteBuffer
    private var needsComma = false

    /// Makes an empty writer with room for that many bytes; it takes more where it needs to.
    public init(capacity: Int = 256) {
        buffer = ByteBuffer(capacity: capacity)
    }

    /// A copy of what is written so far.
    public var bytes: [UInt8] { buffer.bytes }

    /// Begins an object.
    public mutating func beginObject() {
        begin(UInt8(ascii: "{"))
    }

    /// Ends the object begun last.
    public mutating func endObject() {
        end(UInt8(ascii: "}"))
    }

    /// Begins an array.
    public mutating func beginArray() {
        begin(UInt8(ascii: "["))
    }

    /// Ends the array begun last.
    public mutating func endArray() {
        end(UInt8(ascii: "]"))
    }

    /// Names the member that is written next; the name needs no escape.
    @inline(__always)
    public mutating func name(_ name: StaticString) {
        let comma = needsComma ? 1 : 0
        let length = name.utf8CodeUnitCount
        buffer.withRoom(for: length + 4) { end in
            // Overwritten by the quote where there is no comma.
            end.storeBytes(of: UInt8(ascii: ","), as: UInt8.self)
            let start = end + comma
            start.storeBytes(of: UInt8(ascii: "\""), as: UInt8.self)
            (start + 1).copyMemory(from: name.utf8Start, byteCount: length)
            (start + 1 + length).storeBytes(of: UInt8(ascii: "\""), as: UInt8.self)
            (start + 2 + length).storeBytes(of: UInt8(ascii: ":"), as: UInt8.self)
            return comma + length + 3
        }
        needsComma = false
    }

    /// Names the member that is written next, whatever the name.
    public mutating func name(escaping name: String) {
        value(name)
        buffer.append(UInt8(ascii: ":"))
        needsComma = false
    }

    /// Writes a string.
    public mutating func value(_ string: String) {
        separate()
        buffer.append(UInt8(ascii: "\""))
        buffer.appendEscaped(string)
        buffer.append(UInt8(ascii: "\""))
    }

    /// Writes a string of UTF-8 that is known to be valid.
    public mutating func value(utf8 text: UnsafeBufferPointer<UInt8>) {
        separate()
        buffer.append(UInt8(ascii: "\""))
        buffer.appendEscaped(text)
        buffer.append(UInt8(ascii: "\""))
    }

    /// Writes a number in its shortest form that reads back the same; `null` if it is not finite.
    public mutating func value(_ number: Double) {
        guard number.isFinite else { return null() }
        separate()
        buffer.appendDecimal(number)
    }

    /// Writes a whole number.
    public mutating func value(_ number: Int) {
        separate()
        buffer.appendDecimal(number)
    }

    /// Writes `true` or `false`.
    public mutating func value(_ flag: Bool) {
        literal(flag ? "true" : "false")
    }

    /// Writes `null`.
    public mutating func null() {
        literal("null")
    }

    @inline(__always)
    private mutating func literal(_ text: StaticString) {
        separate()
        buffer.append(text)
    }

    @inline(__always)
    private mutating func begin(_ bracket: UInt8) {
        separate()
        buffer.append(bracket)
        needsComma = false
    }

    @inline(__always)
    private mutating func end(_ bracket: UInt8) {
        buffer.append(bracket)
        needsComma = true
    }

    @inline(__always)
    private mutating func separate() {
        if needsComma { buffer.append(UInt8(ascii: ",")) }
        needsComma = true
    }
}
