import PointsOfInterestAPI

extension PlaceRecord {
    /// Writes all names in languages and all that are only searched as the members `names` and `otherNames` of the object
    /// that is being written, where there are any.
    package func writeAllNames(to writer: inout JSONWriter) {
        guard let names = otherNames else { return }
        var isFirst = true
        names.forEachInLanguage { tag, text in
            if isFirst {
                writer.name("names")
                writer.beginObject()
                isFirst = false
            }
            writer.name(escaping: String(decoding: tag, as: UTF8.self))
            writer.value(json: Self.quoted(text))
        }
        if !isFirst { writer.endObject() }
        isFirst = true
        names.forEachSearched { text in
            if isFirst {
                writer.name("otherNames")
                writer.beginArray()
                isFirst = false
            }
            writer.value(json: Self.quoted(text))
        }
        if !isFirst { writer.endArray() }
    }

    /// A text as a record has it is as in JSON between quotes.
    private static func quoted(_ text: UnsafeRawBufferPointer) -> ArraySlice<UInt8> {
        ([UInt8(ascii: "\"")] + text + [UInt8(ascii: "\"")])[...]
    }
}
