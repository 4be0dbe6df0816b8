import POIService

/// Decides when the dataset's id is known, and when it has to be read.
///
/// LISTEN comes first and the read after it, so that no renewal falls between the two. Behind a pooler LISTEN
/// seems to work and nothing is ever heard: so the watcher notifies itself, and listening counts from the echo
/// on. Until then, and wherever it can't work, the id is read every second.
struct DatasetWatchStateMachine {
    /// What is to be done.
    enum Action: Hashable {
        /// Ask the database for its state, and report it by `read` or `readFailed`.
        case read
        /// Notify the watcher itself, through the pool.
        case sendEcho
        /// This is known from now on; nil is nothing.
        case know(DatasetID?)
    }

    private let mode: ListenMode
    /// Whether LISTEN is in force, and whether it was seen to work.
    private var (isListening, isProven) = (false, false)
    private var isStandby = false
    private var (isReading, isStale) = (false, false)
    private var known: DatasetID?
    private var (ticksSinceListening, quietTicks) = (0, 0)

    /// Where no echo comes, it is sent for again after as many seconds.
    private static let echoInterval = 30
    /// After as many quiet seconds the id is read though nothing was heard: nobody notifies of a restore, and
    /// nothing is heard from a network that has broken.
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

    /// LISTEN is in force, from now on or anew: something may have been missed.
    mutating func listening() -> [Action] {
        isListening = true
        ticksSinceListening = 1
        isStale = isReading
        // What was proven before was another session, or notifications that were dropped.
        isProven = false
        return know(nil) + [.sendEcho]
    }

    /// The listener's session has ended.
    mutating func lost() -> [Action] {
        (isListening, isProven) = (false, false)
        isStale = isReading
        return know(nil)
    }

    /// The watcher heard itself.
    mutating func echoHeard() -> [Action] {
        guard isListening, !isProven else { return [] }
        isProven = true
        isStale = isReading
        return read()
    }

    /// The dataset was renewed, and has this id now; nil is an unreadable one.
    mutating func renewed(_ id: DatasetID?) -> [Action] {
        // A read that is under way may have seen the data before.
        isStale = isReading
        return know(isProven ? id : nil) + read()
    }

    /// The database said this of itself.
    mutating func read(_ id: DatasetID?, isStandby: Bool) -> [Action] {
        self.isStandby = isStandby
        isReading = false
        if isStale {
            isStale = false
            return read()
        }
        return mode != .on || isProven ? know(id) : []
    }

    /// The database couldn't be asked; the next second brings another attempt.
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
