import Testing

@testable import HTTPServer

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
        #expect(head.actions(on: .peerEnded) == [.sendError(.truncated)])
        #expect(head.actions(on: .responseWritten(isDrained: true)) == [.close])

        var waiting = Machine.handling()
        _ = waiting.actions(on: .peerEnded)
        _ = waiting.actions(on: .responseProduced(asksToClose: false))
        _ = waiting.actions(on: .responseWritten(isDrained: true))
        #expect(waiting.actions(on: .inputExhausted(isInRequest: true)) == [.sendError(.truncated)])
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
