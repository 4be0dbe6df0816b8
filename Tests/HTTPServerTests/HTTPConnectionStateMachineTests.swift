import Randomness
import Testing

@testable import HTTPServer

@Suite("The connection's state machine")
struct HTTPConnectionStateMachineTests {
    typealias Machine = HTTPConnectionStateMachine
    typealias Event = HTTPConnectionStateMachine.Event
    typealias Action = HTTPConnectionStateMachine.Action

    static let plainHead = Event.headParsed(keepsAlive: true, bodyFollows: false, expectsContinue: false)
    static let error = HTTPError.malformed("a test's")

    /// A machine that went through events, whose actions were those expected.
    private func machine(after events: Event..., limits: HTTPLimits = HTTPLimits()) -> Machine {
        var machine = Machine(limits: limits)
        for event in events { _ = machine.actions(on: event) }
        return machine
    }

    private func handling(keepsAlive: Bool = true) -> Machine {
        machine(
            after: .connected(),
            .headParsed(keepsAlive: keepsAlive, bodyFollows: false, expectsContinue: false), .requestParsed)
    }

    @Test("A new connection reads, and has the time of a header block")
    func connects() {
        var machine = Machine(limits: HTTPLimits())
        #expect(machine.actions(on: .connected()) == [.startReading, .setDeadline(.head)])
    }

