// swift-tools-version: 6.2
import PackageDescription

// The client as apps had it in release 0.2.0; never to be changed. See Documentation/testing.md.
let swiftSettings: [SwiftSetting] = [.enableUpcomingFeature("NonisolatedNonsendingByDefault")]

let package = Package(
    name: "frozen-client",
    platforms: [.macOS(.v15), .iOS(.v16)],
    targets: [
        .target(name: "Locking", swiftSettings: swiftSettings),
        .target(name: "PointsOfInterestAPI", swiftSettings: swiftSettings),
        .target(
            name: "PointsOfInterestClient", dependencies: ["Locking", "PointsOfInterestAPI"],
            exclude: ["PrivacyInfo.xcprivacy"], swiftSettings: swiftSettings),
        .executableTarget(
            name: "FrozenClient", dependencies: ["PointsOfInterestClient"], swiftSettings: swiftSettings),
    ],
    swiftLanguageModes: [.v6]
)
