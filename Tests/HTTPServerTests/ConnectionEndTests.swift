import Randomness
import Testing

@testable import HTTPServer

@Suite("Connections that the server ends")
struct ConnectionShutdownTests {
    private typealias Machine = HTTPConnectionStateMachine
    private typealias Event = Machine.Event

    @Test("After an error the connection is half-closed, read from for a while, and then closed")
    func lingers() {
        let limits = HTTPLimits(lingerBytes: 100)
        var machine = Machine.after(.connected(), limits: limits)
        #expect(machine.actions(on: .parseFailed(.test)) == [.sendError])
        #expect(machine.failure == .test)
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

    @Test("A lingering connection is closed when the client ends its side")
    func lingeringEnds() {
        var machine = Machine.after(.connected(), .parseFailed(.test), .responseWritten(isDrained: true))
        #expect(machine.actions(on: .peerEnded) == [.close])
    }

    @Test("A refused connection gets only its error")
    func refused() {
        var machine = Machine(limits: HTTPLimits())
        let refusal = HTTPError.overloaded(retryAfterSeconds: 1)
        #expect(machine.actions(on: .connected(refusal: refusal)) == [.startReading, .sendError])
        #expect(machine.failure == refusal)
        #expect(
            machine.actions(on: .responseWritten(isDrained: true)) == [
                .shutdownWriting, .setDeadline(.linger),
            ])
    }

    @Test("Draining closes an idle connection in order, and one with a request in flight after its response")
    func drains() {
        var idle = Machine.kept()
        #expect(idle.actions(on: .drainRequested()) == [.shutdownWriting, .setDeadline(.linger)])
        #expect(idle.actions(on: .peerEnded) == [.close])

        var busy = Machine.handling()
        #expect(busy.actions(on: .drainRequested()) == [])
        #expect(
            busy.actions(on: .responseProduced(asksToClose: false)) == [.sendResponse(keepsAlive: false)])

