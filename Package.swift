// swift-tools-version: 6.2
import Foundation
import PackageDescription

/// A plain `async` function runs on its caller's executor: what starts on an event loop stays there.
let swiftSettings: [SwiftSetting] = [.enableUpcomingFeature("NonisolatedNonsendingByDefault")]

/// Debian 12 and Ubuntu ship llhttp as C sources; elsewhere (Debian 13, Homebrew) it is a library.
let llhttp: Target =
    FileManager.default.fileExists(atPath: "/usr/share/llhttp/llhttp.c")
    ? .target(name: "CLLHTTP", cSettings: [.headerSearchPath("forwarding")])
    : .systemLibrary(
        name: "CLLHTTP", path: "Sources/CLLHTTPSystem", pkgConfig: "libllhttp",
        providers: [.apt(["libllhttp-dev"]), .brew(["llhttp"])])

/// ISA-L compresses responses where its headers are: on Debian, Ubuntu, and by Homebrew on either kind of Mac.
let hasISAL = ["/usr", "/usr/local", "/opt/homebrew"].contains {
    FileManager.default.fileExists(atPath: "\($0)/include/isa-l/igzip_lib.h")
}
let isal: [Target] =
    hasISAL
    ? [
        .systemLibrary(
            name: "CISAL", pkgConfig: "libisal", providers: [.apt(["libisal-dev"]), .brew(["isa-l"])])
    ]
    : []

