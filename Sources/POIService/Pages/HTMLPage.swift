/// Small pages of plain HTML.
enum HTMLPage {
    /// A page of a title and what stands below it.
    ///
    /// - Parameter content: HTML, whose texts are escaped.
    static func render(title: String, content: String) -> [UInt8] {
        Array(
            """
            <!doctype html>
            <html lang="en">
            <meta charset="utf-8">
            <meta name="viewport" content="width=device-width">
            <meta name="color-scheme" content="light dark">
            <title>\(escaped(title))</title>
            <h1>\(escaped(title))</h1>
            \(content)
            </html>

            """.utf8)
    }

    /// A text as it stands in HTML, in an attribute's quotes too.
    static func escaped(_ text: String) -> String {
        var escaped = ""
        for character in text {
            switch character {
            case "&": escaped += "&amp;"
            case "<": escaped += "&lt;"
            case ">": escaped += "&gt;"
            case "\"": escaped += "&quot;"
            default: escaped.append(character)
            }
        }
        return escaped
    }
}
