import EventLoop
import HTTPServer
import PointsOfInterestAPI
import Telemetry

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// Formats requests as log lines: JSON objects, or text for a terminal.
///
/// No line has a query, a body, or a part of a path that may be somebody's coordinates.
struct RequestLogFormatter: Sendable {
    /// Whether lines are JSON.
    let isJSON: Bool
    /// How much of a client's address a line has.
    var client = LoggedClient.full

    /// The line of a request that has just ended, with its line feed.
    func line(for request: RequestObservation, at time: Timestamp) -> [UInt8] {
        var clock = LogClock()
        clock.set(time.nanosecondsSince1970, at: request.endNanoseconds)
        var buffer = LineBuffer()
        var members = LogMembers()
        append(request, &clock, &members, to: &buffer)
        return Array(buffer.bytes)
    }

    /// Appends the line of a request, with its line feed.
    func append(
        _ request: RequestObservation, _ clock: inout LogClock, _ members: inout LogMembers,
        to buffer: inout LineBuffer
    ) {
        if isJSON {
            appendJSON(request, &clock, &members, to: &buffer)
        } else {
            appendText(request, &clock, to: &buffer)
            buffer.append(UInt8(ascii: "\n"))
        }
    }

    private func appendJSON(
        _ request: RequestObservation, _ clock: inout LogClock, _ members: inout LogMembers,
        to buffer: inout LineBuffer
    ) {
        buffer.append(#"{"time":""#)
        clock.append(request.endNanoseconds, to: &buffer)
        members.append(kindOf: request, to: &buffer)
        buffer.append(thousandths: request.durationMicroseconds)
        if request.requestBodyBytes == 0 {
            buffer.append(#","requestBytes":0,"responseBytes":"#)
        } else {
            buffer.append(#","requestBytes":"#)
            buffer.append(decimal: UInt64(request.requestBodyBytes))
            buffer.append(#","responseBytes":"#)
        }
        buffer.append(decimal: UInt64(request.responseBytes))
        buffer.append(#","requestId":""#)
        buffer.withRoom(for: request.id.maximumCount) { request.id.store(at: $0) }
        buffer.append(UInt8(ascii: "\""))
        if let trace = request.traceParent {
            buffer.append(#","traceId":""#)
            buffer.withRoom(for: TraceParent.traceIDLength) {
                trace.store(at: $0)
                return TraceParent.traceIDLength
            }
            buffer.append(UInt8(ascii: "\""))
        }
        if let address = request.remoteAddress { members.append(clientAt: address, client, to: &buffer) }
        if let waits = request.waits { buffer.append(waits) }
        if !request.logNotes.isEmpty {
            for (name, value) in request.logNotes {
                buffer.append(",\"")
                buffer.append(name)
                buffer.append(member: #"":""#, value)
            }
        }
        buffer.append("}\n")
    }

    private func appendText(
        _ request: RequestObservation, _ clock: inout LogClock, to buffer: inout LineBuffer
    ) {
        clock.append(request.endNanoseconds, to: &buffer)
        let method = request.method?.rawValue ?? "-"
        let path = (request.loggedPath ?? "-").escapedForLog
        let status = request.status.map { String($0.code) } ?? "gone"
        let duration = Double(request.durationMicroseconds) / 1000
        let line = "\(method) \(path) \(status) \(duration)ms \(request.responseBytes)B \(request.requestID)"
        let source = request.source.map { "source=\($0.rawValue)" }
        let rest = [request.traceParent?.traceID, source].compactMap(\.self)
        for part in [line] + rest + request.waitTexts + request.logNotes.map({ "\($0)=\($1)" }) {
            var part = part
            buffer.append(UInt8(ascii: " "))
            part.withUTF8 { buffer.append(UnsafeRawBufferPointer($0)) }
        }
    }
}

/// Keeps the text of those parts of log lines that many requests share.
struct LogMembers: ~Copyable {
    /// Requests with one method, route, status and source, whose path is the route's template.
    private struct Kind {
        let route: String
        let method: HTTPMethod
        let statusCode: Int
        let source: RequestObservation.Source?
        /// Where its text is in `texts`.
        let range: Range<Int>
    }

    /// Their number is bounded: a client can't choose any of the four freely.
    private var kinds: [Kind] = []
    private var texts = LineBuffer()
    private var client: (address: String, text: [UInt8])?

    /// Appends the members between a line's time and its duration: the request's method, path and route, the response's
    /// status and the source of its data.
    ///
    /// It searches linearly, since there are few kinds; a kind that was found moves towards the front.
    mutating func append(kindOf request: RequestObservation, to buffer: inout LineBuffer) {
        guard request.isPathOfRoute, let route = request.routeTemplate, let method = request.method,
            let status = request.status
        else { return buffer.append(kindOf: request) }
        for index in kinds.indices
        where kinds[index].statusCode == status.code && kinds[index].source == request.source
            && kinds[index].method == method && kinds[index].route == route
        {
            buffer.append(UnsafeRawBufferPointer(rebasing: texts.bytes[kinds[index].range]))
            if index > 0 { kinds.swapAt(index, index - 1) }
            return
        }
        guard method.knownToken != nil else { return buffer.append(kindOf: request) }
        let start = texts.count
        texts.append(kindOf: request)
        let range = start..<texts.count
        buffer.append(UnsafeRawBufferPointer(rebasing: texts.bytes[range]))
        kinds.append(
            Kind(
                route: route, method: method, statusCode: status.code, source: request.source, range: range))
    }

    /// Appends the member with a client's address, as far as it may be logged.
    mutating func append(clientAt address: String, _ policy: LoggedClient, to buffer: inout LineBuffer) {
        if client?.address != address {
            var text = LineBuffer()
            if let logged = policy.text(of: address) { text.append(member: #","client":""#, logged) }
            client = (address, Array(text.bytes))
        }
        client?.text.withUnsafeBytes { buffer.append($0) }
    }
}

extension LineBuffer {
    /// Appends a member whose value is a text.
    ///
    /// - Parameter start: a comma, the member's name and the quote that begins its value.
    fileprivate mutating func append(member start: StaticString, _ value: String) {
        append(start)
        append(escaping: value)
        append(UInt8(ascii: "\""))
    }

    /// Appends the members between the time and the duration, and the duration's name.
    fileprivate mutating func append(kindOf request: RequestObservation) {
        append(#"","level":"info","event":"request""#)
        if let method = request.method { append(member: #","method":""#, method.rawValue) }
        appendPath(of: request)
        if let route = request.routeTemplate { append(member: #","route":""#, route) }
        if let status = request.status {
            append(#","status":"#)
            append(decimal: UInt64(status.code))
        }
        switch request.source {
        case .memory: append(#","source":"memory""#)
        case .database: append(#","source":"database""#)
        case nil: break
        }
        append(#","durationMs":"#)
    }

    /// Appends the members that say what a request waited for.
    fileprivate mutating func append(_ waits: WaitTimes) {
        if let time = waits.turnNanoseconds {
            append(#","waitMs":"#)
            append(thousandths: time.microseconds)
        }
        if let time = waits.databaseNanoseconds {
            append(#","dbMs":"#)
            append(thousandths: time.microseconds)
        }
        if let server = waits.server { append(member: #","server":""#, server) }
    }

    /// Appends the member with the path, as far as it may be logged.
    private mutating func appendPath(of request: RequestObservation) {
        guard let length = request.pathByteCount else { return }
        append(#","path":""#)
        guard let room = room(for: length) else { return }
        request.storePath(at: room)
        if RequestObservation.isPlain(UnsafeRawBufferPointer(start: room, count: length)) {
            commit(length)
        } else {
            append(escaping: request.loggedPath ?? "")
        }
        append(UInt8(ascii: "\""))
    }
}

extension RequestObservation {
    fileprivate var durationMicroseconds: UInt64 { durationNanoseconds.microseconds }

    /// What the request waited for, in the form of a text line.
    fileprivate var waitTexts: [String] {
        func milliseconds(_ time: Int64) -> Double { Double(time.microseconds) / 1000 }
        return [
            waits?.turnNanoseconds.map { "waitMs=\(milliseconds($0))" },
            waits?.databaseNanoseconds.map { "dbMs=\(milliseconds($0))" },
            waits?.server.map { "server=\($0.escapedForLog)" },
        ].compactMap(\.self)
    }
}

extension Int64 {
    /// This number of nanoseconds in whole microseconds; a negative number counts as 0.
    fileprivate var microseconds: UInt64 { UInt64(Swift.max(0, self)) / 1000 }
}

extension RequestObservation {
    /// The path for the log. It is logged whole if it is its route's template, or has only plain words and whole
    /// numbers. Otherwise `…` replaces everything from the first other segment on.
    ///
    /// A client that encodes the `?` of `/locations?lat=…` puts somebody's coordinates into the path, and so does one
    /// that uses them as an id.
    var loggedPath: String? {
        guard let path, path != routeTemplate else { return path }
        guard let odd = path.utf8.firstIndex(where: { !Self.isPlain($0) }) else { return path }
        let kept = path.utf8[..<odd].lastIndex(of: UInt8(ascii: "/")).map { path[...$0] } ?? ""
        return "\(kept)…"
    }

    /// Whether a path has plain words and whole numbers only, so that it is logged as it is.
    static func isPlain(_ path: UnsafeRawBufferPointer) -> Bool {
        for byte in path where !isPlain(byte) { return false }
        return true
    }

    /// Letters, digits and `/-_*~`.
    @inline(__always)
    private static func isPlain(_ byte: UInt8) -> Bool {
        if (byte | 0x20) &- UInt8(ascii: "a") < 26 || byte &- UInt8(ascii: "0") < 10 { return true }
        return byte == UInt8(ascii: "/") || byte == UInt8(ascii: "-") || byte == UInt8(ascii: "_")
            || byte == UInt8(ascii: "*") || byte == UInt8(ascii: "~")
    }
}

/// How precisely a request's coordinates are logged.
public enum LoggedCoordinates: String, CaseIterable, Sendable {
    /// Not at all.
    case off
    /// Degrees with one decimal: an area of at most 11 km by 11 km.
    case coarse
    /// The degrees as in the request.
    case full

    /// Adds a request's coordinates to its line. Call it once a request.
    func note(_ center: Coordinate?, _ box: BoundingBox? = nil, in context: RequestContext) {
        guard self != .off else { return }
        if let center {
            context.logNotes.append(("center", text([center.latitude, center.longitude])))
        }
        if let box {
            context.logNotes.append(("bbox", text([box.west, box.south, box.east, box.north])))
        }
    }

    private func text(_ degrees: [Double]) -> String {
        degrees.map { self == .coarse ? ($0 * 10).rounded() / 10 + 0 : $0 }.map(\.description)
            .joined(separator: ",")
    }
}

/// How much of a client's address is logged.
public enum LoggedClient: String, CaseIterable, Sendable {
    /// The whole address.
    case full
    /// Its network: the first 24 bits of an IPv4 address, or the first 48 of an IPv6 address, which is what a provider
    /// assigns to one site (RFC 6177).
    case network
    /// Nothing.
    case off

    /// The part of an address that is logged. Nil if nothing is logged, also if only the network may be logged and the
    /// address can't be parsed.
    func text(of address: String?) -> String? {
        switch self {
        case .full: address
        case .network: address.flatMap { IPAddress($0) }?.networkText
        case .off: nil
        }
    }
}

extension IPAddress {
    /// `203.0.113.0/24`, or `2001:db8:7::/48`.
    fileprivate var networkText: String? {
        guard !isVersion4 else {
            let bytes = [24, 16, 8].map { String(low >> UInt64($0) & 0xFF) }
            return "\(bytes.joined(separator: ".")).0/24"
        }
        var bytes = in6_addr()
        withUnsafeMutableBytes(of: &bytes) { bytes in
            bytes.storeBytes(of: (high & ~0xFFFF).bigEndian, as: UInt64.self)
        }
        var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
        guard inet_ntop(AF_INET6, &bytes, &text, socklen_t(text.count)) != nil else { return nil }
        return String(decoding: text.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self) + "/48"
    }
}
