import Foundation
import PointsOfInterestClient
import PointsOfInterestEditing
import Testing

/// The places that the suite makes: of a dataset of their own, where nobody looks for others, and removed at a test's end.
enum ContractPlaces {
    static let dataset = "editorial-contract-tests"
    /// Point Nemo, which no land is near to, and how far around it the places are.
    private static let middle = (latitude: -48.8767, longitude: -123.3933)
    private static let radius = 1000.0

    /// Tests that edit run alone.
    static let turns = Turns()

    static func editor() async throws -> PlaceEditor {
        let key = try #require(await Service.editorKey())
        return PlaceEditor(service: try await Service.client { _ in ContractKeys.header(key) })
    }

    /// A draft in which no two members have the same value.
    static func draft() async throws -> PlaceDraft {
        let category = try await Service.client().categories().first?.name ?? "other"
        return PlaceDraft(
            name: "Contract test \(UUID())", category: category, latitude: middle.latitude,
            longitude: middle.longitude,
            address: "1 Contract Street", website: "https://contract.example/test",
            operatingStatus: .temporarilyClosed, featured: true, importance: 7, names: ["ja": "契約"],
            otherNames: ["The other name"], properties: ["phone": "+1 408 555 0100", "seats": 24])
    }

    /// Makes places, and removes them once a test has ended, however it ends.
    static func withPlaces<Result>(
        _ drafts: PlaceDraft..., body: ([EditablePlace], PlaceEditor) async throws -> Result
    ) async throws -> Result {
        let editor = try await editor()
        do {
            var places: [EditablePlace] = []
            for draft in drafts { places.append(try await editor.create(draft, dataset: dataset)) }
            let result = try await body(places, editor)
            try await removeAll()
            return result
        } catch {
            try? await removeAll()
            throw error
        }
    }

    /// Waits until the service shows what was edited: another server than the one that edited needs a moment.
    static func eventually<Value>(
        _ load: () async throws -> Value, is isAwaited: (Value) -> Bool
    ) async throws -> Value {
        let end = ContinuousClock.now + .seconds(10)
        while true {
            let value = try await load()
            if isAwaited(value) || ContinuousClock.now > end { return value }
            try await Task.sleep(for: .milliseconds(50))
        }
    }

    /// The response to a request of the editor's, just as it is. Where there were too many, it waits as long as the service says.
    static func response(
        to target: String, method: String = "GET", headers: [String: String?] = [:], json: String? = nil
    ) async throws -> Exchange {
        var own: [String: String?] = ["Authorization": try await Service.editorKey().map { "Bearer \($0)" }]
        if json != nil { own["Content-Type"] = "application/json" }
        let fields = own.merging(headers) { $1 }
        while true {
            let response = try await Service.response(
                to: target, method: method, headers: fields, body: json.map { Data($0.utf8) })
            guard response.status == 429, let seconds = response.header("Retry-After").flatMap({ Int($0) })
            else { return response }
            try await Task.sleep(for: .seconds(seconds))
        }
    }

    // MARK: - Removing

    /// Removes what an earlier run has left that was killed, once in this run.
    static func removeLeftOnes() async throws {
        guard try await Service.editorKey() != nil else { return }
        try await leftOnes.value
    }

    private static let leftOnes = Task { try await removeAll() }

    private static func removeAll() async throws {
        let center = try Coordinate(latitude: middle.latitude, longitude: middle.longitude)
        _ = try await eventually {
            let found = try await Service.places(around: center, radius: radius, limit: 100)
            let ids = found.filter { $0.source?.dataset == dataset }.map(\.id)
            for id in ids {
                _ = try await response(
                    to: "/locations/\(id)", method: "DELETE", headers: ["If-Match": "*"])
            }
            return ids
        } is: {
            $0.isEmpty
        }
    }
}

/// Lets one test run alone, and the others side by side.
actor Turns {
    private var runningCount = 0
    private var isAlone = false
    private var waiting: [CheckedContinuation<Void, Never>] = []
    private var waitingAloneCount = 0

    func run(alone: Bool, _ body: @concurrent @Sendable () async throws -> Void) async throws {
        await begin(alone: alone)
        defer { end() }
        try await body()
    }

    private func begin(alone: Bool) async {
        if alone { waitingAloneCount += 1 }
        // Who waits for a turn alone gets it before those who come later.
        while isAlone || (alone ? runningCount > 0 : waitingAloneCount > 0) {
            await withCheckedContinuation { waiting.append($0) }
        }
        if alone { waitingAloneCount -= 1 }
        isAlone = alone
        runningCount += 1
    }

    private func end() {
        runningCount -= 1
        isAlone = false
        for continuation in waiting { continuation.resume() }
        waiting = []
    }
}
