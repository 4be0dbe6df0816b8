import PrivateCluster
import Testing

@Suite("A test database")
struct TestDatabaseTests {
    @Test("Two test databases share a cluster and nothing else")
    func isolation() throws {
        let first = try TestDatabase()
        let second = try TestDatabase()
        try first.execute("CREATE TABLE mine AS SELECT 1")
        #expect(try second.execute("SELECT to_regclass('mine') IS NULL") == "t")
        #expect(try first.cluster.postmasterID() == second.cluster.postmasterID())
    }

    @Test("A copy of a template holds its rows, and dropping it leaves the template")
    func template() throws {
        let template = try TestDatabase()
        try template.execute("CREATE TABLE copied AS SELECT 7 AS number")
        let copy = try TestDatabase(template: template)
        #expect(try copy.execute("SELECT number FROM copied") == "7")
        try copy.drop()
        #expect(try template.execute("SELECT number FROM copied") == "7")
    }
}
