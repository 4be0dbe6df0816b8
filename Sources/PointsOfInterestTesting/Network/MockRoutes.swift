import Locking
import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Which handler belongs to which session.
///
/// A protocol object can't see its session, and on Linux not the session's additional headers either; but it knows
/// its class. So each session gets a class of its own: `NumberedProtocol` of a type that spells the number.
enum MockRoutes {
    struct Route: Sendable {
        let handler: @Sendable (URLRequest) throws -> MockURLProtocol.Answer
        let events: AsyncStream<MockURLProtocol.Event>.Continuation?
        /// Nil when nothing can be sent any more: a session lives as long as its tasks.
        weak var session: URLSession?
    }

    private struct Table {
        var routes: [Int: Route] = [:]
        var lastNumber = 0
    }

    private static let table = Lock(Table())

    static func session(
        events: AsyncStream<MockURLProtocol.Event>.Continuation?,
        _ handler: @escaping @Sendable (URLRequest) throws -> MockURLProtocol.Answer
    ) -> URLSession {
        let number = table.withLock { table in
            table.lastNumber += 1
            return table.lastNumber
        }
        let configuration = URLSessionConfiguration.uncached
        configuration.protocolClasses = [protocolClass(spelling: number, in: NumberEnd.self)]
        let session = URLSession(configuration: configuration)
        table.withLock { table in
            table.routes = table.routes.filter { $0.value.session != nil }
            table.routes[number] = Route(handler: handler, events: events, session: session)
        }
        return session
    }

    static func route(_ number: Int) -> Route? {
        table.withLock { $0.routes[number] }
    }

    /// The class for a number: one type deeper for each of its bits, so that a million sessions need twenty.
    private static func protocolClass<Number: SpelledNumber>(
        spelling rest: Int, in number: Number.Type
    ) -> MockURLProtocol.Type {
        guard rest > 0 else { return NumberedProtocol<Number>.self }
        return rest.isMultiple(of: 2)
            ? protocolClass(spelling: rest / 2, in: NumberZero<Number>.self)
            : protocolClass(spelling: rest / 2, in: NumberOne<Number>.self)
    }
}

/// A number that is spelled by a type, its last bit innermost.
private protocol SpelledNumber {
    /// The number's bits, and how many there are.
    static var bits: (value: Int, count: Int) { get }
}

private enum NumberEnd: SpelledNumber {
    static var bits: (value: Int, count: Int) { (0, 0) }
}

private enum NumberZero<Lower: SpelledNumber>: SpelledNumber {
    static var bits: (value: Int, count: Int) { (Lower.bits.value, Lower.bits.count + 1) }
}

private enum NumberOne<Lower: SpelledNumber>: SpelledNumber {
    static var bits: (value: Int, count: Int) {
        let lower = Lower.bits
        return (lower.value | 1 << lower.count, lower.count + 1)
    }
}

private final class NumberedProtocol<Number: SpelledNumber>: MockURLProtocol {
    override class var routeNumber: Int { Number.bits.value }
}
