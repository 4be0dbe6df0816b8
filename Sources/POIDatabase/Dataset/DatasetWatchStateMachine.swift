import Places

/// Decides when the dataset's id is known, and when it has to be read.
///
/// LISTEN comes first and the read after it, so that no renewal is missed between the two. Behind a pooler, LISTEN seems
/// to work but no notification ever arrives. So the watcher notifies itself, and trusts LISTEN once this echo arrives.
/// Until then, and wherever LISTEN can't work, the id is read every second.
struct DatasetWatchStateMachine {
    /// What is to be done.
    enum Action: Hashable {
        /// Read the database's state, and report it by `read` or `readFailed`.
        case read
        /// Send the echo: notify the watcher itself, through the pool.
        case sendEcho
        /// This is the current dataset from now on; nil where none is known.
        case know(DatasetID?)
    }

    private let mode: ListenMode
    /// Whether LISTEN was executed, and whether it was seen to work.
    private var (isListening, isProven) = (false, false)
    private var isStandby = false
    private var (isReading, isStale) = (false, false)
    private var known: DatasetID?
    private var (ticksSinceListening, quietTicks) = (0, 0)

    /// If no echo arrives, it is sent again after so many seconds.
    private static let echoInterval = 30
    /// After so many seconds without a notification the id is read all the same: a restore notifies nobody, and a broken
    /// network is silent.
    private static let doubtInterval = 10

    init(mode: ListenMode) {
        self.mode = mode
    }

    /// A second has passed; also to be called at the start.
    mutating func tick() -> [Action] {
        if isProven, known != nil {
            quietTicks += 1
            guard quietTicks >= Self.doubtInterval else { return [] }
            quietTicks = 0
            return read()
        }
        var actions: [Action] = []
        if isListening, !isProven, !isStandby {
            if ticksSinceListening % Self.echoInterval < 3 { actions.append(.sendEcho) }
            ticksSinceListening += 1
        }
        if mode != .on || isProven { actions += read() }
        return actions
    }

    /// LISTEN works from now on, or works again: a notification may have been missed.
    mutating func listening() -> [Action] {
        isListening = true
        ticksSinceListening = 1
        isStale = isReading
        // An earlier proof was for another session, or before notifications were dropped.
        isProven = false
        return know(nil) + [.sendEcho]
    }

    /// The listener's session has ended.
    mutating func lost() -> [Action] {
        (isListening, isProven) = (false, false)
        isStale = isReading
        return know(nil)
    }

    /// The echo has arrived.
    mutating func echoHeard() -> [Action] {
        guard isListening, !isProven else { return [] }
        isProven = true
        isStale = isReading
        return read()
    }

    /// A notification says that the dataset has this id now; nil where it can't be parsed.
    mutating func renewed(_ id: DatasetID?) -> [Action] {
        // A read that is under way may have seen the data before the renewal.
        isStale = isReading
        return know(isProven ? id : nil) + read()
    }

    /// The database's state was read.
    mutating func read(_ id: DatasetID?, isStandby: Bool) -> [Action] {
        self.isStandby = isStandby
        isReading = false
        if isStale {
            isStale = false
            return read()
        }
        return mode != .on || isProven ? know(id) : []
    }

    /// The state couldn't be read; the next second brings another attempt.
    mutating func readFailed() -> [Action] {
        (isReading, isStale) = (false, false)
        return know(nil)
    }

    private mutating func read() -> [Action] {
        guard !isReading else { return [] }
        isReading = true
        return [.read]
    }

    private mutating func know(_ id: DatasetID?) -> [Action] {
        guard known != id else { return [] }
        known = id
        return [.know(id)]
    }
}
