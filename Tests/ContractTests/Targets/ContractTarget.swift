import Foundation

/// What the contract suite is run against; one run, one target.
enum ContractTarget: Hashable, Sendable {
    /// The client alone: `MockURLProtocol` answers what was recorded.
    case recorded
    /// `poi-mock`, with the seed for fixtures.
    case mock
    /// `poi dev`, with a PostgreSQL of its own that holds the seed.
    case local
    /// A service that runs already, staging for instance.
    case remote(URL)
}
