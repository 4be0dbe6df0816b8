// Apple's pages say what each declaration is for.
// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

import SwiftUI

// SwiftUI's map, as iOS 16 has it. Each declaration names its page below https://developer.apple.com/documentation/.

/// mapkit/map
@MainActor @preconcurrency
public struct Map<Content: View> {
    /// mapkit/map/init(coordinateregion:interactionmodes:showsuserlocation:usertrackingmode:annotationitems:annotationcontent:),
    /// replaced in iOS 17
    public init<Items: RandomAccessCollection, Annotation: MapAnnotationProtocol>(
        coordinateRegion: Binding<MKCoordinateRegion>, interactionModes: MapInteractionModes = .all,
        showsUserLocation: Bool = false, userTrackingMode: Binding<MapUserTrackingMode>? = nil,
        annotationItems: Items, annotationContent: @escaping (Items.Element) -> Annotation
    ) where Content == DefaultAnnotatedMapContent<Items>, Items.Element: Identifiable {
        for item in annotationItems { _ = annotationContent(item) }
    }
}
extension Map: View, Primitive {}

/// MapKit's `_DefaultAnnotatedMapContent`.
public struct DefaultAnnotatedMapContent<Items> {}
extension DefaultAnnotatedMapContent: View, Primitive {}

/// mapkit/mapannotationprotocol
public protocol MapAnnotationProtocol {}

/// mapkit/mapannotation
public struct MapAnnotation<Content: View>: MapAnnotationProtocol {
    /// mapkit/mapannotation/init(coordinate:anchorpoint:content:)
    public init(
        coordinate: CLLocationCoordinate2D, anchorPoint: CGPoint = CGPoint(x: 0.5, y: 0.5),
        @ViewBuilder content: () -> Content
    ) { _ = content() }
}

/// mapkit/mapinteractionmodes
public struct MapInteractionModes: OptionSet, Sendable {
    public let rawValue: Int
    public init(rawValue: Int) { self.rawValue = rawValue }
    public static let all = MapInteractionModes(rawValue: 3)
}

/// mapkit/mapusertrackingmode
public enum MapUserTrackingMode: Sendable { case none, follow }
