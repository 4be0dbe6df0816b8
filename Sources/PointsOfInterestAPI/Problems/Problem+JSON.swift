extension Problem {
    /// The body of an answer with this problem.
    public var json: [UInt8] {
        var writer = JSONWriter(capacity: 256 + 128 * (errors.count + eventErrors.count))
        writer.beginObject()
        writer.member("type", type)
        writer.member("title", title)
        writer.member("status", status)
        writer.member("detail", detail)
        writer.member("code", code.rawValue)
        writer.member("requestId", requestId)
        if !errors.isEmpty {
            writer.name("errors")
            writer.beginArray()
            for fault in errors { writer.value(fault) }
            writer.endArray()
        }
        if !eventErrors.isEmpty {
            writer.name("errors")
            writer.beginArray()
            for fault in eventErrors { writer.value(fault) }
            writer.endArray()
        }
        writer.endObject()
        return writer.bytes
    }
}

extension JSONWriter {
    fileprivate mutating func value(_ fault: EventFault) {
        beginObject()
        member("index", fault.index)
        member("code", fault.code.rawValue)
        member("detail", fault.detail)
        member("parameter", fault.parameter)
        endObject()
    }

    fileprivate mutating func value(_ fault: ParameterFault) {
        beginObject()
        member("parameter", fault.parameter)
        member("code", fault.code.rawValue)
        member("detail", fault.detail)
        endObject()
    }
}
