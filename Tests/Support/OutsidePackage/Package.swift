// swift-tools-version: 6.2
import Foundation
import PackageDescription

// A package as an app has it: it depends on a version of this one by URL, and sees its public API alone. The script
// check-client-alone copies it to a folder outside, and says where the version is in POI_PACKAGE_URL.
let url = ProcessInfo.processInfo.environment["POI_PACKAGE_URL"] ?? ""
let client = Target.Dependency.product(name: "PointsOfInterestClient", package: "points-of-interest")
let testing = Target.Dependency.product(name: "PointsOfInterestTesting", package: "points-of-interest")
let offline = Target.Dependency.product(name: "PointsOfInterestOffline", package: "points-of-interest")
let editing = Target.Dependency.product(name: "PointsOfInterestEditing", package: "points-of-interest")

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
            name: "SnippetTests", dependencies: [editing, offline, testing],
            swiftSettings: [.unsafeFlags(["-suppress-warnings"])]),

        // What an app does with the whole client.
        .testTarget(name: "AppTests", dependencies: [testing]),

        .target(name: "Randomness"),
        .testTarget(
            name: "PointsOfInterestAPITests",
            dependencies: [
                .product(name: "PointsOfInterestAPI", package: "points-of-interest"), "Randomness",
            ],
            exclude: ["Server"], swiftSettings: swiftSettings),
        .testTarget(
            name: "PointsOfInterestEditingTests", dependencies: [editing, testing, "Randomness"],
            swiftSettings: swiftSettings),
    ]
        + ["PointsOfInterestClientTests", "ClientKitTests", "PointsOfInterestTestingTests"].map {
            .testTarget(name: $0, dependencies: [testing], swiftSettings: swiftSettings)
        },
    swiftLanguageModes: [.v6]
)

// Files that import SwiftUI and the client have to compile. Where there is no SwiftUI, a stand-in has its names. It needs no
// other stand-in: the client would see one of Combine, Core Location or MapKit, too.
#if os(Linux)
    package.targets.append(.target(name: "SwiftUI"))
    package.targets.append(.target(name: "SwiftUIApp", dependencies: ["SwiftUI", client]))
#else
    package.targets.append(.target(name: "SwiftUIApp", dependencies: [client]))
#endif

// Without the client's own tests, see `scripts/checks/check-client-alone snippets`.
if ProcessInfo.processInfo.environment["POI_OUTSIDE_SNIPPETS"] != nil {
    package.targets.removeAll {
        !$0.name.hasPrefix("SwiftUI") && !["outside", "SnippetTests", "AppTests"].contains($0.name)
    }
}
