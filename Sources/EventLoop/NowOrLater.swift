/// What is there at once, in this turn of the loop, or has to be waited for.
///
/// So one function serves both: whoever can go on at once needs no task, and nothing is done twice where it turns out that
/// it can't.
public enum NowOrLater<Value, Failure: Error> {
    /// It is there.
    case now(Value)
    /// Gets it, or throws why that failed. To be called once, in a task on the same loop.
    case later(() async throws(Failure) -> Value)

    /// The value, once it is there.
    ///
    /// - Throws: why it couldn't be had.
    public func value() async throws(Failure) -> Value {
        switch self {
        case .now(let value): value
        case .later(let get): try await get()
        }
    }
}
