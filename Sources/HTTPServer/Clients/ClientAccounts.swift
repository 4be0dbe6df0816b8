import EventLoop

/// The time of a loop that one client's connections have used. Confined to its loop.
final class ClientAccount {
    let client: IPAddress
    fileprivate var connectionCount = 0
    private var spentNanoseconds: Int64 = 0
    /// When it was spent, in milliseconds of the loop's clock, which stands still during a turn.
    private var turn: Int64 = 0

    /// How long a client may keep a loop busy in a turn. After that, other clients' connections go first.
    private static let nanosecondsOfTurn: Int64 = 1_000_000

    fileprivate init(_ client: IPAddress) {
        self.client = client
    }

    func spend(_ nanoseconds: Int64, in turn: Int64) {
        if turn != self.turn { (self.turn, spentNanoseconds) = (turn, 0) }
        spentNanoseconds += nanoseconds
    }

    func isOverdrawn(in turn: Int64) -> Bool {
        turn == self.turn && spentNanoseconds > Self.nanosecondsOfTurn
    }
}

/// The clients that have connections to a loop. Confined to that loop.
///
/// Proxies have no account: their connections have the requests of many clients.
final class ClientAccounts {
    private let clients: ClientIdentification
    private var accounts: [IPAddress: ClientAccount] = [:]

    init(_ clients: ClientIdentification) {
        self.clients = clients
    }

    /// The account of a new connection; nil for a trusted proxy's.
    func open(from remoteAddress: String?) -> ClientAccount? {
        guard let client = clients.directClient(remoteAddress) else { return nil }
        let account = accounts[client] ?? ClientAccount(client)
        accounts[client] = account
        account.connectionCount += 1
        return account
    }

    /// Called when a connection that has an account is closed.
    func close(_ account: ClientAccount) {
        account.connectionCount -= 1
        if account.connectionCount == 0 { accounts[account.client] = nil }
    }
}
