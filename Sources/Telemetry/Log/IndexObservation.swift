package enum IndexObservation: Sendable, Hashable {
    /// The maximum memory that they may take, in bytes, also while they are read again, and what that maximum follows
    /// from.
    case allowed(bytes: Int, origin: String)
    /// Memory is in bytes.
    case loading(places: Int, bytes: Int, duration: Duration)
    case loaded(places: Int, bytes: Int, duration: Duration)
    /// They were read from a file, in which they were the newest this long ago.
    case fileRead(places: Int, bytes: Int, age: Duration, duration: Duration)
    /// A file can't be used.
    case fileRefused(file: String, reason: String)
    /// They are in a file, for the next start.
    case fileWritten(places: Int, bytes: Int, duration: Duration)
    /// They can't be kept in a file.
    case fileFailed(reason: String)
    case serving(places: Int, bytes: Int)
    /// They aren't served any more; `reason` is one word.
    case withdrawn(reason: String)
    /// All of them, about `places`, need more memory than is allowed, in bytes; whether those from before are served.
    case tooLarge(places: Int, needed: Int, maximum: Int, isServing: Bool)
    /// This number of places in a range of ids differed from the database's, and were mended.
    case differed(places: Int, ids: ClosedRange<Int64>)
    /// The names of the categories, the source datasets, or what became of removed places, differed from the database's, and were mended.
    case factsDiffered
    /// These triggers are disabled or missing, so what is written isn't followed.
    case triggersInactive(names: [String])
    case triggersActive

    package var level: String {
        switch self {
        case .allowed, .loading, .loaded, .fileRead, .fileWritten, .serving, .triggersActive: "info"
        case .withdrawn, .differed, .factsDiffered, .triggersInactive, .fileRefused, .fileFailed: "warning"
        case .tooLarge: "error"
        }
    }

    package var name: String {
        switch self {
        case .allowed: "index-allowed"
        case .loading: "index-loading"
        case .loaded: "index-loaded"
        case .fileRead: "index-file-read"
        case .fileRefused: "index-file-refused"
        case .fileWritten: "index-file-written"
        case .fileFailed: "index-file-failed"
        case .serving: "index-serving"
        case .withdrawn: "index-withdrawn"
        case .tooLarge: "index-too-large"
        case .differed: "index-differed"
        case .factsDiffered: "index-facts-differed"
        case .triggersInactive: "index-triggers-inactive"
        case .triggersActive: "index-triggers-active"
        }
    }

    var message: String {
        switch self {
        case .allowed(let bytes, let origin):
            "places may take \(bytes.mebibytes) MiB while they are read again (\(origin))"
        case .loading(let places, let bytes, let duration):
            "\(places) places read into memory in \(duration.tenths) s, \(bytes.mebibytes) MiB"
        case .loaded(let places, let bytes, let duration):
            "all \(places) places are in memory after \(duration.tenths) s, \(bytes.mebibytes) MiB"
        case .fileRead(let places, let bytes, let age, let duration):
            "\(places) places were read from a file of \(bytes.mebibytes) MiB in \(duration.tenths) s: they were the newest "
                + "\(age.tenths) s ago"
        case .fileRefused(let file, let reason): "\(file) can't be used: \(reason)"
        case .fileWritten(let places, let bytes, let duration):
            "\(places) places are in a file of \(bytes.mebibytes) MiB, after \(duration.tenths) s"
        case .fileFailed(let reason): "places can't be kept for the next start: \(reason)"
        case .serving(let places, let bytes):
            "places are served from memory: \(places) in \(bytes.mebibytes) MiB"
        case .withdrawn(let reason): "places aren't served any more: \(reason)"
        case .tooLarge(let places, let needed, let maximum, let isServing):
            "all \(places) places need \(needed.mebibytes) MiB or more, with room to read them again, and "
                + "POI_INDEX_MAX_MEMORY is \(maximum.mebibytes) MiB: "
                + (isServing ? "those from before are served, and grow old" : "none are served")
        case .differed(let places, let ids):
            "\(places) places between the ids \(ids.words) differed from the database's, and are mended: something writes "
                + "past the triggers"
        case .factsDiffered:
            "categories, datasets or removed places differed from the database's, and are mended: something writes past the triggers"
        case .triggersInactive(let names):
            "changes of places aren't recorded: \(names.joined(separator: ", ")) disabled or missing"
        case .triggersActive: "all triggers that record changes of places are there"
        }
    }
}

extension Int {
    fileprivate var mebibytes: Int { (self >> 20) + (self & 0xF_FFFF == 0 ? 0 : 1) }
}

extension ClosedRange<Int64> {
    /// Both ends of a range of ids. The minimum and maximum of `Int64` are written as `first` and `last`.
    fileprivate var words: String {
        "\(lowerBound == .min ? "first" : "\(lowerBound)") and \(upperBound == .max ? "last" : "\(upperBound)")"
    }
}

extension Duration {
    fileprivate var tenths: Double { ((self / .seconds(1)) * 10).rounded() / 10 }
}
