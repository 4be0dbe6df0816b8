// swift-tools-version: 6.2
import PackageDescription

// The client again, in a package in which `import CoreLocation`, `import Combine` and `import MapKit` find stand-ins. So
// the code for Apple's platforms is compiled and run where none of them exists. It is a package of its own, because all
// modules of a package can import each other; see scripts/checks/check-corelocation.
let swiftSettings: [SwiftSetting] = [.enableUpcomingFeature("NonisolatedNonsendingByDefault")]

let package = Package(
    name: "core-location-stand-in",
    targets: [
        .target(name: "CoreLocation"),
        .target(name: "Combine"),
        .target(name: "MapKit", dependencies: ["CoreLocation"]),
        .target(name: "Locking", swiftSettings: swiftSettings),
        .target(name: "PointsOfInterestAPI", dependencies: ["CoreLocation"], swiftSettings: swiftSettings),
        .target(
            name: "PointsOfInterestClient",
            dependencies: ["Locking", "PointsOfInterestAPI", "CoreLocation", "Combine", "MapKit"],
            resources: [.copy("PrivacyInfo.xcprivacy")], swiftSettings: swiftSettings),
        .target(name: "MockServerAPI", swiftSettings: swiftSettings),
        .target(
            name: "PointsOfInterestTesting",
            dependencies: ["Locking", "PointsOfInterestClient", "MockServerAPI"],
            resources: [.copy("RecordedResponses")], swiftSettings: swiftSettings),
        .testTarget(
            name: "CoreLocationTests",
            dependencies: ["PointsOfInterestTesting", "CoreLocation", "Combine", "MapKit"],
            swiftSettings: swiftSettings),
        // Tests that don't need the stand-ins pass with them too.
        .testTarget(
            name: "ClientKitTests", dependencies: ["Locking", "PointsOfInterestTesting"],
            swiftSettings: swiftSettings),
        .testTarget(
            name: "PointsOfInterestTestingTests", dependencies: ["PointsOfInterestTesting"],
            swiftSettings: swiftSettings),
    ],
    swiftLanguageModes: [.v6]
)
