// swift-tools-version: 6.2
import PackageDescription

// In a repository of your own, instead of the path: the URL, and `exact: "0.10.0"`, the version that your service runs.
let pointsOfInterest = Package.Dependency.package(name: "points-of-interest", path: "../..")

let package = Package(
    name: "staging",
    platforms: [.macOS(.v15), .iOS(.v16)],
    dependencies: [pointsOfInterest],
    targets: [
        .testTarget(
            name: "StagingTests",
            dependencies: [.product(name: "PointsOfInterestContract", package: "points-of-interest")])
    ],
    swiftLanguageModes: [.v6]
)
