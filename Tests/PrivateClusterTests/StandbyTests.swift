import Foundation
import PrivateCluster
import Testing

@Suite("A standby", .timeLimit(.minutes(2)))
struct StandbyTests {
    private let primary: PrivateCluster
    private let standby: PrivateCluster

    init() throws {
        primary = PrivateCluster(ephemeralWith: [:])
        try primary.start()
        try primary.execute("CREATE TABLE place AS SELECT 1 AS n")
        standby = PrivateCluster(standbyOf: primary)
        try standby.start()
    }

    private func wait(until condition: String, _ cluster: PrivateCluster) throws {
        while try cluster.execute("SELECT \(condition)") != "t" { try Task.checkCancellation() }
    }

    @Test("A standby has its primary's rows, follows it, and takes no writes")
    func following() throws {
        #expect(try standby.execute("SELECT pg_is_in_recovery(), n FROM place") == "t|1")
        try primary.execute("INSERT INTO place VALUES (2)")
        try wait(until: "count(*) = 2 FROM place", standby)
        #expect(throws: PrivateClusterError.self) { try standby.execute("INSERT INTO place VALUES (3)") }
        let folder = try standby.directory()
        standby.stop()
        #expect(!FileManager.default.fileExists(atPath: folder.path()))
        primary.stop()
    }

    @Test("A standby can be stopped, started without its primary, and promoted")
    func promotion() throws {
        try standby.restartServer()
        try primary.stopServer()
        try standby.restartServer(.immediate)
        #expect(try standby.execute("SELECT n FROM place") == "1")
        #expect(try standby.execute("SELECT pg_promote()") == "t")
        try standby.execute("INSERT INTO place VALUES (3)")
        standby.stop()
        primary.stop()
    }

    @Test("A suspended server answers nothing, goes on where it was, and can be stopped all the same")
    func suspending() async throws {
        try primary.suspendServer()
        // A process that is running just then stops when it leaves the kernel the next time.
        var states: [String]
        repeat {
            states = try processStates(ofChildrenOf: primary.postmasterID())
        } while !states.allSatisfy { $0 == "T" }
        #expect(states.count > 3)
        try primary.resumeServer()
        #expect(try primary.execute("SELECT n FROM place") == "1")
        try primary.suspendServer()
        primary.stop()
        standby.stop()
    }

    /// The states of a process and its children, by ps(1)'s letters.
    private func processStates(ofChildrenOf parent: Int32) throws -> [String] {
        let names = try FileManager.default.contentsOfDirectory(atPath: "/proc").filter { Int32($0) != nil }
        return names.compactMap { name in
            let status = try? String(contentsOfFile: "/proc/\(name)/stat", encoding: .utf8)
            let fields = status?.split(separator: ")").last?.split(separator: " ") ?? []
            guard fields.count > 1, Int32(fields[1]) == parent || Int32(name) == parent else { return nil }
            return String(fields[0])
        }
    }
}