    @Test("A kept connection serves one request after the other")
    func keepsAlive() {
        var machine = machine(after: .connected())
        for _ in 0..<3 {
            #expect(machine.actions(on: Self.plainHead) == [])
            #expect(machine.actions(on: .requestParsed) == [.clearDeadline, .dispatch])
            #expect(
                machine.actions(on: .responseProduced(asksToClose: false)) == [
                    .sendResponse(keepsAlive: true)
                ])
            #expect(
                machine.actions(on: .responseWritten(isDrained: true)) == [.setDeadline(.idle), .parse])
            #expect(machine.actions(on: .inputExhausted(isInRequest: false)) == [])
        }
    }

    @Test("The first request's time counts from the accept, a later one's from its first byte")
    func headDeadline() {
        var machine = machine(after: .connected())
        #expect(machine.actions(on: .inputExhausted(isInRequest: true)) == [])
        #expect(machine.actions(on: .inputExhausted(isInRequest: true)) == [])
        _ = machine.actions(on: Self.plainHead)
        _ = machine.actions(on: .requestParsed)
        _ = machine.actions(on: .responseProduced(asksToClose: false))
        _ = machine.actions(on: .responseWritten(isDrained: true))
        #expect(machine.actions(on: .inputExhausted(isInRequest: true)) == [.setDeadline(.head)])
        #expect(machine.actions(on: .inputExhausted(isInRequest: true)) == [])
    }

    @Test("A body has a time of its own, and is asked for where the client waits to be asked")
    func body() {
        var machine = machine(after: .connected())
        let head = Event.headParsed(keepsAlive: true, bodyFollows: true, expectsContinue: true)
        #expect(machine.actions(on: head) == [.setDeadline(.body), .sendContinue])
        #expect(machine.actions(on: .inputExhausted(isInRequest: true)) == [])
        #expect(machine.actions(on: .requestParsed) == [.clearDeadline, .dispatch])
    }

    @Test("A header block or a body that is late is answered with 408, and the connection ends")
    func lateRequest() {
        let late = Event.deadlineReached(progressed: false)
        var silent = machine(after: .connected())
        #expect(silent.actions(on: late) == [.sendError(.headTimedOut)])
        var partial = machine(after: .connected(), .inputExhausted(isInRequest: true))
        #expect(partial.actions(on: late) == [.sendError(.headTimedOut)])
        var body = machine(
            after: .connected(), .headParsed(keepsAlive: true, bodyFollows: true, expectsContinue: false))
        #expect(body.actions(on: late) == [.sendError(.bodyTimedOut)])
        #expect(
            body.actions(on: .responseWritten(isDrained: true)) == [.shutdownWriting, .setDeadline(.linger)])
    }

    @Test("An idle kept connection is closed without a word")
    func idle() {
        var machine = handling()
        _ = machine.actions(on: .responseProduced(asksToClose: false))
        _ = machine.actions(on: .responseWritten(isDrained: true))
        #expect(machine.actions(on: .deadlineReached(progressed: false)) == [.close])
        #expect(machine.state == .closed)
    }

    @Test("After an error the client gets time to read it: half-close, a bounded reading, close")
    func lingers() {
        let limits = HTTPLimits(lingerBytes: 100)
        var machine = machine(after: .connected(), limits: limits)
        #expect(machine.actions(on: .parseFailed(Self.error)) == [.sendError(Self.error)])
        #expect(machine.discardsInput && !machine.wantsInput)
        #expect(
            machine.actions(on: .responseWritten(isDrained: true)) == [
                .shutdownWriting, .setDeadline(.linger),
            ])
        #expect(machine.actions(on: .inputDiscarded(bytes: 60)) == [])
        #expect(machine.actions(on: .inputDiscarded(bytes: 40)) == [])
        var other = machine
        #expect(machine.actions(on: .inputDiscarded(bytes: 1)) == [.close])
        #expect(other.actions(on: .deadlineReached(progressed: false)) == [.close])
    }

    @Test("The peer's end cuts the lingering short")
    func lingeringEnds() {
        var machine = machine(
            after: .connected(), .parseFailed(Self.error), .responseWritten(isDrained: true))
        #expect(machine.actions(on: .peerEnded) == [.close])
    }

    @Test("A client that wants the connection closed gets that after its answer")
    func closes() {
        var machine = handling(keepsAlive: false)
        #expect(
            machine.actions(on: .responseProduced(asksToClose: false)) == [.sendResponse(keepsAlive: false)])
        #expect(
            machine.actions(on: .responseWritten(isDrained: true)) == [
                .shutdownWriting, .setDeadline(.linger),
            ])
    }

    @Test("A handler can end the connection behind its answer")
    func handlerCloses() {
        var machine = handling()
        #expect(
            machine.actions(on: .responseProduced(asksToClose: true)) == [.sendResponse(keepsAlive: false)])
    }

    @Test("Bytes behind a request in flight wait; too many of them stop the reading until they are used up")
    func pipelineIsBounded() {
        var machine = handling()
        let limit = HTTPLimits().pipelineBytes
        #expect(machine.actions(on: .inputWaits(bytes: limit)) == [])
        #expect(machine.actions(on: .inputWaits(bytes: limit + 1)) == [.stopReading])
        #expect(machine.actions(on: .inputWaits(bytes: limit + 2)) == [])
        _ = machine.actions(on: .responseProduced(asksToClose: false))
        #expect(machine.actions(on: .responseWritten(isDrained: true)) == [.setDeadline(.idle), .parse])
        _ = machine.actions(on: Self.plainHead)
        #expect(machine.actions(on: .requestParsed) == [.clearDeadline, .dispatch])
        #expect(machine.actions(on: .inputWaits(bytes: limit)) == [.startReading])
    }

    @Test("A client that does not read an answer is not read from, nor served on, until it has")
    func slowReader() {
        var machine = handling()
        _ = machine.actions(on: .responseProduced(asksToClose: false))
        #expect(
            machine.actions(on: .responseWritten(isDrained: false)) == [.stopReading, .setDeadline(.write)])
        #expect(!machine.wantsInput)
        #expect(machine.actions(on: .deadlineReached(progressed: true)) == [.setDeadline(.write)])
        #expect(machine.actions(on: .drained) == [.startReading, .setDeadline(.idle), .parse])
    }

    @Test("A client that takes nothing of an answer is reset")
    func stalledReader() {
        var machine = handling()
        _ = machine.actions(on: .responseProduced(asksToClose: false))
        _ = machine.actions(on: .responseWritten(isDrained: false))
        #expect(machine.actions(on: .deadlineReached(progressed: false)) == [.reset])
        #expect(machine.state == .closed)
    }

    @Test("A half-close leaves what was received to be answered, then the connection ends")
    func halfClose() {
        var machine = handling()
        #expect(machine.actions(on: .peerEnded) == [.probePeer])
        _ = machine.actions(on: .responseProduced(asksToClose: false))
        #expect(machine.actions(on: .responseWritten(isDrained: true)) == [.setDeadline(.idle), .parse])
        // The next pipelined request is still answered.
        _ = machine.actions(on: Self.plainHead)
        #expect(machine.actions(on: .requestParsed) == [.clearDeadline, .dispatch])
        _ = machine.actions(on: .responseProduced(asksToClose: false))
        _ = machine.actions(on: .responseWritten(isDrained: true))
        #expect(machine.actions(on: .inputExhausted(isInRequest: false)) == [.close])
    }

    @Test("A client whose end comes early is probed once, whether it is gone, and cancelled if so")
    func probes() {
        var machine = handling()
        #expect(machine.actions(on: .peerEnded) == [.probePeer])
        var departed = machine
        #expect(departed.actions(on: .peerFailed) == [.cancelRequest, .close])
        _ = machine.actions(on: .responseProduced(asksToClose: false))
        _ = machine.actions(on: .responseWritten(isDrained: true))
        _ = machine.actions(on: Self.plainHead)
        #expect(machine.actions(on: .requestParsed) == [.clearDeadline, .dispatch])
        #expect(machine.actions(on: .peerFailed) == [.cancelRequest, .close])
    }

    @Test("A client whose end came while it was written to is probed with its next request")
    func probesLater() {
        var machine = handling()
        _ = machine.actions(on: .responseProduced(asksToClose: false))
        _ = machine.actions(on: .responseWritten(isDrained: false))
        #expect(machine.actions(on: .peerEnded) == [])
        #expect(machine.actions(on: .drained) == [.setDeadline(.idle), .parse])
        _ = machine.actions(on: Self.plainHead)
        #expect(machine.actions(on: .requestParsed) == [.clearDeadline, .probePeer, .dispatch])
    }

    @Test("A client that speaks HTTP/1.0 knows no interim answer, and gets none")
    func probesNoOldClient() {
        var machine = machine(
            after: .connected(),
            .headParsed(keepsAlive: false, bodyFollows: false, expectsContinue: false, takesInterim: false),
            .requestParsed)
        #expect(machine.actions(on: .peerEnded) == [])
        #expect(
            machine.actions(on: .responseProduced(asksToClose: false)) == [.sendResponse(keepsAlive: false)])
    }

    @Test("A half-close inside a request is answered with 400")
    func truncated() {
        var head = machine(after: .connected(), .inputExhausted(isInRequest: true))
        #expect(head.actions(on: .peerEnded) == [.sendError(.truncated)])
        #expect(head.actions(on: .responseWritten(isDrained: true)) == [.close])

        var waiting = handling()
        _ = waiting.actions(on: .peerEnded)
        _ = waiting.actions(on: .responseProduced(asksToClose: false))
        _ = waiting.actions(on: .responseWritten(isDrained: true))
        #expect(waiting.actions(on: .inputExhausted(isInRequest: true)) == [.sendError(.truncated)])
    }

    @Test("A half-close between requests ends the connection")
    func halfCloseWhileIdle() {
        var machine = machine(after: .connected())
        #expect(machine.actions(on: .peerEnded) == [.close])
    }

    @Test("A broken connection cancels the request in flight")
    func broken() {
        var machine = handling()
        #expect(machine.actions(on: .peerFailed) == [.cancelRequest, .close])
        #expect(machine.actions(on: .responseProduced(asksToClose: false)) == [])
    }

    /// A connection that has answered a request and is kept.
    private func kept() -> Machine {
        var machine = handling()
        _ = machine.actions(on: .responseProduced(asksToClose: false))
        _ = machine.actions(on: .responseWritten(isDrained: true))
        return machine
    }

    @Test("Draining ends an idle connection in order, and one in flight after its answer")
    func drains() {
        var idle = kept()
        #expect(idle.actions(on: .drainRequested()) == [.shutdownWriting, .setDeadline(.linger)])
        #expect(idle.actions(on: .peerEnded) == [.close])

        var busy = handling()
        #expect(busy.actions(on: .drainRequested()) == [])
        #expect(
            busy.actions(on: .responseProduced(asksToClose: false)) == [.sendResponse(keepsAlive: false)])

        var writing = handling()
        _ = writing.actions(on: .responseProduced(asksToClose: false))
        _ = writing.actions(on: .responseWritten(isDrained: false))
        #expect(writing.actions(on: .drainRequested()) == [])
        #expect(writing.actions(on: .drained) == [.startReading, .setDeadline(.idle), .parse])
        #expect(
            writing.actions(on: .inputExhausted(isInRequest: false)) == [
                .shutdownWriting, .setDeadline(.linger),
            ])
    }

    @Test("A request that has begun to arrive is answered while draining")
    func drainsPartial() {
        var machine = machine(after: .connected(), .inputExhausted(isInRequest: true))
        #expect(machine.actions(on: .drainRequested()) == [])
        _ = machine.actions(on: Self.plainHead)
        #expect(machine.actions(on: .requestParsed) == [.clearDeadline, .dispatch])
    }

    @Test("A request that waits unread on a kept connection is answered while draining")
    func drainsUnread() {
        var machine = kept()
        #expect(machine.actions(on: .drainRequested(inputWaits: true)) == [])
        _ = machine.actions(on: Self.plainHead)
        #expect(machine.actions(on: .requestParsed) == [.clearDeadline, .dispatch])
        #expect(
            machine.actions(on: .responseProduced(asksToClose: false)) == [.sendResponse(keepsAlive: false)])
    }

    @Test("A new connection may send its first request while draining, for a while")
    func drainsNew() {
        var asking = machine(after: .connected())
        #expect(asking.actions(on: .drainRequested()) == [.setDeadline(.lastRequest)])
        #expect(asking.actions(on: .inputExhausted(isInRequest: true)) == [.setDeadline(.head)])
        _ = asking.actions(on: Self.plainHead)
        #expect(asking.actions(on: .requestParsed) == [.clearDeadline, .dispatch])

        var silent = machine(after: .connected())
        _ = silent.actions(on: .drainRequested())
        #expect(
            silent.actions(on: .deadlineReached(progressed: false)) == [
                .shutdownWriting, .setDeadline(.linger),
            ])
    }

    @Test("Without keep-alive the next answer is the last, and an idle connection stays")
    func endsKeepAlive() {
        var machine = kept()
        #expect(machine.actions(on: .keepAliveEnded) == [])
        #expect(machine.actions(on: .inputExhausted(isInRequest: false)) == [])
        _ = machine.actions(on: Self.plainHead)
        #expect(machine.actions(on: .requestParsed) == [.clearDeadline, .dispatch])
        #expect(
            machine.actions(on: .responseProduced(asksToClose: false)) == [.sendResponse(keepsAlive: false)])
    }

    @Test("The hard end cancels what is in flight")
    func hardEnd() {
        var machine = handling()
        #expect(machine.actions(on: .closeRequested) == [.cancelRequest, .close])
    }

    @Test("A connection over the capacity is only told so")
    func refused() {
        var machine = Machine(limits: HTTPLimits())
        let refusal = HTTPError.overloaded(retryAfterSeconds: 1)
        #expect(machine.actions(on: .connected(refusal: refusal)) == [.startReading, .sendError(refusal)])
        #expect(
            machine.actions(on: .responseWritten(isDrained: true)) == [
                .shutdownWriting, .setDeadline(.linger),
            ])
    }

    @Test("Nothing is done after the end, whatever happens")
    func nothingAfterTheEnd() {
        let events: [Event] = [
            .inputExhausted(isInRequest: true), Self.plainHead, .requestParsed, .parseFailed(Self.error),
            .inputWaits(bytes: 1 << 20), .inputDiscarded(bytes: 1), .responseProduced(asksToClose: true),
            .responseWritten(isDrained: true), .drained, .deadlineReached(progressed: false), .peerEnded,
            .peerFailed, .drainRequested(), .keepAliveEnded, .closeRequested, .connected(),
        ]
        var machine = machine(after: .connected(), .peerFailed)
        for event in events { #expect(machine.actions(on: event) == []) }
    }

    @Test("Any order of events ends in at most one close, and never serves two requests at once")
    func anyOrder() {
        let seed = UInt64.random(in: .min ... .max)
        print("seed of HTTPConnectionStateMachineTests.anyOrder: \(seed)")
        var random = SeededGenerator(seed: seed)
        for _ in 0..<2000 { walk(&random) }
    }

    @Test("An answer that is cut off ends its connection in order, kept or not")
    func cutsOff() {
        for isDrained in [true, false] {
            var machine = handling()
            _ = machine.actions(on: .responseProduced(asksToClose: false))
            #expect(machine.actions(on: .responseCutOff) == [])
            #expect(machine.discardsInput)
            let written = machine.actions(on: .responseWritten(isDrained: isDrained))
            let end: [Action] = [.shutdownWriting, .setDeadline(.linger)]
            if isDrained {
                #expect(written == end)
            } else {
                #expect(written == [.stopReading, .setDeadline(.write)])
                #expect(machine.actions(on: .drained) == end + [.startReading])
            }
        }
    }

    @Test("An answer that is withheld resets its connection, at once and for good")
    func withholds() {
        var machine = handling()
        #expect(machine.actions(on: .responseWithheld) == [])
        _ = machine.actions(on: .responseProduced(asksToClose: false))
        #expect(machine.actions(on: .responseWithheld) == [.reset])
        #expect(machine.actions(on: .responseWritten(isDrained: true)) == [])
        #expect(machine.state == .closed)
    }

    private func walk(_ random: inout SeededGenerator) {
        var machine = Machine(limits: HTTPLimits())
        var ends = 0
        var inFlight = 0
        for _ in 0..<40 {
            let events: [Event] = [
                .connected(), .inputExhausted(isInRequest: Bool.random(using: &random)), Self.plainHead,
                .headParsed(keepsAlive: false, bodyFollows: true, expectsContinue: true), .requestParsed,
                .parseFailed(Self.error), .inputWaits(bytes: Int.random(in: 0...100_000, using: &random)),
                .inputDiscarded(bytes: 9), .responseProduced(asksToClose: Bool.random(using: &random)),
                .responseWritten(isDrained: Bool.random(using: &random)), .drained,
                .deadlineReached(progressed: Bool.random(using: &random)), .peerEnded, .peerFailed,
                .drainRequested(inputWaits: Bool.random(using: &random)), .keepAliveEnded,
                .responseCutOff, .responseWithheld,
            ]
            guard let event = events.randomElement(using: &random) else { return }
            for action in machine.actions(on: event) {
                if action == .close || action == .reset { ends += 1 }
                if action == .dispatch { inFlight += 1 }
                if case .sendResponse = action { inFlight -= 1 }
            }
            #expect(ends <= 1)
            #expect((0...1).contains(inFlight))
        }
    }
}

extension HTTPConnectionStateMachine {
    /// What the machine answers to one event.
    fileprivate mutating func actions(on event: Event) -> [Action] {
        var actions: [Action] = []
        handle(event, into: &actions)
        return actions
    }
}
