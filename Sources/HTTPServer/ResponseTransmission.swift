/// How an answer goes over the wire.
///
/// All but `whole` are faults below HTTP, for a server that stands in for a bad network in an app's tests.
public enum ResponseTransmission: Hashable, Sendable {
    /// As it should.
    case whole
    /// The connection ends, in order, after so many bytes of the body, of which the head has told the whole length.
    case cutOff(afterBodyBytes: Int)
    /// The connection is reset in the answer's place.
    case reset
    /// The body goes so many bytes at a time: the first piece with the head, then one every interval.
    case dripped(bytes: Int, every: Duration)
}
