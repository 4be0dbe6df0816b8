// swift-tools-version: 6.2
import PackageDescription

let swiftSettings: [SwiftSetting] = [.enableUpcomingFeature("NonisolatedNonsendingByDefault")]

let package = Package(
    name: "nearby",
    platforms: [.macOS(.v15)],
    dependencies: [.package(name: "points-of-interest", path: "../..")],
    targets: [
        // The program without its outside world, so that tests reach all of it.
        .target(
            name: "NearbyKit",
            dependencies: [.product(name: "PointsOfInterestClient", package: "points-of-interest")],
            swiftSettings: swiftSettings),
        .executableTarget(name: "nearby", dependencies: ["NearbyKit"], swiftSettings: swiftSettings),

        // The pyramid, widest first.
        .testTarget(
            name: "UnitTests",
            dependencies: [
                "NearbyKit", .product(name: "PointsOfInterestTesting", package: "points-of-interest"),
            ],
            swiftSettings: swiftSettings),
        .testTarget(
            name: "IntegrationTests",
            dependencies: [
                "NearbyKit", .product(name: "PointsOfInterestTesting", package: "points-of-interest"),
            ],
            swiftSettings: swiftSettings),
        // Runs the program itself, which is among the dependencies so that it is built.
        .testTarget(
            name: "EndToEndTests",
            dependencies: [
                "nearby", .product(name: "PointsOfInterestTesting", package: "points-of-interest"),
            ],
            swiftSettings: swiftSettings),
    ],
    swiftLanguageModes: [.v6]
)
