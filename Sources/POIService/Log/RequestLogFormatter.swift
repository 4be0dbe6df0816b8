import Bytes
import EventLoop
import HTTPServer
import PointsOfInterestAPI
import Telemetry

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// Formats requests as log lines: JSON objects, or text for a terminal. No line has a query, a body, or a part of a path
/// that may be somebody's coordinates.
struct RequestLogFormatter: Sendable {
    let isJSON: Bool
    var client = LoggedClient.full

    func line(for request: RequestObservation, at time: Timestamp) -> [UInt8] {
        var clock = LogClock()
        clock.set(time.nanosecondsSince1970, at: request.endNanoseconds)
        var buffer = ByteBuffer()
        var members = LogMembers()
        append(request, &clock, &members, to: &buffer)
        return buffer.bytes
    }

    func append(
        _ request: RequestObservation, _ clock: inout LogClock, _ members: inout LogMembers,
        to buffer: inout ByteBuffer
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
        to buffer: inout ByteBuffer
    ) {
        buffer.append(#"{"time":""#)
        clock.append(request.endNanoseconds, to: &buffer)
        members.append(kindOf: request, to: &buffer)
        buffer.append(thousandths: request.durationMicroseconds)
        if request.requestBodyBytes == 0 {
            buffer.append(#","requestBytes":0,"responseBytes":"#)
        } else {
            buffer.append(#","requestBytes":"#)
            buffer.appendDecimal(request.requestBodyBytes)
            buffer.append(#","responseBytes":"#)
        }
        buffer.appendDecimal(request.responseBytes)
        buffer.append(#","requestId":""#)
        request.id.append(to: &buffer)
        buffer.append(UInt8(ascii: "\""))
        if let trace = request.traceParent {
            buffer.append(#","traceId":""#)
            trace.append(to: &buffer)
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
        _ request: RequestObservation, _ clock: inout LogClock, to buffer: inout ByteBuffer
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
            buffer.append(UInt8(ascii: " "))
            buffer.append(utf8: part)
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
    private var texts = ByteBuffer()
    private var clientAddress: String?
    private var clientText = ByteBuffer(capacity: 64)

    /// Appends the members between a line's time and its duration: the request's method, path and route, the response's
    /// status and the source of its data. It searches linearly, since there are few kinds; a kind that was found moves
    /// towards the front.
    mutating func append(kindOf request: RequestObservation, to buffer: inout ByteBuffer) {
        guard request.isPathOfRoute, let route = request.routeTemplate, let method = request.method,
            let status = request.status
        else { return buffer.append(kindOf: request) }
        for index in kinds.indices
        where kinds[index].statusCode == status.code && kinds[index].source == request.source
            && kinds[index].method == method && kinds[index].route == route
        {
            buffer.append(kinds[index].range, of: texts)
            if index > 0 { kinds.swapAt(index, index - 1) }
            return
        }
        guard method.knownToken != nil else { return buffer.append(kindOf: request) }
        let start = texts.count
        texts.append(kindOf: request)
        let range = start..<texts.count
        buffer.append(range, of: texts)
        kinds.append(
            Kind(route: route, method: method, statusCode: status.code, source: request.source, range: range))
    }

    /// Appends the member with a client's address, as far as it may be logged.
    mutating func append(clientAt address: String, _ policy: LoggedClient, to buffer: inout ByteBuffer) {
        if clientAddress != address {
            clientText.removeAll()
            if let logged = policy.text(of: address) { clientText.append(member: #","client":""#, logged) }
            clientAddress = address
        }
        buffer.append(0..<clientText.count, of: clientText)
    }
}

extension ByteBuffer {
    /// - Parameter start: a comma, the member's name and the quote that begins its value.
    fileprivate mutating func append(member start: StaticString, _ value: String) {
        append(start)
        appendEscaped(value)
        append(UInt8(ascii: "\""))
    }

    fileprivate mutating func append(kindOf request: RequestObservation) {
        append(#"","level":"info","event":"request""#)
        if let method = request.method { append(member: #","method":""#, method.rawValue) }
        appendPath(of: request)
        if let route = request.routeTemplate { append(member: #","route":""#, route) }
        if let status = request.status {
            append(#","status":"#)
            appendDecimal(status.code)
        }
        switch request.source {
        case .memory: append(#","source":"memory""#)
        case .database: append(#","source":"database""#)
        case nil: break
        }
        append(#","durationMs":"#)
    }

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

    private mutating func appendPath(of request: RequestObservation) {
        if let path = request.loggedPath { append(member: #","path":""#, path) }
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
    /// The path for the log. It is logged whole if it is its route's template, or has only plain words and whole numbers.
    /// Otherwise `…` replaces everything from the first other segment on. A client that encodes the `?` of
    /// `/locations?lat=…` puts somebody's coordinates into the path, and so does one that uses them as an id.
    var loggedPath: String? {
        guard let path, path != routeTemplate else { return path }
        guard let odd = path.utf8.firstIndex(where: { !Self.isPlain($0) }) else { return path }
        let kept = path.utf8[..<odd].lastIndex(of: UInt8(ascii: "/")).map { path[...$0] } ?? ""
        return "\(kept)…"
    }

    /// Letters, digits and `/-_*~`.
    @inline(__always)
    private static func isPlain(_ byte: UInt8) -> Bool {
        if (byte | 0x20) &- UInt8(ascii: "a") < 26 || byte &- UInt8(ascii: "0") < 10 { return true }
        return byte == UInt8(ascii: "/") || byte == UInt8(ascii: "-") || byte == UInt8(ascii: "_")
            || byte == UInt8(ascii: "*") || byte == UInt8(ascii: "~")
    }
}

package enum LoggedCoordinates: String, CaseIterable, Sendable {
    case off
    /// Degrees with one decimal: an area of at most 11 km by 11 km.
    case coarse
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

package enum LoggedClient: String, CaseIterable, Sendable {
    case full
    /// Its network: the first 24 bits of an IPv4 address, or the first 48 of an IPv6 address, which is what a provider
    /// assigns to one site (RFC 6177).
    case network
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
        let bytes =
            [56, 48, 40, 32, 24, 16].map { UInt8(high >> UInt64($0) & 0xFF) }
            + [UInt8](repeating: 0, count: 10)
        var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
        guard inet_ntop(AF_INET6, bytes, &text, socklen_t(text.count)) != nil else { return nil }
        return String(decoding: text.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self) + "/48"
    }
}
