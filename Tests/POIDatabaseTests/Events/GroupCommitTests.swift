import Testing

@testable import POIDatabase

@Suite("Batches that are written together")
struct GroupCommitTests {
    private static func groups(writers: Int = 1, eventsPerWrite: Int = 100, waiting: Int = 1000)
        -> GroupCommit<String>
    {
        GroupCommit(
            limits: .init(writers: writers, eventsPerWrite: eventsPerWrite, waitingEvents: waiting))
    }

    @Test("A batch that comes alone is written at once")
    func alone() {
        var groups = Self.groups()
        #expect(groups.next() == nil)
        #expect(groups.add("a", eventCount: 10) == true)
        #expect(groups.next() == ["a"])
        #expect(groups.next() == nil)
    }

    @Test("Batches that come during a write are written together next, in their order")
    func together() {
        var groups = Self.groups()
        for batch in ["a", "b", "c", "d"] {
            #expect(groups.add(batch, eventCount: 30) == true)
            if batch == "a" { #expect(groups.next() == ["a"]) }
        }
        #expect(groups.next() == nil)
        groups.finished()
        #expect(groups.next() == ["b", "c", "d"])
        groups.finished()
        #expect(groups.next() == nil)
    }

    @Test("Batches are written together up to the limit of a write, and a larger batch alone")
    func limit() {
        var groups = Self.groups(eventsPerWrite: 100)
        for (batch, count) in [("a", 60), ("b", 40), ("c", 1), ("d", 500), ("e", 5)] {
            #expect(groups.add(batch, eventCount: count) == true)
        }
        var writes: [[String]] = []
        while let write = groups.next() {
            writes.append(write)
            groups.finished()
        }
        #expect(writes == [["a", "b"], ["c"], ["d"], ["e"]])
    }

    @Test("Several writers write at the same time")
    func writers() {
        var groups = Self.groups(writers: 2)
        for batch in ["a", "b", "c"] {
            #expect(groups.add(batch, eventCount: 1) == true)
            if batch != "c" { #expect(groups.next() == [batch]) }
        }
        #expect(groups.next() == nil)
        groups.finished()
        #expect(groups.next() == ["c"])
    }

    @Test("A batch is refused if too many events wait already, unless none waits")
    func bound() {
        var groups = Self.groups(waiting: 100)
        #expect(groups.add("a", eventCount: 500) == true)
        #expect(groups.add("b", eventCount: 1) == false)
        #expect(groups.next() == ["a"])
        #expect(groups.add("b", eventCount: 60) == true)
        #expect(groups.add("c", eventCount: 40) == true)
        #expect(groups.add("d", eventCount: 1) == false)
        groups.finished()
        #expect(groups.next() == ["b", "c"])
        #expect(groups.add("d", eventCount: 1) == true)
    }
}
