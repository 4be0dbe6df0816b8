// Apple's pages say what each declaration is for.
// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

import Foundation

// What Examples/Places uses of UIKit. Each declaration names its page below https://developer.apple.com/documentation/.

/// uikit/uiapplication
@MainActor
open class UIApplication: NSObject {
    /// uikit/uiapplication/shared
    public class var shared: UIApplication { UIApplication() }

    /// uikit/uiapplication/beginbackgroundtask(withname:expirationhandler:)
    nonisolated open func beginBackgroundTask(
        withName taskName: String?, expirationHandler handler: (@MainActor @Sendable () -> Void)? = nil
    ) -> UIBackgroundTaskIdentifier { .invalid }

    /// uikit/uiapplication/endbackgroundtask(_:)
    nonisolated open func endBackgroundTask(_ identifier: UIBackgroundTaskIdentifier) {}
}

/// uikit/uibackgroundtaskidentifier
public struct UIBackgroundTaskIdentifier: Hashable, RawRepresentable, Sendable {
    public let rawValue: Int

    public init(rawValue: Int) {
        self.rawValue = rawValue
    }

    /// uikit/uibackgroundtaskidentifier/invalid
    public static let invalid = UIBackgroundTaskIdentifier(rawValue: 0)
}

/// uikit/uikeyboardtype
public enum UIKeyboardType: Int, Sendable {
    case `default`, asciiCapable, numbersAndPunctuation
    case URL
}
