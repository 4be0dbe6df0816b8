import PointsOfInterestAPI
import Randomness
import Testing

@testable import POIService

@Suite("The search through cells")
struct CellSearchTests {
    @Test("Answers what measuring every place would, whatever the places and the question")
    func sameAsScan() throws {
        var generator = SeededGenerator()
        for shape in 0..<64 {
            var questions = try CellQuestions(shape: shape, using: &generator)
            for _ in 0..<10 { try check(&questions, "shape \(shape) POI_TEST_SEED=\(generator.seed)") }
        }
    }

    private func check(_ questions: inout CellQuestions, _ comment: String) throws {
        let question = try questions.next()
        let world = questions.world
        let ranking = question.ranking
        let expected = world.scan(from: ranking.center, box: question.box).filter { place in
            guard place.meters <= ranking.radiusMeters ?? .infinity else { return false }
            guard let after = ranking.after else { return true }
            return (after.distanceMeters, after.id) < (place.meters, place.candidate.id)
        }.prefix(ranking.limit)
        let known = question.isPrimed ? world.nearestByChord(ranking.limit + 3, to: ranking.center) : []
        let (answer, _) = world.search(
            ranking, box: question.box, known: known, candidateLimit: question.candidateLimit)
        #expect(answer.map(\.id) == expected.map(\.candidate.id), "\(comment) \(question)")
    }

    @Test("Places on one point, more than a cell is asked for, come by their ids")
    func onePoint() throws {
        let center = try Coordinate(latitude: -37, longitude: 58)
        let crowd = (0..<300).map { Candidate(id: Int64($0 * 7 % 300), latitude: 37, longitude: -122) }
        let world = CellWorld(crowd)
        let meters = Geodesic.distanceMeters(from: center, to: crowd[0])
        let ranking = Ranking(
            center: center, radiusMeters: nil, limit: 5,
            after: PagePosition(distanceMeters: meters, id: 99, count: 100))
        let (answer, cost) = world.search(ranking, box: nil, known: [], candidateLimit: 16)
        #expect(answer.map(\.id) == [100, 101, 102, 103, 104])
        // What is crowded is found in one step, not one halving at a time.
        #expect(cost.roundTrips < 10)
    }

    @Test("Nothing is asked for where nothing can be: no places asked for, or a page behind the last place")
    func nothing() throws {
        let center = try Coordinate(latitude: 0, longitude: 0)
        var none = CellSearch(Ranking(center: center, radiusMeters: nil, limit: 0))
        #expect(none.nextCells(atMost: 10).isEmpty)
        let end = PagePosition(distanceMeters: LocationsRequest.greatestRadiusMeters, id: 1, count: 1)
        var behind = CellSearch(Ranking(center: center, radiusMeters: nil, limit: 10, after: end))
        #expect(behind.nextCells(atMost: 10).isEmpty)
        #expect(behind.placed.isEmpty)
    }

    @Test("A cursor that lies about how many places came before changes no answer")
    func lyingCursor() throws {
        var generator = SeededGenerator()
        var questions = try CellQuestions(shape: 3, using: &generator)
        for count in [-5, 0, 1, 1_000_000, .max] {
            let center = try questions.center()
            let all = questions.world.scan(from: center)
            let last = all[all.count / 2]
            let after = PagePosition(distanceMeters: last.meters, id: last.candidate.id, count: count)
            let (answer, cost) = questions.world.search(
                Ranking(center: center, radiusMeters: nil, limit: 4, after: after), box: nil, known: [],
                candidateLimit: 8)
            let expected = all[(all.count / 2 + 1)...].prefix(4).map(\.candidate.id)
            #expect(answer.map(\.id) == expected, "POI_TEST_SEED=\(generator.seed)")
            #expect(cost.cells < 1000, "POI_TEST_SEED=\(generator.seed)")
        }
    }

    @Test(
        "Few cells are enough, seen from nearby, from far away and from the antipode, and deep down",
        arguments: CellCostCase.all)
    func cost(of example: CellCostCase) throws {
        let count = 20_000
        // The same places in every run: what they cost is known.
        var generator = SeededGenerator(seed: 20_000)
        let world = CellWorld(
            (0..<count).map { id in
                Candidate(
                    id: Int64(id), latitude: .random(in: 36.7...37.9, using: &generator),
                    longitude: .random(in: -122.6 ... -121.1, using: &generator))
            })
        let center = try Coordinate(latitude: example.latitude, longitude: example.longitude)
        var after: PagePosition?
        if example.depth > 0 {
            let last = world.scan(from: center)[example.depth - 1]
            after = PagePosition(
                distanceMeters: last.meters, id: last.candidate.id, count: example.depth)
        }
        let (answer, cost) = world.search(
            Ranking(center: center, radiusMeters: nil, limit: 21, after: after), box: nil,
            known: world.nearestByChord(1000, to: center),
            candidateLimit: CellSearch.defaultCandidateLimit)
        #expect(answer.count == 21)
        #expect(cost.cells <= example.greatestCells)
        #expect(cost.roundTrips <= example.greatestRoundTrips)
    }

    @Test("A page is cut from what a search found as from any other answer")
    func page() throws {
        let center = try Coordinate(latitude: 10, longitude: 20)
        let world = CellWorld(
            (1...9).map { Candidate(id: Int64($0), latitude: 10, longitude: 20 + Double($0)) })
        let ranking = Ranking(center: center, radiusMeters: nil, limit: 4)
        var search = CellSearch(ranking)
        while case let cells = search.nextCells(atMost: 1), let cell = cells.first {
            search.take(world.places, of: cell, isWhole: true)
        }
        let page = ranking.page(of: search.placed, from: search.candidates)
        #expect(page.placed.map(\.id) == [1, 2, 3])
        #expect(page.next?.id == 3)
        #expect(page.next?.distanceMeters == Geodesic.distanceMeters(from: center, to: world.places[2]))
    }
}

/// How much a question about 20,000 places in a square of 130 km may cost.
struct CellCostCase: CustomTestStringConvertible, Sendable {
    let testDescription: String
    let latitude: Double
    let longitude: Double
    var depth = 0
    let greatestCells: Int
    let greatestRoundTrips: Int

    static let all = [
        CellCostCase(
            testDescription: "nearby", latitude: 37.33, longitude: -121.88, greatestCells: 4,
            greatestRoundTrips: 2),
        CellCostCase(
            testDescription: "New York", latitude: 40.7, longitude: -74, greatestCells: 80,
            greatestRoundTrips: 12),
        CellCostCase(
            testDescription: "the antipode", latitude: -37.33, longitude: 58.12, greatestCells: 150,
            greatestRoundTrips: 24),
        CellCostCase(
            testDescription: "10,000 places deep", latitude: 37.33, longitude: -121.88, depth: 10_000,
            greatestCells: 150, greatestRoundTrips: 24),
    ]
}
