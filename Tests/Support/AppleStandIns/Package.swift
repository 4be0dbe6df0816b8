// swift-tools-version: 6.2
import PackageDescription

// The client and the example app on Linux, as on Apple's platforms: `import CoreLocation`, `import Combine`, `import MapKit`,
// `import SwiftUI` and `import UIKit` find stand-ins. So code for those platforms is compiled and run where none of them
// exists. It is a package of its own, because all modules of a package can import each other; see
// scripts/checks/check-apple-platforms.
let swiftSettings: [SwiftSetting] = [.enableUpcomingFeature("NonisolatedNonsendingByDefault")]

let package = Package(
    name: "apple-stand-ins",
    targets: [
        .target(name: "CoreLocation"),
        .target(name: "Combine"),
        .target(name: "UIKit"),
        .target(name: "SwiftUI", dependencies: ["Combine", "UIKit"]),
        .target(name: "MapKit", dependencies: ["CoreLocation", "SwiftUI"]),
        .target(name: "Locking", swiftSettings: swiftSettings),
        .target(name: "Bytes", swiftSettings: swiftSettings),
        .target(
            name: "PointsOfInterestAPI", dependencies: ["Bytes", "CoreLocation"], swiftSettings: swiftSettings
        ),
        .target(
            name: "PointsOfInterestHTTP", dependencies: ["Locking", "PointsOfInterestAPI"],
            resources: [.copy("PrivacyInfo.xcprivacy")], swiftSettings: swiftSettings),
        .target(
            name: "PointsOfInterestClient",
            dependencies: ["Locking", "PointsOfInterestHTTP", "CoreLocation", "Combine", "MapKit"],
            resources: [.copy("PrivacyInfo.xcprivacy")], swiftSettings: swiftSettings),
        .target(name: "EditingAPI", dependencies: ["PointsOfInterestAPI"], swiftSettings: swiftSettings),
        .target(
            name: "PointsOfInterestEditing", dependencies: ["EditingAPI", "Locking", "PointsOfInterestHTTP"],
            swiftSettings: swiftSettings),
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

        .target(
            name: "PlacesCore", dependencies: ["PointsOfInterestClient", "PointsOfInterestEditing"],
            swiftSettings: swiftSettings),
        // With the settings of App/Places.xcodeproj: Swift 6 and nothing else. A warning is an error.
        .executableTarget(
            name: "Places",
            dependencies: [
                "PlacesCore", "PointsOfInterestEditing", "PointsOfInterestTesting", "CoreLocation", "MapKit",
                "SwiftUI", "UIKit",
            ],
            swiftSettings: [.treatAllWarnings(as: .error)]),
        .testTarget(
            name: "PlacesTests",
            dependencies: [
                "Places", "PlacesCore", "PointsOfInterestEditing", "PointsOfInterestTesting", "SwiftUI",
            ]),
    ],
    swiftLanguageModes: [.v6]
)