let package = Package(
    name: "points-of-interest",
    platforms: [.macOS(.v15), .iOS(.v16)],
    products: [
        .library(name: "PointsOfInterestAPI", targets: ["PointsOfInterestAPI"]),
        .library(name: "PointsOfInterestHTTP", targets: ["PointsOfInterestHTTP"]),
        .library(name: "PointsOfInterestClient", targets: ["PointsOfInterestClient"]),
        .library(name: "PointsOfInterestEditing", targets: ["PointsOfInterestEditing"]),
        .library(name: "PointsOfInterestOffline", targets: ["PointsOfInterestOffline"]),
        .library(name: "PointsOfInterestTesting", targets: ["PointsOfInterestTesting"]),
        .library(name: "PointsOfInterestContract", targets: ["PointsOfInterestContract"]),
        .executable(name: "poi", targets: ["poi"]),
        .executable(name: "poi-mock", targets: ["poi-mock"]),
        .executable(name: "generate-events", targets: ["EventGenerator"]),
    ],
    targets: [
        // Fences around C libraries.
        .systemLibrary(
            name: "CLibUV", pkgConfig: "libuv", providers: [.apt(["libuv1-dev"]), .brew(["libuv"])]),
        .systemLibrary(
            name: "CLibPQ", pkgConfig: "libpq", providers: [.apt(["libpq-dev"]), .brew(["libpq"])]),
        .systemLibrary(
            name: "CPROJ", pkgConfig: "proj", providers: [.apt(["libproj-dev"]), .brew(["proj"])]),
        .systemLibrary(name: "CIconv"),
        .systemLibrary(
            name: "CZlib", pkgConfig: "zlib", providers: [.apt(["zlib1g-dev"]), .brew(["zlib"])]),
        .systemLibrary(
            name: "CCrypto", pkgConfig: "libcrypto", providers: [.apt(["libssl-dev"]), .brew(["openssl@3"])]),
        llhttp,
        .target(name: "CSystem"),
        .target(name: "CBaseMap", exclude: ["LICENSE.md", "base-map.bin"]),
        .target(name: "CFolding", exclude: ["LICENSE.md"]),

        .target(name: "Locking", swiftSettings: swiftSettings),
        // Bytes that are appended, written and read: numbers, texts and their encodings.
        .target(name: "Bytes", swiftSettings: swiftSettings),

        // What the app links: Foundation only, builds alone.
        .target(name: "PointsOfInterestAPI", dependencies: ["Bytes"], swiftSettings: swiftSettings),
        // Requests, pages and errors.
        .target(
            name: "PointsOfInterestHTTP", dependencies: ["Locking", "PointsOfInterestAPI"],
            resources: [.copy("PrivacyInfo.xcprivacy")], swiftSettings: swiftSettings),
        // And above them models, location and tracking.
        .target(
            name: "PointsOfInterestClient", dependencies: ["Locking", "PointsOfInterestHTTP"],
            resources: [.copy("PrivacyInfo.xcprivacy")], swiftSettings: swiftSettings),
        // What the mock's own requests are made of, on both sides.
        .target(name: "MockServerAPI", swiftSettings: swiftSettings),
        // What editors see of a place, and what they write, on both sides.
        .target(name: "EditingAPI", dependencies: ["PointsOfInterestAPI"], swiftSettings: swiftSettings),
        // What an app links whose users change places: the others don't see it.
        .target(
            name: "PointsOfInterestEditing", dependencies: ["EditingAPI", "Locking", "PointsOfInterestHTTP"],
            swiftSettings: swiftSettings),
        // What the app's tests link.
        .target(
            name: "PointsOfInterestTesting",
            dependencies: ["Locking", "PointsOfInterestClient", "MockServerAPI"],
            resources: [.copy("RecordedResponses")], swiftSettings: swiftSettings),

        // The server's side of the contract: Foundation only, and no product.
        .target(
            name: "PointsOfInterestServerAPI",
            dependencies: ["Bytes", "CFolding", "CSystem", "PointsOfInterestAPI"],
            swiftSettings: swiftSettings),
        .executableTarget(
            name: "EventGenerator", dependencies: ["PointsOfInterestAPI", "PointsOfInterestServerAPI"],
            swiftSettings: swiftSettings),
        // Distances on the ellipsoid and the exact order, which every store has in common.
        .target(
            name: "Geodesy", dependencies: ["PointsOfInterestAPI", "PointsOfInterestServerAPI"],
            swiftSettings: swiftSettings),

        // The places in memory, packed: no HTTP, no SQL.
        .target(
            name: "SpatialIndex",
            dependencies: [
                "Bytes", "CSystem", "Geodesy", "Locking", "PointsOfInterestAPI", "PointsOfInterestServerAPI",
            ],
            swiftSettings: swiftSettings),

        // What an app links that shows places without a network. A preview until it has run on Apple's systems.
        .target(
            name: "PointsOfInterestOffline",
            dependencies: [
                "Bytes", "Geodesy", "Locking", "PointsOfInterestAPI", "PointsOfInterestHTTP",
                "PointsOfInterestServerAPI", "SpatialIndex",
            ],
            resources: [.copy("PrivacyInfo.xcprivacy")], swiftSettings: swiftSettings),

        // The server, from the socket up.
        .target(
            name: "EventLoop", dependencies: ["Locking", "CLibUV", "CSystem"],
            swiftSettings: swiftSettings),
        .target(
            name: "HTTPServer",
            dependencies: ["Bytes", "EventLoop", "Locking", "CLLHTTP", "CZlib"] + (hasISAL ? ["CISAL"] : []),
            swiftSettings: swiftSettings),
        .target(
            name: "Postgres", dependencies: ["Locking", "EventLoop", "CLibPQ"], swiftSettings: swiftSettings),
        .target(name: "Hashing", dependencies: ["Bytes", "CCrypto"], swiftSettings: swiftSettings),
        // What our programs have in common: no HTTP, no SQL.
        .target(
            name: "Program", dependencies: ["EventLoop", "Locking", "PointsOfInterestServerAPI"],
            swiftSettings: swiftSettings),
        .target(name: "ChildProcesses", swiftSettings: swiftSettings),
        .target(
            name: "PrivateCluster", dependencies: ["Locking", "ChildProcesses"], swiftSettings: swiftSettings),
        .target(
            name: "Migrator", dependencies: ["EventLoop", "Hashing", "Postgres"], swiftSettings: swiftSettings
        ),
        // What is logged and counted.
        .target(
            name: "Telemetry",
            dependencies: ["Bytes", "EventLoop", "Locking", "PointsOfInterestAPI", "Program"],
            swiftSettings: swiftSettings),
        // Requests for places as they were understood, and who has the places: no HTTP, no SQL.
        .target(
            name: "Places",
            dependencies: [
                "EventLoop", "Geodesy", "Locking", "PointsOfInterestAPI",
                "PointsOfInterestServerAPI",
                "SpatialIndex", "Telemetry",
            ],
            swiftSettings: swiftSettings),
        .target(
            name: "POIService",
            dependencies: [
                "Bytes", "CBaseMap", "CSystem", "EventLoop", "HTTPServer", "Hashing", "Locking", "Places",
                "PointsOfInterestAPI", "PointsOfInterestServerAPI", "Program", "Telemetry",
            ],
            // The page at `/`, in the program itself.
            resources: [.embedInCode("Pages/Start/Web")], swiftSettings: swiftSettings),
        // Files in, places out: no SQL, and of HTTP only what curl does.
        .target(
            name: "PlaceImport",
            dependencies: [
                "Bytes", "CIconv", "CPROJ", "CZlib", "ChildProcesses", "Hashing", "Locking",
                "PointsOfInterestAPI", "PointsOfInterestServerAPI",
            ],
            // In the program itself: there is nothing else to install.
            resources: [.embedInCode("Mappings")], swiftSettings: swiftSettings,
            // glibc has iconv in itself.
            linkerSettings: [.linkedLibrary("iconv", .when(platforms: [.macOS]))]),
        .target(
            name: "POIDatabase",
            dependencies: [
                "CSystem",
                "EventLoop", "Geodesy", "Locking", "Migrator", "PlaceImport", "Places",
                "PointsOfInterestAPI", "PointsOfInterestServerAPI", "Postgres", "Program", "SpatialIndex",
                "Telemetry",
            ],
            swiftSettings: swiftSettings),
        .executableTarget(
            name: "poi",
            dependencies: [
                "Bytes", "CSystem", "ChildProcesses", "EventLoop", "Hashing", "Locking", "Migrator",
                "POIDatabase",
                "POIService", "PlaceImport", "Places", "PointsOfInterestAPI", "PointsOfInterestServerAPI",
                "PrivateCluster", "Program", "Telemetry",
            ],
            swiftSettings: swiftSettings),
        // The same service over fixtures: no database, no libpq.
        .target(
            name: "MockService",
            dependencies: [
                "Bytes", "CSystem", "EventLoop", "HTTPServer", "Locking", "MockServerAPI", "POIService",
                "Places", "PointsOfInterestAPI", "PointsOfInterestServerAPI", "Program", "SpatialIndex",
                "Telemetry",
            ],
            // In the program itself: `poi-mock` is one file to copy.
            resources: [.embedInCode("Fixtures/RecordedSeed.json")], swiftSettings: swiftSettings),
        .executableTarget(
            name: "poi-mock", dependencies: ["MockService", "Program", "Telemetry"],
            swiftSettings: swiftSettings),

        // What several test targets share.
        .target(name: "Randomness", path: "Tests/Support/Randomness", swiftSettings: swiftSettings),
        .target(
            name: "DifficultPlaces", dependencies: ["PointsOfInterestAPI", "Randomness"],
            path: "Tests/Support/DifficultPlaces", swiftSettings: swiftSettings),

        // The truth that stores are compared with.
        .target(
            name: "BruteForce",
            dependencies: [
                "EventLoop", "Geodesy", "Places", "PointsOfInterestAPI", "PointsOfInterestServerAPI",
                "SpatialIndex",
            ],
            path: "Tests/Support/BruteForce", swiftSettings: swiftSettings),

        .target(
            name: "Loopback", dependencies: ["CZlib", "EventLoop"], path: "Tests/Support/Loopback",
            swiftSettings: swiftSettings),

        // What a client sends, and gets: a table by the sections of the RFCs, see its README.md.
        .target(
            name: "WireCases", path: "Tests/Support/WireCases", exclude: ["Table"],
            swiftSettings: swiftSettings),

        // A client that is killed and started again, see Documentation/tracking.md.
        .executableTarget(
            name: "EventSender", dependencies: ["PointsOfInterestClient"], path: "Tests/Support/EventSender",
            swiftSettings: swiftSettings),

        // What an app does with the client, recorded with each release: see scripts/record/record-exchanges.
        .executableTarget(
            name: "CompatibilityProgram",
            dependencies: ["PointsOfInterestClient", "PointsOfInterestEditing", "PointsOfInterestOffline"],
            path: "Tests/Compatibility/Program", swiftSettings: swiftSettings),

        .testTarget(
            name: "BytesTests", dependencies: ["Bytes", "Randomness"], swiftSettings: swiftSettings),
        .testTarget(name: "HashingTests", dependencies: ["Hashing"], swiftSettings: swiftSettings),
        .testTarget(
            name: "EventLoopTests", dependencies: ["Locking", "EventLoop", "Loopback"],
            swiftSettings: swiftSettings),
        .testTarget(
            name: "HTTPServerTests",
            dependencies: [
                "CZlib", "EventLoop", "HTTPServer", "Locking", "Loopback", "Randomness", "WireCases",
            ],
            exclude: ["Wire/Faults"],
            swiftSettings: swiftSettings),
        .testTarget(
            name: "PostgresTests",
            dependencies: ["EventLoop", "Locking", "Loopback", "Postgres", "PrivateCluster", "Randomness"],
            swiftSettings: swiftSettings),
        .testTarget(
            name: "PrivateClusterTests", dependencies: ["Locking", "PrivateCluster"],
            swiftSettings: swiftSettings),
        .testTarget(
            name: "MigratorTests",
            dependencies: [
                "EventLoop", "Hashing", "Locking", "Loopback", "Migrator", "Postgres", "PrivateCluster",
            ],
            swiftSettings: swiftSettings),
        .testTarget(
            name: "PointsOfInterestAPITests",
            dependencies: ["Bytes", "PointsOfInterestAPI", "PointsOfInterestServerAPI", "Randomness"],
            swiftSettings: swiftSettings),
        .testTarget(
            name: "GeodesyTests",
            dependencies: [
                "CPROJ", "Geodesy", "PointsOfInterestAPI", "PointsOfInterestServerAPI", "Randomness",
            ],
            swiftSettings: swiftSettings),
        // What the index costs, see Documentation/exactness.md.
        .executableTarget(
            name: "measure-index",
            dependencies: [
                "Geodesy", "PointsOfInterestAPI", "PointsOfInterestServerAPI", "Randomness", "SpatialIndex",
            ],
            path: "Benchmarks/structures", swiftSettings: swiftSettings),
        .testTarget(
            name: "SpatialIndexTests",
            dependencies: [
                "BruteForce", "DifficultPlaces", "Geodesy", "Locking", "Places", "PointsOfInterestAPI",
                "PointsOfInterestServerAPI", "Randomness", "SpatialIndex",
            ],
            swiftSettings: swiftSettings),
        // What a region on the device costs, see Documentation/performance.md.
        .executableTarget(
            name: "measure-region",
            dependencies: ["PointsOfInterestHTTP", "PointsOfInterestOffline", "Randomness"],
            path: "Benchmarks/region", swiftSettings: swiftSettings),
        // What is in a file, and what reading it costs.
        .executableTarget(
            name: "read-places", dependencies: ["PlaceImport"], path: "Benchmarks/import",
            swiftSettings: swiftSettings),
        .testTarget(
            name: "PlaceImportTests",
            dependencies: [
                "CZlib", "PlaceImport", "PointsOfInterestAPI", "PointsOfInterestServerAPI", "Randomness",
            ],
            exclude: ["StandIns"], swiftSettings: swiftSettings),
        .testTarget(
            name: "EventGeneratorTests",
            dependencies: ["EventGenerator", "PointsOfInterestAPI", "PointsOfInterestServerAPI"],
            exclude: ["Definitions"],
            // As in an app whose declarations belong to the main actor by default.
            swiftSettings: swiftSettings + [.defaultIsolation(MainActor.self)]),
        .testTarget(
            name: "PointsOfInterestClientTests",
            dependencies: [
                "Locking", "PointsOfInterestAPI", "PointsOfInterestClient", "PointsOfInterestHTTP",
                "PointsOfInterestTesting",
            ],
            swiftSettings: swiftSettings),
        .testTarget(
            name: "ClientKitTests",
            dependencies: [
                "Locking", "PointsOfInterestClient", "PointsOfInterestHTTP", "PointsOfInterestTesting",
            ],
            swiftSettings: swiftSettings),
        .testTarget(
            name: "PointsOfInterestEditingTests",
            dependencies: [
                "EditingAPI", "Locking", "PointsOfInterestAPI", "PointsOfInterestClient",
                "PointsOfInterestEditing", "PointsOfInterestHTTP", "PointsOfInterestTesting", "Randomness",
            ],
            swiftSettings: swiftSettings),
        .testTarget(
            name: "PointsOfInterestOfflineTests",
            dependencies: [
                "BruteForce", "DifficultPlaces", "Geodesy", "Locking", "Places", "PointsOfInterestAPI",
                "PointsOfInterestClient", "PointsOfInterestHTTP", "PointsOfInterestOffline",
                "PointsOfInterestServerAPI", "PointsOfInterestTesting", "Randomness", "SpatialIndex",
            ],
            swiftSettings: swiftSettings),
        .testTarget(
            name: "PointsOfInterestTestingTests",
            dependencies: ["PointsOfInterestAPI", "PointsOfInterestTesting"],
            swiftSettings: swiftSettings),
        // The listings of Apple's testing talk, see Documentation/testing.md.
        .testTarget(
            name: "TalkTests", dependencies: ["PointsOfInterestTesting"], swiftSettings: swiftSettings),
        .testTarget(
            name: "POIServiceTests",
            dependencies: [
                "BruteForce", "Bytes", "DifficultPlaces", "EventLoop", "Geodesy", "HTTPServer", "Hashing",
                "Locking", "Loopback", "MockService", "POIService", "Places", "PointsOfInterestAPI",
                "PointsOfInterestServerAPI", "Program", "Randomness", "SpatialIndex", "Telemetry",
            ],
            exclude: ["Faults"], swiftSettings: swiftSettings),
        .testTarget(
            name: "POIDatabaseTests",
            dependencies: [
                "BruteForce", "DifficultPlaces", "EventLoop", "Geodesy", "Locking", "Loopback", "Migrator",
                "POIDatabase", "PlaceImport", "Places", "PointsOfInterestAPI", "PointsOfInterestServerAPI",
                "Postgres", "PrivateCluster", "Program", "Randomness", "SpatialIndex", "Telemetry",
            ],
            exclude: ["Faults"], swiftSettings: swiftSettings),

        // It starts programs that it doesn't depend on: the contract tests link it, and may build without a server.
        .target(
            name: "ServerProcess", dependencies: ["Locking", "ChildProcesses"],
            path: "Tests/Support/ServerProcess",
            swiftSettings: swiftSettings),
        .target(
            name: "ServiceFixtures",
            dependencies: ["Loopback", "PointsOfInterestClient", "PrivateCluster", "ServerProcess"],
            path: "Tests/Support/ServiceFixtures", swiftSettings: swiftSettings),
        // The contract suite, for the tests of this package and of others. Against a service that runs already it is
        // built alone (scripts/contract-test): no target of the server, and no C target, may be among the dependencies.
        .target(
            name: "PointsOfInterestContract",
            dependencies: [
                "Locking", "PointsOfInterestClient", "PointsOfInterestEditing", "PointsOfInterestTesting",
                "ServerProcess",
            ],
            exclude: ["Recorded"], swiftSettings: swiftSettings),
        .testTarget(
            name: "PointsOfInterestContractTests",
            dependencies: ["PointsOfInterestClient", "PointsOfInterestContract"],
            swiftSettings: swiftSettings),
        // Tests of the programs: `poi` is among the dependencies so that it is built, nothing imports it.
        .testTarget(
            name: "MockServiceTests",
            dependencies: [
                "EventLoop", "HTTPServer", "MockServerAPI", "MockService", "POIService", "Places",
                "PointsOfInterestAPI", "PointsOfInterestServerAPI", "Program", "Telemetry",
            ],
            swiftSettings: swiftSettings),
        .testTarget(
            name: "MockProcessTests",
            dependencies: [
                "Loopback", "PointsOfInterestOffline", "PointsOfInterestTesting", "Randomness",
                "ServerProcess", "ServiceFixtures",
                "poi", "poi-mock",
            ],
            swiftSettings: swiftSettings),
        .testTarget(
            name: "ServiceProcessTests",
            dependencies: [
                "Loopback", "PointsOfInterestClient", "PrivateCluster", "Randomness", "ServerProcess",
                "ServiceFixtures", "poi",
            ], swiftSettings: swiftSettings),
        // Several servers, with what stands before and behind them: see `make test-deployment`.
        .testTarget(
            name: "DeploymentTests",
            dependencies: [
                "EventSender", "Locking", "Loopback", "PointsOfInterestClient", "PrivateCluster",
                "Randomness", "ServerProcess", "ServiceFixtures", "WireCases", "poi",
            ], swiftSettings: swiftSettings),
    ],
    swiftLanguageModes: [.v6]
)

