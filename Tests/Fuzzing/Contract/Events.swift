import Foundation
@testable import PointsOfInterestAPI
@testable import PointsOfInterestServerAPI

/// The body of a batch of events.
///
/// What is accepted is within the limits, its values are JSON objects for Foundation too, and written anew it is the same
/// batch. What isn't JSON isn't JSON for Foundation either. A batch with faults has up to three for each event.
func fuzzEvents(_ input: [UInt8]) {
    let events: [ReceivedEvent]
    do throws(EventsError) {
        events = try EventsRequest.decode(body: input)
    } catch {
        return check(error, of: input)
    }
    for event in events { check(event) }
    let written = write(events)
    do throws(EventsError) {
        let again = try EventsRequest.decode(body: written)
        require(again == events, "\(events) are written as \(written.text), and read as \(again)")
    } catch {
        fatalError("\(events) are written as \(written.text), which is refused: \(error)")
    }
}

private func check(_ error: EventsError, of input: [UInt8]) {
    switch error {
    case .malformed(let reason):
        require(!reason.isEmpty, "without a reason")
        // Foundation also reads UTF-16, stops at a NUL, and takes a comma behind the last item.
        let isPlain = input.allSatisfy { $0 < 0x80 && $0 != 0 } && !input.text.contains(/,\s*[\]}]/)
        let object = isPlain ? try? JSONSerialization.jsonObject(with: Data(input)) : nil
        require(!(object is [Any]), "Foundation reads it: \(reason)")
    case .tooLarge:
        let commas = input.count { $0 == UInt8(ascii: ",") }
        require(input.count > EventLimits.bodyBytes || commas >= EventLimits.events, "it isn't too large")
    case .invalid(let faults):
        require(!faults.isEmpty, "refused without a fault")
        let counts = Dictionary(grouping: faults, by: \.index).mapValues(\.count)
        require(counts.values.allSatisfy { $0 <= EventLimits.faults }, "too many faults: \(faults)")
        require(
            counts.keys.allSatisfy { (0..<EventLimits.events).contains($0) }, "faults of no event: \(faults)")
        require(faults.allSatisfy { !$0.detail.isEmpty }, "a fault without a reason: \(faults)")
    }
    let problem = Problem(error)
    let json = (try? JSONSerialization.jsonObject(with: Data(problem.json))) as? [String: Any]
    require(json?["code"] as? String == problem.code.rawValue, "the problem isn't JSON: \(problem)")
}

private func check(_ event: ReceivedEvent) {
    require((1...EventLimits.userIDBytes).contains(event.userID.utf8.count), "\(event)")
    require((1...EventLimits.nameBytes).contains(event.name.utf8.count), "\(event)")
    require(EventLimits.times.contains(event.time), "\(event)")
    require(!(event.userID + event.name).utf8.contains(0), "\(event)")
    guard !event.value.isEmpty else { return }
    require(event.value.count <= EventLimits.valueBytes, "\(event)")
    let value = (try? JSONSerialization.jsonObject(with: Data(event.value))) as? [String: Any]
    require(value != nil, "Foundation doesn't read the value \(Array(event.value).text)")
    require(!"\(value ?? [:])".utf8.contains(0), "a NUL, which PostgreSQL doesn't store: \(event)")
    require((value?.count ?? 0) <= EventLimits.members, "too many members: \(event)")
}

private func write(_ events: [ReceivedEvent]) -> [UInt8] {
    func json(_ write: (inout JSONWriter) -> Void) -> String {
        var writer = JSONWriter()
        write(&writer)
        return writer.bytes.text
    }
    let items = events.map { event in
        let id = event.id.map { "\"id\": \"\($0.uuidString)\", " } ?? ""
        let value = event.value.isEmpty ? "" : ", \"value\": \(Array(event.value).text)"
        return """
            {\(id)"user_id": \(json { $0.value(event.userID) }), "time": \(json { $0.value(decimal: event.time) }), \
            "event": {"name": \(json { $0.value(event.name) })\(value)}, "test": \(event.isTest)}
            """
    }
    return Array("[\(items.joined(separator: ",\n"))]".utf8)
}
