import Foundation
import Testing

@Suite("The claims of contract tests")
struct ContractClaimTests {
    private static let remote = ["POI_BASE_URL": "https://staging.example"]

    private func obstacle(
        _ truth: ContractClaim.Truth, _ notes: ContractClaim.Note..., environment: [String: String]
    ) throws -> String? {
        try ContractClaim(truth: truth, notes: Set(notes))
            .obstacle(in: ContractConfiguration(environment: environment))
    }

    @Test(
        "A service with other data runs only invariant tests, unless it is said to hold the seed",
        .contract(.invariant, .once))
    func otherData() throws {
        #expect(try obstacle(.invariant, environment: Self.remote) == nil)
        #expect(try obstacle(.seeded, environment: Self.remote)?.contains("data of its own") == true)
        let seeded = Self.remote.merging(["POI_CONTRACT_SEEDED": "true"]) { $1 }
        #expect(try obstacle(.seeded, environment: seeded) == nil)
        #expect(
            try obstacle(.seeded, .ownSettings, environment: seeded)?.contains("settings of its own") == true)
    }

    @Test("The recorded target runs only tests whose requests are recorded", .contract(.invariant, .once))
    func recorded() throws {
        let environment = ["POI_CONTRACT_TARGET": "recorded"]
        #expect(try obstacle(.seeded, .recorded, environment: environment) == nil)
        #expect(try obstacle(.invariant, environment: environment)?.contains("recorded") == true)
        #expect(try obstacle(.invariant, .writesTestData, environment: environment) != nil)
    }

    @Test("Our own servers run every test", .contract(.invariant, .once), arguments: ["mock", "local"])
    func own(target: String) throws {
        let environment = ["POI_CONTRACT_TARGET": target]
        #expect(try obstacle(.seeded, .ownSettings, environment: environment) == nil)
        #expect(try obstacle(.invariant, .writesTestData, environment: environment) == nil)
        #expect(try (obstacle(.invariant, .once, environment: environment) == nil) == (target == "local"))
    }

    @Test("Every test of the contract says which data it is true of", .contract(.invariant, .once))
    func everyTest() throws {
        let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        let files = try #require(FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil))
        var count = 0
        for case let file as URL in files where file.pathExtension == "swift" {
            // From one function to the next, so that each attribute stands with its own.
            let text = try String(contentsOf: file, encoding: .utf8)
            for declaration in text.components(separatedBy: "\n    @Test(").dropFirst() {
                let attribute = declaration.components(separatedBy: "func ")[0]
                #expect(
                    attribute.contains(".contract("),
                    "\(file.lastPathComponent): \(attribute.prefix(80))")
                count += 1
            }
        }
        #expect(count > 60)
    }
}
