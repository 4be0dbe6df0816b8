/// Why a request failed, as the service says (RFC 9457, `application/problem+json`).
public struct Problem: Hashable, Sendable {
    /// A URI reference that names the kind of problem: `/problems/` and the code.
    public var type: String
    /// What kind of problem this is, for people; the same for every problem of its code.
    public var title: String
    /// The HTTP status of the response.
    public var status: Int
    /// What went wrong this time, for people.
    public var detail: String?
    /// What kind of problem this is, for programs.
    public var code: ProblemCode
    /// The request's id, which the service's log has too.
    public var requestId: String?
    /// Every fault of the request's parameters; empty for other problems.
    public var errors: [ParameterFault]
    /// The faults of the first hundred events of the request that have faults; empty for other problems. They are sent as
    /// `errors`.
    public var eventErrors: [EventFault]
    /// Every fault of the members of the request's body; empty for other problems. They are sent as `errors`.
    public var memberErrors: [MemberFault]
    /// The place that the request's one was merged into; nil for other problems.
    public var mergedInto: Int?

    /// Makes a problem from its code, which decides the type, the title and the default status.
    public init(
        _ code: ProblemCode, status: Int? = nil, detail: String? = nil, requestId: String? = nil,
        errors: [ParameterFault] = [], eventErrors: [EventFault] = [], memberErrors: [MemberFault] = [],
        mergedInto: Int? = nil
    ) {
        let kind = ProblemCode.kinds[code]
        self.type = "/problems/\(code.rawValue)"
        self.title = kind?.title ?? code.rawValue
        self.status = status ?? kind?.status ?? 500
        self.detail = detail
        self.code = code
        self.requestId = requestId
        self.errors = errors
        self.eventErrors = eventErrors
        self.memberErrors = memberErrors
        self.mergedInto = mergedInto
    }
}

/// A fault of one of a request's parameters.
public struct ParameterFault: Hashable, Sendable, Codable {
    /// The parameter's name in the request, shortened if it is long.
    public let parameter: String
    /// What is wrong, for programs.
    public let code: ProblemCode
    /// What is wrong, for people.
    public let detail: String

    /// Makes a fault.
    public init(parameter: String, code: ProblemCode, detail: String) {
        self.parameter = parameter
        self.code = code
        self.detail = detail
    }
}

extension Problem {
    /// A fault of a member of a request's body.
    public struct MemberFault: Hashable, Sendable, Codable {
        /// Where the member is in the body (RFC 6901): `/properties/phone`; empty for the body as a whole.
        public let pointer: String
        /// What is wrong, for programs.
        public let code: EventFault.Code
        /// What is wrong, for people.
        public let detail: String

        /// Makes a fault.
        public init(pointer: String, code: EventFault.Code, detail: String) {
            self.pointer = pointer
            self.code = code
            self.detail = detail
        }
    }
}

extension Problem: Codable {
    private enum CodingKeys: String, CodingKey {
        case type, title, status, detail, code, requestId, mergedInto, errors
    }

    /// Decodes a problem document, also one that a proxy sent. A missing or malformed member gets its default (RFC 9457,
    /// section 3.1): 0 as the status, `unspecified` as the code.
    ///
    /// - Throws: `DecodingError` if this is not a JSON object.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        func optional<Member: Decodable>(_ key: CodingKeys) -> Member? {
            try? container.decodeIfPresent(Member.self, forKey: key)
        }
        type = optional(.type) ?? "about:blank"
        status = optional(.status) ?? 0
        detail = optional(.detail)
        code = optional(.code) ?? .unspecified
        title = optional(.title) ?? "The request failed"
        requestId = optional(.requestId)
        mergedInto = optional(.mergedInto)
        // A fault of an event has an index, one of a member a pointer, and one of a parameter neither.
        eventErrors = optional(.errors) ?? []
        memberErrors = optional(.errors) ?? []
        errors = eventErrors.isEmpty && memberErrors.isEmpty ? optional(.errors) ?? [] : []
    }

    /// Encodes the document, for apps and their tests; empty members are left out. The service writes `json`.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(type, forKey: .type)
        try container.encode(title, forKey: .title)
        try container.encode(status, forKey: .status)
        try container.encodeIfPresent(detail, forKey: .detail)
        try container.encode(code, forKey: .code)
        try container.encodeIfPresent(requestId, forKey: .requestId)
        try container.encodeIfPresent(mergedInto, forKey: .mergedInto)
        if !errors.isEmpty { try container.encode(errors, forKey: .errors) }
        if !eventErrors.isEmpty { try container.encode(eventErrors, forKey: .errors) }
        if !memberErrors.isEmpty { try container.encode(memberErrors, forKey: .errors) }
    }
}

extension Problem {
    /// The body of a response with this problem, with its members in a fixed order. It is written without Foundation,
    /// because an overloaded service writes many.
    package var json: [UInt8] {
        var writer = JSONWriter(capacity: 256 + 128 * (errors.count + eventErrors.count))
        writer.beginObject()
        writer.member("type", type)
        writer.member("title", title)
        writer.member("status", status)
        writer.member("detail", detail)
        writer.member("code", code.rawValue)
        writer.member("requestId", requestId)
        if let mergedInto { writer.member("mergedInto", mergedInto) }
        if !errors.isEmpty {
            writer.name("errors")
            writer.beginArray()
            for fault in errors { writer.value(fault) }
            writer.endArray()
        }
        if !eventErrors.isEmpty {
            writer.name("errors")
            writer.beginArray()
            for fault in eventErrors { writer.value(fault) }
            writer.endArray()
        }
        if !memberErrors.isEmpty {
            writer.name("errors")
            writer.beginArray()
            for fault in memberErrors { writer.value(fault) }
            writer.endArray()
        }
        writer.endObject()
        return writer.bytes
    }
}

extension JSONWriter {
    fileprivate mutating func value(_ fault: EventFault) {
        beginObject()
        member("index", fault.index)
        member("code", fault.code.rawValue)
        member("detail", fault.detail)
        member("parameter", fault.parameter)
        endObject()
    }

    fileprivate mutating func value(_ fault: Problem.MemberFault) {
        beginObject()
        member("pointer", fault.pointer)
        member("code", fault.code.rawValue)
        member("detail", fault.detail)
        endObject()
    }

    fileprivate mutating func value(_ fault: ParameterFault) {
        beginObject()
        member("parameter", fault.parameter)
        member("code", fault.code.rawValue)
        member("detail", fault.detail)
        endObject()
    }
}
