import CLibPQ
import Foundation
import Geodesy
@testable import POIDatabase
import Places
import PointsOfInterestAPI
@testable import Postgres

/// A row of PostgreSQL's binary values. The first byte says of which types; each value is behind a byte with its length, of
/// which 255 is null.
///
/// What is decoded and encoded again is decoded as the same. A place that is accepted is JSON with its id and its name.
func fuzzRows(_ input: [UInt8]) {
    guard let first = input.first else { return }
    let values = cells(Array(input.dropFirst()))
    if first & 1 == 0 { checkPlace(values) } else { checkValues(values) }
}

private func cells(_ bytes: [UInt8]) -> [[UInt8]?] {
    var values: [[UInt8]?] = []
    var rest = bytes[...]
    while let length = rest.popFirst() {
        guard length < 255 else {
            values.append(nil)
            continue
        }
        values.append(Array(rest.prefix(Int(length))))
        rest = rest.dropFirst(Int(length))
    }
    return values
}

/// A result, as libpq has it. Values that a row lacks are nulls.
private func rows(_ rows: [[[UInt8]?]], _ types: [PostgresType]) -> PostgresRows {
    guard let result = PQmakeEmptyPGresult(nil, PGRES_TUPLES_OK) else { fatalError("no memory") }
    "".withCString { name in
        var columns = types.map { type in
            PGresAttDesc(
                name: UnsafeMutablePointer(mutating: name), tableid: 0, columnid: 0, format: 1,
                typid: type.oid,
                typlen: -1, atttypmod: -1)
        }
        _ = PQsetResultAttrs(result, Int32(types.count), &columns)
    }
    for (row, values) in rows.enumerated() {
        let row = Int32(row)
        for column in types.indices {
            var value = column < values.count ? values[column] : nil
            let length = value.map { Int32($0.count) } ?? -1
            _ =
                value?.withUnsafeMutableBytes {
                    PQsetvalue(
                        result, row, Int32(column), $0.assumingMemoryBound(to: CChar.self).baseAddress,
                        length)
                } ?? PQsetvalue(result, row, Int32(column), nil, -1)
        }
    }
    return PostgresRows(result: result)
}

// MARK: - Values

private func checkValues(_ values: [[UInt8]?]) {
    for value in values {
        check(value, .bool) { PostgresValue.bool($0) }
        check(value, .int2) { PostgresValue.int2($0) }
        check(value, .int4) { PostgresValue.int4($0) }
        check(value, .int8) { PostgresValue.int8($0) }
        check(value, .float8) { PostgresValue.float8($0) }
        check(value, .text) { PostgresValue.text($0) }
        check(value, .uuid) { PostgresValue.uuid($0) }
        check(value, .timestamptz) { PostgresValue.timestamptz($0) }
        check(value, .boolArray) { PostgresValue.boolArray($0) }
        check(value, .int8Array) { PostgresValue.int8Array($0) }
        check(value, .float8Array) { PostgresValue.float8Array($0) }
        check(value, .textArray) { PostgresValue.textArray($0) }
        check(value, .uuidArray) { PostgresValue.uuidArray($0) }
        check(value, .timestamptzArray) { PostgresValue.timestamptzArray($0) }
    }
}

/// Decodes a value, encodes it, and decodes that. The bytes are compared, since NaN isn't equal to itself.
private func check<Value: PostgresDecodable>(
    _ bytes: [UInt8]?, _ type: PostgresType, _ value: (Value) -> PostgresValue
) {
    guard let decoded: Value = decode(bytes, type) else { return }
    require(bytes != nil, "a null is \(decoded)")
    let encoded = encode(value(decoded))
    // Elements that are smaller integers become larger ones.
    let growth = "\(Value.self)".hasPrefix("Array") ? 2 : 1
    require(encoded.count <= max(1, growth * (bytes?.count ?? 0)), "\(decoded) is longer than it was")
    guard let again: Value = decode(encoded, type) else { fatalError("\(decoded) is encoded as \(encoded)") }
    require(encode(value(again)) == encoded, "\(decoded) is encoded as \(encoded), and decoded as \(again)")
    let isFixed = ![.bool, .text].contains(type) && !"\(Value.self)".hasPrefix("Array")
    require(!isFixed && type != .text || encoded == bytes, "\(decoded) is encoded as \(encoded)")
}

private func decode<Value: PostgresDecodable>(_ bytes: [UInt8]?, _ type: PostgresType) -> Value? {
    let row = rows([[bytes]], [type])[0]
    do throws(PostgresError) {
        return try row.decode(at: 0)
    } catch {
        guard case .decoding = error.code else { fatalError("another error: \(error)") }
        return nil
    }
}

private func encode(_ value: PostgresValue) -> [UInt8] {
    var bytes: [UInt8] = []
    value.appendBinary(to: &bytes)
    return bytes
}

// MARK: - Places

private func checkPlace(_ values: [[UInt8]?]) {
    // The version, the distance, and what a place is read from.
    let types: [PostgresType] =
        [.bytea, .float8, .int8, .float8, .float8, .bool] + Array(repeating: .text, count: 7)
        + [.int2, .text, .text, .text, .text, .int8, .timestamptz]
    guard let center = try? Coordinate(latitude: 1, longitude: 2) else { fatalError("no centre") }
    let request = NearbyPlacesRequest(center: center)
    let styles = PlacesForm.allCases.flatMap {
        [PlaceStyle($0), PlaceStyle(ofDetails: $0, languages: ["en"])]
    }
    do throws(PostgresError) {
        let page = try RankedPage(rows([Array(values.prefix(types.count))], types), of: request, after: .zero)
        guard page.places.count == 1 else { return }
        let id: Int64 = try rows([[values[2]]], [.int8])[0].decode(at: 0)
        for style in styles {
            var writer = JSONWriter()
            do throws(PlaceStoreError) {
                try page.places.write(0, as: style, to: &writer)
            } catch {
                continue
            }
            let texts = values.dropFirst(6).compactMap(\.self)
            guard texts.allSatisfy({ String(validating: $0, as: UTF8.self) != nil }), let name = values[6]
            else {
                continue
            }
            check(writer.bytes, id: id, name: name)
        }
    } catch {
        guard case .decoding = error.code else { fatalError("another error: \(error)") }
    }
}

/// Checks that Foundation reads a place's JSON, with the id and the name that it was made of.
private func check(_ json: [UInt8], id: Int64, name: [UInt8]) {
    guard let object = (try? JSONSerialization.jsonObject(with: Data(json))) as? [String: Any] else {
        fatalError("not JSON: \(json.text)")
    }
    let members = object["properties"] as? [String: Any] ?? object
    let name = name.text
    require(
        (members["name"] as? String).map { Array($0.utf8) } == Array(name.utf8), "another name: \(json.text)")
    let shownID = members["id"] ?? object["id"]
    require((shownID as? NSNumber)?.int64Value == id, "another id: \(json.text)")
}
