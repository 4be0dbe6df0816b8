import Foundation
import Testing

@testable import PointsOfInterestContract

@Suite("The settings of the contract suite", .onceOnly)
struct ContractConfigurationTests {
    private static let url = "https://staging.example/api"

    @Test("The default target is the local server with the seed")
    func nothing() async throws {
        let configuration = try ContractConfiguration(environment: ["POI_BASE_URL": ""])
        #expect(configuration.target == .local)
        #expect(configuration.isSeeded)
        #expect(try await configuration.headers(.own) == [:])
    }

    @Test(
        "A target can be named",
        arguments: [("recorded", ContractTarget.recorded), ("mock", .mock), ("local", .local)])
    func named(name: String, target: ContractTarget) throws {
        let configuration = try ContractConfiguration(environment: ["POI_CONTRACT_TARGET": name])
        #expect(configuration.target == target)
        #expect(configuration.isSeeded)
    }

    @Test("Requests to a service that runs already have its headers")
    func remote() async throws {
        let configuration = try ContractConfiguration(environment: [
            "POI_BASE_URL": Self.url,
            "POI_CONTRACT_HEADERS": "Authorization: Bearer a:b=\nX-Gateway-Key:two words \n",
        ])
        #expect(configuration.target == .remote(try #require(URL(string: Self.url))))
        #expect(!configuration.isSeeded)
        #expect(
            try await configuration.headers(.own)
                == ["Authorization": "Bearer a:b=", "X-Gateway-Key": "two words"])
    }

    @Test("Data and events have keys of their own")
    func keys() async throws {
        let configuration = try ContractConfiguration(environment: [
            "POI_BASE_URL": Self.url, "POI_CONTRACT_KEYS": "events=e=,data=d",
            "POI_CONTRACT_HEADERS": "X-A: b",
        ])
        #expect(
            try await configuration.headers(.place) == ["Authorization": "Bearer d", "X-A": "b"])
        #expect(
            try await configuration.headers(.events) == ["Authorization": "Bearer e=", "X-A": "b"])
        #expect(configuration.secretNames == ["authorization", "x-a"])
        let file = FileManager.default.temporaryDirectory.appending(path: "contract-\(UUID())")
        try Data("events=e=,data=d\n".utf8).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        let fromFile = try ContractConfiguration(environment: [
            "POI_BASE_URL": Self.url, "POI_CONTRACT_KEYS_FILE": file.path,
        ])
        #expect(fromFile.keys == configuration.keys)
    }

    @Test("A service counts as seeded only if the setting is `true`")
    func seeded() throws {
        var environment = ["POI_BASE_URL": Self.url, "POI_CONTRACT_SEEDED": "true"]
        #expect(try ContractConfiguration(environment: environment).isSeeded)
        environment["POI_CONTRACT_SEEDED"] = "false"
        #expect(try !ContractConfiguration(environment: environment).isSeeded)
    }

    @Test(
        "An unusable setting of the suite is one line without the value",
        arguments: [
            ["POI_CONTRACT_TARGET": "S3cret"], ["POI_CONTRACT_TARGET": "mock", "POI_BASE_URL": url],
            ["POI_BASE_URL": "S3cret"], ["POI_BASE_URL": "ftp://S3cret"],
            ["POI_BASE_URL": "https://name:S3cret@staging.example"],
            ["POI_BASE_URL": "https://staging.example?key=S3cret"], ["POI_BASE_URL": "https://h/#S3cret"],
            ["POI_BASE_URL": url, "POI_CONTRACT_HEADERS": "Bearer S3cret"],
            ["POI_BASE_URL": url, "POI_CONTRACT_HEADERS": "X-A: b\n: S3cret"],
            ["POI_BASE_URL": url, "POI_CONTRACT_HEADERS": "two words: S3cret"],
            ["POI_BASE_URL": url, "POI_CONTRACT_SEEDED": "S3cret"],
            ["POI_CONTRACT_RECORD": "true", "POI_CONTRACT_TARGET": "mock"],
            ["POI_BASE_URL": url, "POI_CONTRACT_KEYS": "S3cret"],
            ["POI_BASE_URL": url, "POI_CONTRACT_KEYS": "data=S3cret"],
            ["POI_BASE_URL": url, "POI_CONTRACT_KEYS_FILE": "/nowhere"],
            ["POI_CONTRACT_HEADERS": "X-A: S3cret", "POI_CONTRACT_HEADERS_FILE": "/dev/null"],
            ["POI_BASE_URL": url, "POI_CONTRACT_KEYS": "data=S3cret,events=S3cret"],
            ["POI_BASE_URL": url, "POI_CONTRACT_KEYS": "data=S3cret,events=b,c=d"],
            ["POI_BASE_URL": url, "POI_CONTRACT_LIMITED_URL": "https://name:S3cret@h"],
            ["POI_BASE_URL": url, "POI_CONTRACT_STRICT": "S3cret"],
        ])
    func unusable(environment: [String: String]) throws {
        let error = try #require(throws: ContractConfigurationError.self) {
            try ContractConfiguration(environment: environment)
        }
        #expect(!error.description.contains("S3cret") && !error.description.contains("\n"))
        #expect(environment.keys.contains { error.description.contains($0) })
    }
}
