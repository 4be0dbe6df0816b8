import PointsOfInterestAPI
import Foundation
import Randomness
import Testing

@testable import PointsOfInterestServerAPI

@Suite("An event")
struct EventFaultTests {
    /// What is wrong with an event of these members: codes and parameters.
    private func faults(_ members: String, catalog: EventCatalog = .builtIn) throws -> [String] {
        try faults(bytes: Array("{\(members)}".utf8), catalog: catalog)
    }

    private func faults(bytes: [UInt8], catalog: EventCatalog = .builtIn) throws -> [String] {
        do {
            _ = try EventsRequest.decode(body: Array("[".utf8) + bytes + Array("]".utf8), catalog: catalog)
            return []
        } catch {
            guard case .invalid(let faults) = error else { throw error }
            #expect(faults.allSatisfy { $0.index == 0 })
            return faults.map { "\($0.code.rawValue) \($0.parameter ?? "-")" }
        }
    }

    private let envelope = #""user_id":"u","time":1"#

    @Test(
        "An event with a faulty envelope is refused with the fault",
        arguments: [
            (#""time":1,"event":{"name":"launch"}"#, "missing user_id"),
            (#""user_id":"","time":1,"event":{"name":"launch"}"#, "out-of-range user_id"),
            (#""user_id":7,"time":1,"event":{"name":"launch"}"#, "wrong-type user_id"),
            (#""user_id":null,"time":1,"event":{"name":"launch"}"#, "wrong-type user_id"),
            (#""user_id":"u","event":{"name":"launch"}"#, "missing time"),
            (#""user_id":"u","time":1e300,"event":{"name":"launch"}"#, "out-of-range time"),
            (#""user_id":"u","time":1e999,"event":{"name":"launch"}"#, "out-of-range time"),
            (#""user_id":"u","time":-300000000000,"event":{"name":"launch"}"#, "out-of-range time"),
            (#""user_id":"u","time":1,"event":"launch""#, "wrong-type event"),
            (#""user_id":"u","time":1,"event":{}"#, "missing event.name"),
            (#""user_id":"u","time":1,"event":{"name":""}"#, "out-of-range event.name"),
            (#""user_id":"u","time":1,"event":{"name":"launch","value":[]}"#, "wrong-type event.value"),
            (#""user_id":"u","time":1,"event":{"name":"launch"},"test":"yes""#, "wrong-type test"),
            (#""id":"1","user_id":"u","time":1,"event":{"name":"launch"}"#, "not-a-uuid id"),
            (
                #""id":"5C1F2E2A-7C55-8B1E-9C5E-0B6B2B2C9D11","user_id":"u","time":1,"event":{"name":"launch"}"#,
                "not-a-uuid id"
            ),
            (#""id":1,"user_id":"u","time":1,"event":{"name":"launch"}"#, "wrong-type id"),
            (#""user_id":"u","user_id":"v","time":1,"event":{"name":"launch"}"#, "repeated user_id"),
            (#""user_id":"u","us\u0065r_id":"v","time":1,"event":{"name":"launch"}"#, "repeated user_id"),
            (#""user_id":"u","time":1,"event":{"name":"launch","name":"launch"}"#, "repeated event.name"),
        ])
    func envelopeFaults(members: String, fault: String) throws {
        #expect(try faults(members) == [fault])
    }

    @Test(
        "An event without a fault is accepted",
        arguments: [
            #""user_id":"u","time":1,"event":{"name":"launch"}"#,
            #""user_id":"u","time":-1.5e3,"event":{"name":"launch","value":null},"id":null,"test":null"#,
            #""user_id":"u","time":9e12,"event":{"name":"launch","value":{}},"test":false"#,
            #""user_id":"u\u00e9\ud83d\ude00","time":1,"event":{"name":"from the future","value":{"x":[1,{"y":null}]}}"#,
            #""user_id":"u","time":1,"event":{"name":"launch","extra":[[[[[[[[[[1]]]]]]]]]]},"session":{"a":1,"a":2}"#,
            #""user_id":"u","time":1,"event":{"value":{"page":"a","new":1},"name":"page-view"}"#,
            #""user_id":"u","time":1,"event":{"name":"page-view","value":{"page":"a","additional":null}}"#,
            #""user_id":"u","time":1,"event":{"name":"search","value":{"query":"","page":2.0}}"#,
            #""id":"f3476b52-160d-4cb9-9022-de3b34e732ec","user_id":"u","time":1,"event":{"name":"launch"}"#,
        ])
    func accepted(members: String) throws {
        #expect(try faults(members) == [])
    }

    @Test(
        "An event with values that its definition doesn't allow is refused",
        arguments: [
            (#"{"name":"page-view"}"#, "missing page"),
            (#"{"name":"page-view","value":{}}"#, "missing page"),
            (#"{"name":"page-view","value":{"page":null}}"#, "missing page"),
            (#"{"name":"page-view","value":{"page":""}}"#, "out-of-range page"),
            (#"{"name":"page-view","value":{"page":42}}"#, "wrong-type page"),
            (#"{"name":"page-view","value":{"page":"a","additional":["42"]}}"#, "wrong-type additional"),
            (#"{"name":"search","value":{"query":"x","page":0}}"#, "out-of-range page"),
            (#"{"name":"search","value":{"query":"x","page":1.5}}"#, "wrong-type page"),
            (#"{"name":"search","value":{"query":"x","page":1e30}}"#, "out-of-range page"),
            (#"{"name":"search","value":{"query":"x","page":"1"}}"#, "wrong-type page"),
        ])
    func valueFaults(event: String, fault: String) throws {
        #expect(try faults("\(envelope),\"event\":\(event)") == [fault])
    }

    @Test(
        "An event with text that a database can't store is refused",
        arguments: [
            #"\u0000"#, #"\ud800"#, #"\udc00"#, #"\ud800\ud800"#, #"\ud800x"#, #"\ud83d\u0041"#, "\u{1}",
            "\n",
        ])
    func textFaults(text: String) throws {
        #expect(
            try faults(#""user_id":"\#(text)","time":1,"event":{"name":"launch"}"#) == [
                "malformed-text user_id"
            ])
        #expect(
            try faults(#""user_id":"u","time":1,"event":{"name":"\#(text)"}"#) == [
                "malformed-text event.name"
            ])
        for value in [
            #"{"page":"\#(text)"}"#, #"{"page":"p","\#(text)":1}"#, #"{"page":"p","x":["\#(text)"]}"#,
        ] {
            #expect(
                try faults(#"\#(envelope),"event":{"name":"page-view","value":\#(value)}"#)
                    == ["malformed-text event.value"])
        }
    }

    @Test(
        "An event with bytes that are not UTF-8 is refused",
        arguments: [[0xff], [0xc3], [0xc0, 0x80], [0xed, 0xa0, 0x80], [0xf8, 0x88, 0x80, 0x80, 0x80]]
            as [[UInt8]])
    func encodingFaults(bytes: [UInt8]) throws {
        let event =
            Array(#"{"user_id":""#.utf8) + bytes + Array(#"","time":1,"event":{"name":"launch"}}"#.utf8)
        #expect(try faults(bytes: event) == ["malformed-text user_id"])
    }

    @Test("An event is refused for exactly those numbers that are beyond all doubles")
    func numberFaults() throws {
        var random = SeededGenerator()
        let limits = [
            "17976931348623157", "17976931348623158", "179769313486231580", "1797693134862315807",
            "1797693134862315808", "17976931348623159", "1", "9", "0", "00",
        ]
        for _ in 0..<20_000 {
            let digits = try #require(limits.randomElement(using: &random)) + randomDigits(using: &random)
            let point = Int.random(in: 0...digits.count, using: &random)
            let whole = digits.prefix(point).drop { $0 == "0" }
            let fraction = point < digits.count ? ".\(digits.dropFirst(point))" : ""
            let sign = ["", "-", "+"].randomElement(using: &random) ?? ""
            // The power of ten at which the digits matter, or any.
            let exponent = Bool.random(using: &random) ? 309 - point : Int.random(in: 0...999, using: &random)
            let number = "\(whole.isEmpty ? "0" : whole)\(fraction)e\(sign)\(exponent)"
            let isHeld = try #require(Double(number)).isFinite
            #expect(
                try faults(#"\#(envelope),"event":{"name":"new","value":{"a":-\#(number)}}"#)
                    == (isHeld ? [] : ["out-of-range event.value"]), "\(number)")
        }
    }

    private func randomDigits(using random: inout SeededGenerator) -> String {
        let count = Int.random(in: 0...3, using: &random)
        return (0..<count).map { _ in "\(Int.random(in: 0...9, using: &random))" }.joined()
    }

    @Test("An event with too large a value is refused, however it is nested")
    func sizeFaults() throws {
        func faults(value: String) throws -> [String] {
            try self.faults(#"\#(envelope),"event":{"name":"new","value":\#(value)}"#)
        }
        let deep = String(repeating: "[", count: 20_000) + String(repeating: "]", count: 20_000)
        #expect(try faults(value: #"{"a":\#(deep)}"#) == ["too-large event.value", "too-large event.value"])
        let levels = String(repeating: "[", count: 7) + String(repeating: "]", count: 7)
        #expect(try faults(value: #"{"a":\#(levels)}"#) == [])
        #expect(try faults(value: #"{"a":[\#(levels)]}"#) == ["too-large event.value"])
        let members = (0..<64).map { #""m\#($0)":0"# }
        #expect(try faults(value: "{\(members.joined(separator: ","))}") == [])
        #expect(
            try faults(value: #"{"last":0,\#(members.joined(separator: ","))}"#) == ["too-large event.value"])
        #expect(try faults(value: #"{"a":"\#(String(repeating: "x", count: 8184))"}"#) == [])
        #expect(
            try faults(value: #"{"a":"\#(String(repeating: "x", count: 8185))"}"#) == [
                "too-large event.value"
            ])
        #expect(try faults(value: #"{"a":{"b":1,"\u0062":2}}"#) == ["repeated event.value"])
        for number in ["1e999", "-1e400", "1e-1000", String(repeating: "9", count: 101)] {
            #expect(try faults(value: #"{"a":\#(number)}"#) == ["out-of-range event.value"])
        }
        let long = String(repeating: "é", count: 101)
        #expect(
            try self.faults(#""user_id":"\#(long)","time":1,"event":{"name":"new"}"#) == [
                "out-of-range user_id"
            ])
    }

    @Test(
        "An event with a repeated member is refused, however its name is escaped, within the limit of bytes")
    func repeatedNames() throws {
        func faults(value: String) throws -> [String] {
            try self.faults(#"\#(envelope),"event":{"name":"new","value":\#(value)}"#)
        }
        let long = String(repeating: "x", count: 8200)
        let escaped = String(repeating: #"\u0061"#, count: 100)
        #expect(try faults(value: #"{"\u0061b":1,"a\u0063":2,"\ud83d\ude00":3,"😁":4}"#) == [])
        #expect(try faults(value: #"{"\u0061b":1,"a\u0062":2}"#) == ["repeated event.value"])
        #expect(try faults(value: #"{"\ud83d\ude00":1,"😀":2}"#) == ["repeated event.value"])
        #expect(try faults(value: #"{"\#(escaped)1":1,"\#(escaped)2":2}"#) == [])
        #expect(
            try faults(value: #"{"a":1,"\u0061":2,"b":"\#(long)"}"#) == [
                "repeated event.value", "too-large event.value",
            ])
        // Nobody has to know what else is wrong with what is too large.
        #expect(try faults(value: #"{"b":"\#(long)","a":1,"\u0061":2}"#) == ["too-large event.value"])
    }

    @Test("An event that a team has defined is checked by that definition")
    func ownDefinitions() throws {
        let own = EventDefinition(
            name: "order", description: "Ordered.",
            parameters: [
                EventParameter(
                    name: "kind", description: "k", kind: .choice(["a", "b"]), isRequired: true),
                EventParameter(name: "price", description: "p", kind: .number(0...10), isRequired: false),
                EventParameter(name: "gift", description: "g", kind: .boolean, isRequired: false),
            ], allowsOthers: false)
        let catalog = try EventCatalog.builtIn.merging([own])
        func faults(_ value: String) throws -> [String] {
            try self.faults(#"\#(envelope),"event":{"name":"order","value":\#(value)}"#, catalog: catalog)
        }
        #expect(try faults(#"{"kind":"a","price":9.5,"gift":true}"#) == [])
        #expect(try faults(#"{"kind":"c"}"#) == ["not-a-choice kind"])
        #expect(try faults(#"{"kind":"a","price":10.5}"#) == ["out-of-range price"])
        #expect(try faults(#"{"kind":"a","price":"9"}"#) == ["wrong-type price"])
        #expect(try faults(#"{"kind":"a","gift":1}"#) == ["wrong-type gift"])
        #expect(try faults(#"{"kind":"a","colour":1}"#) == ["unknown -"])
        #expect(throws: EventDefinitionError.self) { try catalog.merging([own]) }
    }
}
