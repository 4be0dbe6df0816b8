/// A state machine and the actions that are still to be performed, in their order.
///
/// Performing an action may make the next event happen at once: its actions come behind those that wait, so
/// no action is performed inside another.
struct ActionQueue {
    typealias Event = HTTPConnectionStateMachine.Event
    typealias Action = HTTPConnectionStateMachine.Action

    private(set) var machine: HTTPConnectionStateMachine
    private var waiting: [Action] = []
    /// Memory for actions, used in turn with `waiting`.
    private var spare: [Action] = []
    private var isPerforming = false

    init(limits: HTTPLimits) {
        machine = HTTPConnectionStateMachine(limits: limits)
    }

    /// Tells the machine of an event; true where the caller is the one to perform what follows from it.
    mutating func handle(_ event: Event) -> Bool {
        machine.handle(event, into: &waiting)
        guard !isPerforming, !waiting.isEmpty else { return false }
        isPerforming = true
        return true
    }

    /// The next actions to perform; nil where none is left.
    mutating func next() -> [Action]? {
        guard !waiting.isEmpty else {
            isPerforming = false
            return nil
        }
        var batch: [Action] = []
        swap(&batch, &waiting)
        swap(&waiting, &spare)
        return batch
    }

    /// Takes back the memory of actions that were performed.
    mutating func recycle(_ batch: consuming [Action]) {
        batch.removeAll(keepingCapacity: true)
        spare = batch
    }
}
