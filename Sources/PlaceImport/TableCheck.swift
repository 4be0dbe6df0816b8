/// The tables' checks, for texts that aren't from a file, such as a dataset's name and license.
package enum TableCheck {
    /// Whether `is_single_line` accepts a text.
    package static func isSingleLine(_ text: String, maximumLength: Int) -> Bool {
        let normalised = try? Array(text.utf8).withUnsafeBufferPointer { try PlaceText.normalise($0) }
        guard let normalised, normalised.text == text else { return false }
        return (1...maximumLength).contains(normalised.codePoints)
    }

    /// Whether a text is a URL that `locations_website_is_http_url` accepts.
    package static func isWebsite(_ text: String) -> Bool { PlaceWebsite.isAccepted(text.utf8) }

    /// Whether a category may have this name.
    package static func isCategory(_ text: String) -> Bool { PlaceText.isCategory(text) }
}
