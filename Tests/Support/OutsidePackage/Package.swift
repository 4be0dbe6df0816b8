// swift-tools-version: 6.2
import Foundation
import PackageDescription

// A package as an app has it: it depends on a version of this one by URL, and sees its public API alone. The script
// check-client-alone copies it to a folder outside, and says where the version is in POI_PACKAGE_URL.
let url = ProcessInfo.processInfo.environment["POI_PACKAGE_URL"] ?? ""
let client = Target.Dependency.product(name: "PointsOfInterestClient", package: "points-of-interest")
let testing = Target.Dependency.product(name: "PointsOfInterestTesting", package: "points-of-interest")

/// The client's own tests use what is `package` there, so they are compiled under that package's name.
let swiftSettings: [SwiftSetting] = [
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    .unsafeFlags(["-package-name", "points_of_interest"]),
]

let package = Package(
    name: "outside",
    platforms: [.macOS(.v15), .iOS(.v16)],
    dependencies: [.package(url: url, exact: "0.0.1")],
    targets: [
        .executableTarget(name: "outside", dependencies: [client]),
        // Each snippet of the documentation is a test, made by extract_snippets.py. It may leave a constant unused.
        .testTarget(
            name: "SnippetTests", dependencies: [testing],
            swiftSettings: [.unsafeFlags(["-suppress-warnings"])]),

        .target(name: "Randomness"),
        .testTarget(
            name: "PointsOfInterestAPITests",
            dependencies: [
                .product(name: "PointsOfInterestAPI", package: "points-of-interest"), "Randomness",
            ],
            exclude: ["Server"], swiftSettings: swiftSettings),
    ]
        + ["PointsOfInterestClientTests", "ClientKitTests", "PointsOfInterestTestingTests"].map {
            .testTarget(name: $0, dependencies: [testing], swiftSettings: swiftSettings)
        },
    swiftLanguageModes: [.v6]
)

// A file that imports SwiftUI and the client has to compile. Where there is no SwiftUI, a stand-in has its names.
#if os(Linux)
    package.targets.append(.target(name: "SwiftUI"))
    package.targets.append(.target(name: "SwiftUIApp", dependencies: ["SwiftUI", client]))
#else
    package.targets.append(.target(name: "SwiftUIApp", dependencies: [client]))
#endif

// The snippets alone, see `scripts/checks/check-client-alone snippets`.
if ProcessInfo.processInfo.environment["POI_OUTSIDE_SNIPPETS"] != nil {
    package.targets.removeAll { !$0.name.hasPrefix("SwiftUI") && $0.name != "SnippetTests" }
}
