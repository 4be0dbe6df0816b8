// swift-tools-version: 6.2
import PackageDescription

let swiftSettings: [SwiftSetting] = [.enableUpcomingFeature("NonisolatedNonsendingByDefault")]

// The app without its views, so that its tests run anywhere. The app itself is App/Places.xcodeproj.
let package = Package(
    name: "places",
    platforms: [.macOS(.v15), .iOS(.v16)],
    products: [.library(name: "PlacesCore", targets: ["PlacesCore"])],
    dependencies: [.package(name: "points-of-interest", path: "../..")],
    targets: [
        .target(
            name: "PlacesCore",
            dependencies: [
                .product(name: "PointsOfInterestClient", package: "points-of-interest"),
                .product(name: "PointsOfInterestEditing", package: "points-of-interest"),
            ],
            swiftSettings: swiftSettings),
        .testTarget(
            name: "PlacesCoreTests",
            dependencies: [
                "PlacesCore", .product(name: "PointsOfInterestEditing", package: "points-of-interest"),
                .product(name: "PointsOfInterestTesting", package: "points-of-interest"),
            ],
            swiftSettings: swiftSettings),
    ],
    swiftLanguageModes: [.v6]
)
