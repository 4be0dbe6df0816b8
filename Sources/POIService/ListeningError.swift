/// An address that the service can't listen on, as one line for the person who chose it.
public struct ListeningError: Error, Hashable, CustomStringConvertible {
    let address: String
    let reason: String

    /// Says which address it is and why it can't be had.
    package init(address: String, reason: String) {
        self.address = address
        self.reason = reason
    }

    /// The line: the address and why it can't be had.
    public var description: String { "can't listen on \(address): \(reason)" }
}
