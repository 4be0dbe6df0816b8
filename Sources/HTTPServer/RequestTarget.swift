/// Where the parts of a request target lie (RFC 9112 section 3.2).
struct RequestTarget: Equatable, Sendable {
    let whole: Range<Int>
    /// Empty for an absolute target that names only a host.
    let path: Range<Int>
    let query: Range<Int>?
    /// Host and port of an absolute target.
    let authority: Range<Int>?

    /// Finds the parts of the target that lies at `whole` in `bytes`.
    ///
    /// - Throws: a 400 for what is none of: a path, an absolute `http` or `https` URI, `*` of an `OPTIONS`.
    init(_ bytes: UnsafeRawBufferPointer, _ whole: Range<Int>, method: HTTPMethod) throws(HTTPError) {
        guard let first = whole.first else { throw .malformed("An empty request target.") }
        for index in whole where bytes[index] <= ASCII.space || bytes[index] >= ASCII.delete {
            throw .malformed("A byte in the request target that must be percent-encoded.")
        }
        self.whole = whole
        var rest = whole
        if bytes[first] == ASCII.slash {
            authority = nil
        } else if bytes[first] == ASCII.asterisk, whole.count == 1, method == .options {
            authority = nil
        } else {
            let authority = try Self.authority(of: bytes, whole)
            self.authority = authority
            rest = authority.upperBound..<whole.upperBound
        }
        let queryMark = rest.first { bytes[$0] == ASCII.questionMark }
        path = rest.lowerBound..<(queryMark ?? rest.upperBound)
        query = queryMark.map { $0 + 1..<rest.upperBound }
        for index in rest where bytes[index] == ASCII.numberSign {
            throw .malformed("A fragment in the request target.")
        }
    }

    /// Finds and checks host and port of an absolute target.
    private static func authority(
        of bytes: UnsafeRawBufferPointer, _ whole: Range<Int>
    ) throws(HTTPError) -> Range<Int> {
        for scheme in ["http://", "https://"] {
            let end = whole.lowerBound + scheme.utf8.count
            guard end <= whole.upperBound,
                ASCII.equalIgnoringCase(bytes[whole.lowerBound..<end], scheme.utf8)
            else { continue }
            let authorityEnd = (end..<whole.upperBound).first {
                bytes[$0] == ASCII.slash || bytes[$0] == ASCII.questionMark || bytes[$0] == ASCII.numberSign
            }
            let authority = end..<(authorityEnd ?? whole.upperBound)
            guard HostValidation.isValid(bytes[authority]) else {
                throw .malformed("An invalid host in the request target.")
            }
            return authority
        }
        throw .malformed("A request target that is neither a path nor an http URI.")
    }
}
