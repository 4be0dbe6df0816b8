import Bytes

/// Writes JSON (RFC 8259) straight into bytes, without Foundation.
///
/// The caller pairs the begins with the ends and names each member of an object; the writer adds commas, escapes text
/// and formats numbers. Its parts are inlinable: the server writes places from another module, with thousands of small
/// appends for one response.
@usableFromInline
package struct JSONWriter: ~Copyable {
    @usableFromInline var buffer: ByteBuffer
    @usableFromInline var needsComma = false

    /// Makes an empty writer with room for that many bytes. It grows when it has to.
    package init(capacity: Int = 256) {
        buffer = ByteBuffer(capacity: capacity)
    }

    /// Makes a writer that appends to a buffer, until `release()` gives it back.
    package init(appendingTo buffer: consuming ByteBuffer) {
        self.buffer = buffer
    }

    /// Gives the buffer back. It may have grown.
    package consuming func release() -> ByteBuffer { buffer }

    /// A copy of what is written so far.
    package var bytes: [UInt8] { buffer.bytes }

    /// How many bytes are written so far.
    package var count: Int { buffer.count }

    /// Calls a closure with what is written so far.
    package func withBytes<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        buffer.withBytes(body)
    }

    /// Begins an object.
    @inlinable
    package mutating func beginObject() {
        begin(UInt8(ascii: "{"))
    }

    /// Ends the object begun last.
    @inlinable
    package mutating func endObject() {
        end(UInt8(ascii: "}"))
    }

    /// Takes back the end of the object that was ended last, which has members, so that more can follow.
    package mutating func reopenObject() {
        buffer.removeLast(1)
        needsComma = true
    }

    /// Begins an array.
    @inlinable
    package mutating func beginArray() {
        begin(UInt8(ascii: "["))
    }

    /// Ends the array begun last.
    @inlinable
    package mutating func endArray() {
        end(UInt8(ascii: "]"))
    }

    /// Names the member that is written next; the name needs no escape.
    @inline(__always)
    @inlinable
    package mutating func name(_ name: StaticString) {
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

    /// Names the member that is written next; escapes the name.
    package mutating func name(escaping name: String) {
        value(name)
        buffer.append(UInt8(ascii: ":"))
        needsComma = false
    }

    /// Writes a string.
    @inlinable
    package mutating func value(_ string: String) {
        separate()
        buffer.append(UInt8(ascii: "\""))
        buffer.appendEscaped(string)
        buffer.append(UInt8(ascii: "\""))
    }

    /// Writes a string of UTF-8 that is known to be valid.
    @inlinable
    package mutating func value(utf8 text: UnsafeBufferPointer<UInt8>) {
        separate()
        buffer.append(UInt8(ascii: "\""))
        buffer.appendEscaped(text)
        buffer.append(UInt8(ascii: "\""))
    }

    /// Writes a value that is JSON already.
    package mutating func value(json: ArraySlice<UInt8>) {
        separate()
        buffer.append(json)
    }

    /// Writes a number in its shortest form that reads back the same; `null` if it is not finite.
    @inlinable
    package mutating func value(_ number: Double) {
        guard number.isFinite else { return null() }
        separate()
        buffer.appendDecimal(number)
    }

    /// Writes a whole number.
    @inlinable
    package mutating func value(_ number: Int) {
        separate()
        buffer.appendDecimal(number)
    }

    /// Writes `true` or `false`.
    @inlinable
    package mutating func value(_ flag: Bool) {
        literal(flag ? "true" : "false")
    }

    /// Writes a value of at most `maximumCount` bytes. The closure stores the JSON and returns how many bytes it stored.
    @inline(__always)
    @inlinable
    package mutating func value(ofAtMost maximumCount: Int, _ store: (UnsafeMutableRawPointer) -> Int) {
        let comma = needsComma ? 1 : 0
        buffer.withRoom(for: maximumCount + 1) { end in
            // Overwritten by the value where there is no comma.
            end.storeBytes(of: UInt8(ascii: ","), as: UInt8.self)
            return comma + store(end + comma)
        }
        needsComma = true
    }

    /// Writes `null`.
    @inlinable
    package mutating func null() {
        literal("null")
    }

    // MARK: - Members

    /// Writes a member of an object; leaves it out if it has no value.
    @inlinable
    package mutating func member(_ name: StaticString, _ string: String?) {
        guard let string else { return }
        self.name(name)
        value(string)
    }

    /// Writes a member of an object; leaves it out if it has no value or is not finite.
    @inlinable
    package mutating func member(_ name: StaticString, _ number: Double?) {
        guard let number, number.isFinite else { return }
        self.name(name)
        value(number)
    }

    /// Writes a member of an object.
    @inlinable
    package mutating func member(_ name: StaticString, _ number: Int) {
        self.name(name)
        value(number)
    }

    /// Writes a member of an object.
    @inlinable
    package mutating func member(_ name: StaticString, _ flag: Bool) {
        self.name(name)
        value(flag)
    }

    // MARK: - Parts

    @inline(__always)
    @inlinable
    mutating func literal(_ text: StaticString) {
        separate()
        buffer.append(text)
    }

    @inline(__always)
    @inlinable
    mutating func begin(_ bracket: UInt8) {
        separate()
        buffer.append(bracket)
        needsComma = false
    }

    @inline(__always)
    @inlinable
    mutating func end(_ bracket: UInt8) {
        buffer.append(bracket)
        needsComma = true
    }

    @inline(__always)
    @inlinable
    mutating func separate() {
        if needsComma { buffer.append(UInt8(ascii: ",")) }
        needsComma = true
    }
}
