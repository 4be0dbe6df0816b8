import Foundation
import Testing

@testable import PointsOfInterestContract

@Suite("The claims of contract tests", .onceOnly)
struct ContractClaimTests {
    private static let remote = ["POI_BASE_URL": "https://staging.example"]

    private func obstacle(
        _ truth: ContractClaim.Truth, _ notes: ContractClaim.Note..., environment: [String: String]
    ) throws -> String? {
        try ContractClaim(truth: truth, notes: Set(notes))
            .obstacle(in: ContractConfiguration(environment: environment))
    }

    @Test(
        "A service with other data runs only invariant tests, unless it is said to hold the seed")
    func otherData() throws {
        #expect(try obstacle(.invariant, environment: Self.remote) == nil)
        #expect(try obstacle(.seeded, environment: Self.remote)?.contains("data of its own") == true)
        let seeded = Self.remote.merging(["POI_CONTRACT_SEEDED": "true"]) { $1 }
        #expect(try obstacle(.seeded, environment: seeded) == nil)
        #expect(
            try obstacle(.seeded, .ownSettings, environment: seeded)?.contains("settings of its own") == true)
    }

    @Test("The recorded target runs only tests whose requests are recorded")
    func recorded() throws {
        let environment = ["POI_CONTRACT_TARGET": "recorded"]
        #expect(try obstacle(.seeded, .recorded, environment: environment) == nil)
        #expect(try obstacle(.invariant, environment: environment)?.contains("recorded") == true)
        #expect(try obstacle(.invariant, .writesTestData, environment: environment) != nil)
    }

    @Test("Every test runs against the mock and the local server", arguments: ["mock", "local"])
    func own(target: String) throws {
        let environment = ["POI_CONTRACT_TARGET": target]
        #expect(try obstacle(.seeded, .ownSettings, environment: environment) == nil)
        #expect(try obstacle(.invariant, .writesTestData, environment: environment) == nil)
    }

    @Test("Every test of the contract says which data it is true of")
    func everyTest() throws {
        let package = (0..<3).reduce(URL(filePath: #filePath)) { url, _ in url.deletingLastPathComponent() }
        let folder = package.appending(path: "Sources/PointsOfInterestContract")
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

    @Test("Every section that a rule is in is a heading of the contract's page")
    func sections() throws {
        let package = (0..<3).reduce(URL(filePath: #filePath)) { url, _ in url.deletingLastPathComponent() }
        let page = try String(contentsOf: package.appending(path: "Documentation/api.md"), encoding: .utf8)
        let headings = Set(page.split(separator: "\n").filter { $0.hasPrefix("## ") }.map { $0.dropFirst(3) })
        for section in ContractRule.Section.allCases {
            #expect(headings.contains(section.rawValue[...]))
            #expect(section.link.wholeMatch(of: /Documentation\/api\.md#[a-z0-9-]+/) != nil)
        }
    }
}

extension Trait where Self == ConditionTrait {
    /// About the suite and not about a target: runs with the local one alone.
    static var onceOnly: Self {
        .enabled(if: ContractConfiguration.current.target == .local, "runs once, with the local target")
    }
}
