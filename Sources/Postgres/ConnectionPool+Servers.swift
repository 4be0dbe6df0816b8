import EventLoop

extension ConnectionPool {
    /// What becomes of a connection when its server is looked at again.
    public enum Fate: Sendable, Hashable {
        /// It stays.
        case keep
        /// It is made anew once it is idle; of each lane one at a time, so that the others go on meanwhile.
        case move
        /// It gets nothing more, and is made anew once it is idle.
        case leave
        /// It ends now. What is in flight there and may be run twice is run elsewhere.
        case abandon
    }

    /// Looks at every healthy connection by the host and the port that it was made to, as libpq names them.
    public func review(_ fate: (_ target: (host: String, port: String)) -> Fate) {
        loop.preconditionInEventLoop()
        for lane in lanes { lane.review(fate) }
    }
}

extension PoolLane {
    /// See ``ConnectionPool/review(_:)``.
    func review(_ fate: (_ target: (host: String, port: String)) -> ConnectionPool.Fate) {
        var hasMoved = false
        for (slot, connection) in connections.enumerated() {
            guard let connection else { continue }
            switch fate(connection.target) {
            case .keep:
                break
            case .move where hasMoved:
                break
            case .move:
                hasMoved = true
                retire(slot)
            case .leave:
                retire(slot)
            case .abandon:
                connection.end(PostgresError(.connectionLost, clientMessage: "its server does not answer"))
            }
        }
    }
}