package.targets += isal

// Some targets alone, `POI_TARGETS=HTTPServerTests,PostgresTests`, and what they need: scripts/test-threads builds them anew
// for ThreadSanitizer, and it would take several times as long to build everything; the Dockerfile copies no tests.
if let names = Context.environment["POI_TARGETS"] {
    // Not among all targets: libFuzzer brings `main`, so that it links only with the options of scripts/checks/fuzz.
    package.targets.append(
        .executableTarget(
            name: "Fuzzing",
            dependencies: [
                "Bytes", "CLibPQ", "CZlib", "EventLoop", "Geodesy", "HTTPServer", "Locking", "Loopback",
                "Migrator", "POIDatabase", "PlaceImport", "Places", "PointsOfInterestAPI",
                "PointsOfInterestServerAPI", "Postgres", "Randomness", "SpatialIndex",
            ],
            path: "Tests/Fuzzing", exclude: ["Corpus", "Dictionaries", "Faults"], swiftSettings: swiftSettings
        ))
    package.keepOnly(names.split(separator: ",").map { "\($0)" })
}

extension Package {
    /// Removes every target that these don't depend on, and all products.
    func keepOnly(_ roots: [String]) {
        var waiting = roots
        var kept: Set<String> = []
        while let name = waiting.popLast() {
            guard kept.insert(name).inserted else { continue }
            for dependency in targets.first(where: { $0.name == name })?.dependencies ?? [] {
                if case .byNameItem(let name, _) = dependency { waiting.append(name) }
            }
        }
        products = []
        targets.removeAll { !kept.contains($0.name) }
    }
}
