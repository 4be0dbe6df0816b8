import Testing

@testable import HTTPServer

@Suite("Connections while they serve requests")
struct ConnectionRequestTests {
    private typealias Machine = HTTPConnectionStateMachine
    private typealias Event = Machine.Event
    private typealias Action = Machine.Action

    @Test("A new connection reads, with the deadline of a header block")
    func connects() {
        var machine = Machine(limits: HTTPLimits())
        #expect(machine.actions(on: .connected()) == [.startReading, .setDeadline(.head)])
    }

    @Test("A kept connection serves one request after the other")
    func keepsAlive() {
        var machine = Machine.after(.connected())
        for _ in 0..<3 {
            #expect(machine.actions(on: .plainHead) == [])
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

    @Test(
        "The deadline of the first header block counts from the accept, that of a later one from its first byte"
    )
    func headDeadline() {
        var machine = Machine.after(.connected())
        #expect(machine.actions(on: .inputExhausted(isInRequest: true)) == [])
        #expect(machine.actions(on: .inputExhausted(isInRequest: true)) == [])
        _ = machine.actions(on: .plainHead)
        _ = machine.actions(on: .requestParsed)
        _ = machine.actions(on: .responseProduced(asksToClose: false))
        _ = machine.actions(on: .responseWritten(isDrained: true))
        #expect(machine.actions(on: .inputExhausted(isInRequest: true)) == [.setDeadline(.head)])
        #expect(machine.actions(on: .inputExhausted(isInRequest: true)) == [])
    }

    @Test("A body has its own deadline, and a client that expects a 100 gets it")
    func body() {
        var machine = Machine.after(.connected())
        let head = Event.headParsed(keepsAlive: true, bodyFollows: true, expectsContinue: true)
        #expect(machine.actions(on: head) == [.setDeadline(.body), .sendContinue])
        #expect(machine.actions(on: .inputExhausted(isInRequest: true)) == [])
        #expect(machine.actions(on: .requestParsed) == [.clearDeadline, .dispatch])
    }

    @Test("A header block or a body that is late gets a 408, and the connection is closed")
    func lateRequest() {
        let late = Event.deadlineReached(progressed: false)
        var silent = Machine.after(.connected())
        #expect(silent.actions(on: late) == [.sendError])
        #expect(silent.failure == .headTimedOut)
        var partial = Machine.after(.connected(), .inputExhausted(isInRequest: true))
        #expect(partial.actions(on: late) == [.sendError])
        #expect(partial.failure == .headTimedOut)
        var body = Machine.after(
            .connected(), .headParsed(keepsAlive: true, bodyFollows: true, expectsContinue: false))
        #expect(body.actions(on: late) == [.sendError])
        #expect(body.failure == .bodyTimedOut)
        #expect(
            body.actions(on: .responseWritten(isDrained: true)) == [.shutdownWriting, .setDeadline(.linger)])
    }

    @Test("A kept connection that is idle is closed without a response")
    func idle() {
        var machine = Machine.handling()
        _ = machine.actions(on: .responseProduced(asksToClose: false))
        _ = machine.actions(on: .responseWritten(isDrained: true))
        #expect(machine.actions(on: .deadlineReached(progressed: false)) == [.close])
        #expect(machine.state == .closed)
    }

    @Test("Bytes behind a request in flight wait, and reading stops while too many of them wait")
    func pipelineIsBounded() {
        var machine = Machine.handling()
        let limit = HTTPLimits().pipelineBytes
        #expect(machine.actions(on: .inputWaits(bytes: limit)) == [])
        #expect(machine.actions(on: .inputWaits(bytes: limit + 1)) == [.stopReading])
        #expect(machine.actions(on: .inputWaits(bytes: limit + 2)) == [])
        _ = machine.actions(on: .responseProduced(asksToClose: false))
        #expect(machine.actions(on: .responseWritten(isDrained: true)) == [.setDeadline(.idle), .parse])
        _ = machine.actions(on: .plainHead)
        #expect(machine.actions(on: .requestParsed) == [.clearDeadline, .dispatch])
        #expect(machine.actions(on: .inputWaits(bytes: limit)) == [.startReading])
    }

    @Test("After some requests in a row, a connection stops reading and lets other connections go first")
    func yields() {
        let written = Event.responseWritten(isDrained: true)
        var machine = Machine.after(.connected(), limits: HTTPLimits(requestsInARow: 2))
        serve(&machine)
        #expect(machine.actions(on: written) == [.setDeadline(.idle), .parse])
        serve(&machine)
        #expect(machine.actions(on: written) == [.stopReading, .clearDeadline, .yield])
        #expect(!machine.wantsInput)
        #expect(!machine.discardsInput)
        #expect(machine.actions(on: .turnCame) == [.startReading, .setDeadline(.idle), .parse])
        #expect(machine.wantsInput)
        #expect(machine.actions(on: .turnCame) == [])
    }

    @Test("A request that arrives during other connections' turn is read in the turn of its own")
    func turnUsedUp() {
        for (start, deadline) in [(Machine.after(.connected()), Machine.Deadline.head), (.kept(), .idle)] {
            var machine = start
            #expect(machine.actions(on: .turnUsedUp) == [.stopReading, .clearDeadline, .yield])
            #expect(!machine.wantsInput)
            #expect(machine.actions(on: .turnCame) == [.startReading, .setDeadline(deadline), .parse])
        }
        var machine = Machine.handling()
        #expect(machine.actions(on: .turnUsedUp) == [])
    }

    @Test("If there is no memory for waiting bytes, the request in flight is the connection's last")
    func inputRefused() {
        var machine = Machine.handling()
        #expect(machine.actions(on: .inputRefused) == [.stopReading])
        #expect(
            machine.actions(on: .responseProduced(asksToClose: false)) == [.sendResponse(keepsAlive: false)])
        #expect(
            machine.actions(on: .responseWritten(isDrained: true))
                == [.shutdownWriting, .setDeadline(.linger), .startReading])
        var waiting = Machine.after(.connected(), .turnUsedUp)
        #expect(waiting.actions(on: .inputRefused).contains(.shutdownWriting))
    }

    @Test("A body's deadline has three parts, and enough of the body has to arrive in each")
    func bodyDeadline() {
        let head = Event.headParsed(keepsAlive: true, bodyFollows: true, expectsContinue: false)
        var machine = Machine.after(.connected(), head)
        for _ in 0..<2 {
            #expect(machine.actions(on: .deadlineReached(progressed: true)) == [.setDeadline(.body)])
        }
        #expect(machine.actions(on: .deadlineReached(progressed: true)) == [.sendError])
        #expect(machine.failure == .bodyTimedOut)
        var slow = Machine.after(.connected(), head)
        #expect(slow.actions(on: .deadlineReached(progressed: false)) == [.sendError])
        #expect(slow.failure == .bodyTimedOut)
    }

    @Test("Requests count as in a row only if each arrived before the response to the one before")
    func isNotInARow() {
        var machine = Machine.after(.connected(), limits: HTTPLimits(requestsInARow: 2))
        for _ in 0..<3 {
            serve(&machine)
            #expect(
                machine.actions(on: .responseWritten(isDrained: true)) == [.setDeadline(.idle), .parse])
            #expect(machine.actions(on: .inputExhausted(isInRequest: false)) == [])
        }
    }

    private func serve(_ machine: inout Machine) {
        for event in [Event.plainHead, .requestParsed, .responseProduced(asksToClose: false)] {
            _ = machine.actions(on: event)
        }
    }

    @Test("A client that doesn't read its response is not read from until it has")
    func slowReader() {
        var machine = Machine.handling()
        _ = machine.actions(on: .responseProduced(asksToClose: false))
        #expect(
            machine.actions(on: .responseWritten(isDrained: false)) == [.stopReading, .setDeadline(.write)])
        #expect(!machine.wantsInput)
        #expect(machine.actions(on: .deadlineReached(progressed: true)) == [.setDeadline(.write)])
        #expect(machine.actions(on: .drained) == [.startReading, .setDeadline(.idle), .parse])
    }

    @Test("A client that never reads its response is reset")
    func stalledReader() {
        var machine = Machine.handling()
        _ = machine.actions(on: .responseProduced(asksToClose: false))
        _ = machine.actions(on: .responseWritten(isDrained: false))
        #expect(machine.actions(on: .deadlineReached(progressed: false)) == [.reset])
        #expect(machine.state == .closed)
    }

    @Test("A connection is closed after the response if its client wants that")
    func closes() {
        var machine = Machine.handling(keepsAlive: false)
        #expect(
            machine.actions(on: .responseProduced(asksToClose: false)) == [.sendResponse(keepsAlive: false)])
        #expect(
            machine.actions(on: .responseWritten(isDrained: true)) == [
                .shutdownWriting, .setDeadline(.linger),
            ])
    }

    @Test("A connection is closed after the response if the handler wants that")
    func handlerCloses() {
        var machine = Machine.handling()
        #expect(
            machine.actions(on: .responseProduced(asksToClose: true)) == [.sendResponse(keepsAlive: false)])
    }

    @Test("A response that is withheld resets its connection")
    func withholds() {
        var machine = Machine.handling()
        #expect(machine.actions(on: .responseWithheld) == [])
        _ = machine.actions(on: .responseProduced(asksToClose: false))
        #expect(machine.actions(on: .responseWithheld) == [.reset])
        #expect(machine.actions(on: .responseWritten(isDrained: true)) == [])
        #expect(machine.state == .closed)
    }
}