        var writing = Machine.handling()
        _ = writing.actions(on: .responseProduced(asksToClose: false))
        _ = writing.actions(on: .responseWritten(isDrained: false))
        #expect(writing.actions(on: .drainRequested()) == [])
        #expect(writing.actions(on: .drained) == [.startReading, .setDeadline(.idle), .parse])
        #expect(
            writing.actions(on: .inputExhausted(isInRequest: false)) == [
                .shutdownWriting, .setDeadline(.linger),
            ])
    }

    @Test("A request that has begun to arrive gets its response while draining")
    func drainsPartial() {
        var machine = Machine.after(.connected(), .inputExhausted(isInRequest: true))
        #expect(machine.actions(on: .drainRequested()) == [])
        _ = machine.actions(on: .plainHead)
        #expect(machine.actions(on: .requestParsed) == [.clearDeadline, .dispatch])
    }

    @Test("A received but unread request on a kept connection gets its response while draining")
    func drainsUnread() {
        var machine = Machine.kept()
        #expect(machine.actions(on: .drainRequested(inputWaits: true)) == [])
        _ = machine.actions(on: .plainHead)
        #expect(machine.actions(on: .requestParsed) == [.clearDeadline, .dispatch])
        #expect(
            machine.actions(on: .responseProduced(asksToClose: false)) == [.sendResponse(keepsAlive: false)])
    }

    @Test("A new connection may send its first request while draining, until a deadline")
    func drainsNew() {
        var asking = Machine.after(.connected())
        #expect(asking.actions(on: .drainRequested()) == [.setDeadline(.lastRequest)])
        #expect(asking.actions(on: .inputExhausted(isInRequest: true)) == [.setDeadline(.head)])
        _ = asking.actions(on: .plainHead)
        #expect(asking.actions(on: .requestParsed) == [.clearDeadline, .dispatch])

        var silent = Machine.after(.connected())
        _ = silent.actions(on: .drainRequested())
        #expect(
            silent.actions(on: .deadlineReached(progressed: false)) == [
                .shutdownWriting, .setDeadline(.linger),
            ])
    }

    @Test("After the end of keep-alive the next response is the last, and an idle connection stays open")
    func endsKeepAlive() {
        var machine = Machine.kept()
        #expect(machine.actions(on: .keepAliveEnded) == [])
        #expect(machine.actions(on: .inputExhausted(isInRequest: false)) == [])
        _ = machine.actions(on: .plainHead)
        #expect(machine.actions(on: .requestParsed) == [.clearDeadline, .dispatch])
        #expect(
            machine.actions(on: .responseProduced(asksToClose: false)) == [.sendResponse(keepsAlive: false)])
    }

    @Test("Closing a connection cancels its request in flight")
    func hardEnd() {
        var machine = Machine.handling()
        #expect(machine.actions(on: .closeRequested) == [.cancelRequest, .close])
    }

    @Test("A closed connection does nothing, whatever happens")
    func nothingAfterTheEnd() {
        let events: [Event] = [
            .inputExhausted(isInRequest: true), .plainHead, .requestParsed, .parseFailed(.test),
            .inputWaits(bytes: 1 << 20), .inputDiscarded(bytes: 1), .responseProduced(asksToClose: true),
            .responseWritten(isDrained: true), .drained, .deadlineReached(progressed: false), .peerEnded,
            .peerFailed, .drainRequested(), .keepAliveEnded, .closeRequested, .connected(),
        ]
        var machine = Machine.after(.connected(), .peerFailed)
        for event in events { #expect(machine.actions(on: event) == []) }
    }

    @Test("Any order of events closes the connection at most once, and never serves two requests at once")
    func anyOrder() {
        let seed = UInt64.random(in: .min ... .max)
        print("seed of ConnectionShutdownTests.anyOrder: \(seed)")
        var random = SeededGenerator(seed: seed)
        for _ in 0..<2000 { walk(&random) }
    }

    private func walk(_ random: inout SeededGenerator) {
        var machine = Machine(limits: HTTPLimits())
        var ends = 0
        var inFlight = 0
        for _ in 0..<40 {
            let events: [Event] = [
                .connected(), .inputExhausted(isInRequest: Bool.random(using: &random)), .plainHead,
                .headParsed(keepsAlive: false, bodyFollows: true, expectsContinue: true), .requestParsed,
                .parseFailed(.test), .inputWaits(bytes: Int.random(in: 0...100_000, using: &random)),
                .inputDiscarded(bytes: 9), .responseProduced(asksToClose: Bool.random(using: &random)),
                .responseWritten(isDrained: Bool.random(using: &random)), .drained,
                .deadlineReached(progressed: Bool.random(using: &random)), .peerEnded, .peerFailed,
                .drainRequested(inputWaits: Bool.random(using: &random)), .keepAliveEnded,
                .responseWithheld, .turnCame,
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

@Suite("Connections whose client ends them")
struct ConnectionClientEndTests {
    private typealias Machine = HTTPConnectionStateMachine

    @Test("After a half-close the received requests still get responses, then the connection is closed")
    func halfClose() {
        var machine = Machine.handling()
        #expect(machine.actions(on: .peerEnded) == [.probePeer])
        _ = machine.actions(on: .responseProduced(asksToClose: false))
        #expect(machine.actions(on: .responseWritten(isDrained: true)) == [.setDeadline(.idle), .parse])
        // The next pipelined request still gets its response.
        _ = machine.actions(on: .plainHead)
        #expect(machine.actions(on: .requestParsed) == [.clearDeadline, .dispatch])
        _ = machine.actions(on: .responseProduced(asksToClose: false))
        _ = machine.actions(on: .responseWritten(isDrained: true))
        #expect(machine.actions(on: .inputExhausted(isInRequest: false)) == [.close])
    }

    @Test(
        "A client that ends its side before the response is probed once, and its request cancelled if it is gone"
    )
    func probes() {
        var machine = Machine.handling()
        #expect(machine.actions(on: .peerEnded) == [.probePeer])
        var departed = machine
        #expect(departed.actions(on: .peerFailed) == [.cancelRequest, .close])
        _ = machine.actions(on: .responseProduced(asksToClose: false))
        _ = machine.actions(on: .responseWritten(isDrained: true))
        _ = machine.actions(on: .plainHead)
        #expect(machine.actions(on: .requestParsed) == [.clearDeadline, .dispatch])
        #expect(machine.actions(on: .peerFailed) == [.cancelRequest, .close])
    }

    @Test("A client that ended its side during a response is probed with its next request")
    func probesLater() {
        var machine = Machine.handling()
        _ = machine.actions(on: .responseProduced(asksToClose: false))
        _ = machine.actions(on: .responseWritten(isDrained: false))
        #expect(machine.actions(on: .peerEnded) == [])
        #expect(machine.actions(on: .drained) == [.setDeadline(.idle), .parse])
        _ = machine.actions(on: .plainHead)
        #expect(machine.actions(on: .requestParsed) == [.clearDeadline, .probePeer, .dispatch])
    }

    @Test("A client that speaks HTTP/1.0 gets no interim response")
    func probesNoOldClient() {
        var machine = Machine.after(
            .connected(),
            .headParsed(keepsAlive: false, bodyFollows: false, expectsContinue: false, takesInterim: false),
            .requestParsed)
        #expect(machine.actions(on: .peerEnded) == [])
        #expect(
            machine.actions(on: .responseProduced(asksToClose: false)) == [.sendResponse(keepsAlive: false)])
    }

    @Test("A half-close inside a request gets a 400")
    func truncated() {
        var head = Machine.after(.connected(), .inputExhausted(isInRequest: true))
        #expect(head.actions(on: .peerEnded) == [.sendError])
        #expect(head.failure == .truncated)
        #expect(head.actions(on: .responseWritten(isDrained: true)) == [.close])

        var waiting = Machine.handling()
        _ = waiting.actions(on: .peerEnded)
        _ = waiting.actions(on: .responseProduced(asksToClose: false))
        _ = waiting.actions(on: .responseWritten(isDrained: true))
        #expect(waiting.actions(on: .inputExhausted(isInRequest: true)) == [.sendError])
        #expect(waiting.failure == .truncated)
    }

    @Test("A half-close between requests closes the connection")
    func halfCloseWhileIdle() {
        var machine = Machine.after(.connected())
        #expect(machine.actions(on: .peerEnded) == [.close])
    }

    @Test("A broken connection cancels the request in flight")
    func broken() {
        var machine = Machine.handling()
        #expect(machine.actions(on: .peerFailed) == [.cancelRequest, .close])
        #expect(machine.actions(on: .responseProduced(asksToClose: false)) == [])
    }
}

/// State machines in states that tests start from.
extension HTTPConnectionStateMachine {
    /// A machine that has taken these events.
    static func after(_ events: Event..., limits: HTTPLimits = HTTPLimits()) -> HTTPConnectionStateMachine {
        var machine = HTTPConnectionStateMachine(limits: limits)
        for event in events { _ = machine.actions(on: event) }
        return machine
    }

    /// A machine whose first request is being handled.
    static func handling(keepsAlive: Bool = true) -> HTTPConnectionStateMachine {
        after(
            .connected(),
            .headParsed(keepsAlive: keepsAlive, bodyFollows: false, expectsContinue: false), .requestParsed)
    }

    /// A machine that has sent a response and keeps the connection.
    static func kept() -> HTTPConnectionStateMachine {
        var machine = handling()
        _ = machine.actions(on: .responseProduced(asksToClose: false))
        _ = machine.actions(on: .responseWritten(isDrained: true))
        return machine
    }

    /// Takes an event, and returns the actions that follow.
    mutating func actions(on event: Event) -> [Action] {
        var actions: [Action] = []
        handle(event, into: &actions)
        return actions
    }
}

extension HTTPConnectionStateMachine.Event {
    /// The head of a request without a body.
    static let plainHead = headParsed(keepsAlive: true, bodyFollows: false, expectsContinue: false)
}

extension HTTPError {
    static let test = malformed("a test's")
}
