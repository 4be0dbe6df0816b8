/// How large events may be. A request that keeps to these is never refused for its size.
public enum EventLimits {
    /// Events in a batch.
    public static let events = 1000
    /// Bytes of a batch, once it is decompressed.
    public static let bodyBytes = 1 << 20
    /// Bytes of a user's id.
    public static let userIDBytes = 200
    /// Bytes of an event's name.
    public static let nameBytes = 100
    /// Bytes of an event's value, as JSON.
    public static let valueBytes = 8192
    /// Members of an object within a value.
    public static let members = 64
    /// Levels of a value: an object of texts has one.
    public static let levels = 8
    /// Seconds since 1970 that PostgreSQL's timestamps reach: a phone's clock may be off, by thousands of years.
    public static let times: ClosedRange<Double> = -2e11...9e12
    /// Faults that are told of one event.
    package static let faults = 3
}
