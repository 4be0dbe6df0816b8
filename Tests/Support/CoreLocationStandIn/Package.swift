// swift-tools-version: 6.2
import PackageDescription

// The client once more, in a package in which `import CoreLocation` and `import Combine` find stand-ins: so what is
// written for Apple's platforms alone is compiled, and run, where neither exists. A package of its own, because
// all modules of a package can see each other; see scripts/check-corelocation.
let swiftSettings: [SwiftSetting] = [.enableUpcomingFeature("NonisolatedNonsendingByDefault")]

let package = Package(
    name: "core-location-stand-in",
    targets: [
        .target(name: "CoreLocation"),
        .target(name: "Combine"),
        .target(name: "PointsOfInterestAPI", dependencies: ["CoreLocation"], swiftSettings: swiftSettings),
        .target(
            name: "PointsOfInterestClient", dependencies: ["PointsOfInterestAPI", "CoreLocation", "Combine"],
            resources: [.copy("PrivacyInfo.xcprivacy")], swiftSettings: swiftSettings),
        .target(name: "MockServerAPI", swiftSettings: swiftSettings),
        .target(
            name: "PointsOfInterestTesting", dependencies: ["PointsOfInterestClient", "MockServerAPI"],
            resources: [.copy("RecordedResponses")], swiftSettings: swiftSettings),
        .testTarget(
            name: "CoreLocationTests", dependencies: ["PointsOfInterestTesting", "CoreLocation", "Combine"],
            swiftSettings: swiftSettings),
        // What doesn't need the stand-ins must not be disturbed by them.
        .testTarget(
            name: "ClientKitTests", dependencies: ["PointsOfInterestTesting"], swiftSettings: swiftSettings),
        .testTarget(
            name: "PointsOfInterestTestingTests", dependencies: ["PointsOfInterestTesting"],
            swiftSettings: swiftSettings),
    ],
    swiftLanguageModes: [.v6]
)
