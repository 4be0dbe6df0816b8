/// Reads heads that need no second opinion: of GET or HEAD for a path, with fields that every recipient reads in the same way,
/// none of which says that something follows.
///
/// Nearly all heads are plain, and they are read in one pass. Every byte is checked: the target's are visible, names are
/// tokens, lines end with CRLF, values have no control characters, and there is neither a `Content-Length` nor a
/// `Transfer-Encoding`. So the head ends at its empty line, whoever reads it, and llhttp isn't asked. All other heads are
/// read by `HeadGuard`, `RequestHead` and llhttp, which also say what is wrong with one.
extension RequestParser {
    /// False for any other head, and for one that isn't complete.
    func readPlainHead(_ bytes: UnsafeRawBufferPointer, _ offset: inout Int) -> Bool {
        guard let line = RequestLine(plain: bytes, maximumBytes: limits.requestLineBytes) else {
            return false
        }
        var end = line.end
        let facts = RequestHead.Facts(
            plain: bytes, from: &end, &state.value.fields, maximumBytes: limits.headerBlockBytes)
        guard let facts else { return false }
        completeBlock(bytes, end, &offset)
        state.value.readHead = (line, facts)
        state.value.phase = .bodyAbsent
        return true
    }
}

extension RequestLine {
    /// Nil for any line but that of GET or HEAD for a path, and for one that isn't complete.
    fileprivate init?(plain bytes: UnsafeRawBufferPointer, maximumBytes: Int) {
        guard bytes.count >= 8 else { return nil }
        let start: Int
        switch UInt32(littleEndian: bytes.loadUnaligned(as: UInt32.self)) {
        case 0x2054_4547: (method, start) = (.get, 4)
        case 0x4441_4548 where bytes[4] == ASCII.space: (method, start) = (.head, 5)
        default: return nil
        }
        guard bytes[start] == ASCII.slash else { return nil }
        var queryMark: Int?
        var index = start
        while true {
            guard bytes.count - index >= 8 else { return nil }
            let marks = EightBytes(bytes, at: index).marksInTarget
            index &+= marks == 0 ? 8 : EightBytes.countBefore(marks)
            if marks == 0 { continue }
            guard bytes[index] == ASCII.questionMark else { break }
            if queryMark == nil { queryMark = index }
            index &+= 1
        }
        let lineEnd = index + 9
        guard bytes[index] == ASCII.space, bytes.count - lineEnd >= 2, lineEnd <= maximumBytes,
            bytes[lineEnd] == ASCII.carriageReturn, bytes[lineEnd + 1] == ASCII.lineFeed,
            let version = HTTPVersion(EightBytes(bytes, at: index + 1))
        else { return nil }
        self.version = version
        target = RequestTarget(path: start..<(queryMark ?? index), end: index)
        end = lineEnd + 2
    }
}

extension HTTPVersion {
    @inline(__always)
    fileprivate init?(_ text: EightBytes) {
        switch text.word {
        case 0x312E_312F_5054_5448: self = .http11
        case 0x302E_312F_5054_5448: self = .http10
        default: return nil
        }
    }
}

extension EightBytes {
    /// Marks bytes that can't be in a target, and those that a query or a fragment begins with.
    @inline(__always)
    fileprivate var marksInTarget: UInt64 {
        below(ASCII.space + 1) | equal(to: ASCII.delete) | beyondASCII | equal(to: ASCII.questionMark)
            | equal(to: ASCII.numberSign)
    }
}

extension RequestHead.Facts {
    /// Nil for any other head, and if these bytes don't have all of it.
    ///
    /// - Parameters:
    ///   - index: moves from the first field behind the empty line.
    ///   - fields: becomes those of the head. Most requests of a connection have as many, so it isn't emptied before.
    fileprivate init?(
        plain bytes: UnsafeRawBufferPointer, from index: inout Int, _ fields: inout [HTTPHeaders.Field],
        maximumBytes: Int
    ) {
        self.init()
        let start = index
        var count = 0
        if fields.capacity > RequestParser.keptFields { fields = [] }
        while bytes.count - index >= 2, bytes[index] != ASCII.carriageReturn {
            guard count < RequestParser.keptFields, let field = readPlainLine(bytes, from: &index) else {
                return nil
            }
            if count < fields.count { fields[count] = field } else { fields.append(field) }
            count += 1
        }
        guard bytes.count - index >= 2, bytes[index + 1] == ASCII.lineFeed, arePlain,
            index - start <= maximumBytes
        else { return nil }
        if fields.count > count { fields.removeLast(fields.count - count) }
        index += 2
    }

    /// Whether the fields say that nothing follows, and to whom the request goes.
    private var arePlain: Bool {
        let others = KnownField.contentLength.bit | KnownField.transferEncoding.bit | KnownField.expect.bit
        return hostCount == 1 && knownFields & others == 0
    }

    /// Moves `index` behind the line; nil for one that isn't plain.
    @inline(__always)
    private mutating func readPlainLine(
        _ bytes: UnsafeRawBufferPointer, from index: inout Int
    ) -> HTTPHeaders.Field? {
        let nameEnd = Self.endOfName(in: bytes, from: index)
        let lineEnd = HeadGuard.endOfText(in: bytes, from: nameEnd)
        guard index < nameEnd, bytes.count - lineEnd >= 2, bytes[lineEnd] == ASCII.carriageReturn,
            bytes[lineEnd + 1] == ASCII.lineFeed
        else { return nil }
        let name = UnsafeRawBufferPointer(rebasing: bytes[index..<nameEnd])
        let field = HTTPHeaders.Field(bytes, name: index..<nameEnd, end: lineEnd, KnownField(name))
        if let known = field.known {
            knownFields |= known.bit
            // The others that framing depends on aren't plain, whatever they say.
            if known == .host || known == .connection {
                let value = bytes[field.valueStart..<field.valueEnd]
                guard (try? read(known, value, version: .http11)) != nil else { return nil }
            }
        } else if !ASCII.areToken(name) {
            return nil
        }
        index = lineEnd + 2
        return field
    }
}
