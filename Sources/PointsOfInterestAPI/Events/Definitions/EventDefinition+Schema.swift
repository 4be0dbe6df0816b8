extension EventDefinition {
    /// Reads a definition: a JSON Schema (2020-12) of the event's value, of which no more is known than events need.
    ///
    /// The `title` is the event's name and `properties` are its parameters; those that are `required` come first,
    /// in that order, then the others by name. A property is a `string` (`minLength`, `maxLength`; `enum` for a
    /// closed list of values, `examples` for one that newer apps make longer), an `integer` or a `number`
    /// (`minimum`, `maximum`), or a `boolean`. A keyword that isn't known is a fault: nothing would check it.
    ///
    /// - Parameters:
    ///   - json: the file's bytes.
    ///   - file: the file's name for the error; without `.json` it has to be the event's name.
    public init(json: [UInt8], file: String) throws(EventDefinitionError) {
        let parsed = json.withUnsafeBufferPointer { bytes in
            Result { () throws(JSONScanner.SyntaxError) in try EventValue(json: bytes) }
        }
        switch parsed {
        case .failure(let error):
            throw EventDefinitionError(
                file: file, reason: "there should be \(error.expected.text) at byte \(error.offset)")
        case .success(let document):
            let reader = EventSchemaReader(file: file)
            self = try reader.definition(document)
        }
    }
}
