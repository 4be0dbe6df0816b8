// swift-tools-version: 6.2
import PackageDescription

// The example app on Linux: its views are compiled against stand-ins of SwiftUI, MapKit and UIKit, and the client as on
// Apple's platforms, with the stand-ins of Core Location and Combine. It is a package of its own, because all modules of
// a package can import each other; see scripts/checks/check-sample.
let swiftSettings: [SwiftSetting] = [.enableUpcomingFeature("NonisolatedNonsendingByDefault")]

let package = Package(
    name: "swiftui-stand-in",
    targets: [
        .target(name: "CoreLocation"),
        .target(name: "Combine"),
        .target(name: "UIKit"),
        .target(name: "SwiftUI", dependencies: ["Combine", "UIKit"]),
        .target(name: "MapKit", dependencies: ["CoreLocation", "SwiftUI"]),
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
        .target(
            name: "PlacesCore", dependencies: ["PointsOfInterestClient"], swiftSettings: swiftSettings),
        // With the settings of App/Places.xcodeproj: Swift 6 and nothing else. A warning is an error.
        .executableTarget(
            name: "Places",
            dependencies: [
                "PlacesCore", "PointsOfInterestTesting", "CoreLocation", "MapKit", "SwiftUI", "UIKit",
            ],
            swiftSettings: [.treatAllWarnings(as: .error)]),
        .testTarget(
            name: "PlacesTests", dependencies: ["Places", "PlacesCore", "PointsOfInterestTesting", "SwiftUI"]),
    ],
    swiftLanguageModes: [.v6]
)
