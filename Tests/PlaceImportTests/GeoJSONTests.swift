import Foundation
import PointsOfInterestAPI
import Testing

@testable import PlaceImport

@Suite("Features of GeoJSON")
struct GeoJSONTests {
    private func feature(
        _ geometry: String = #"{"type":"Point","coordinates":[2,1]}"#, id: String = #""a""#,
        properties: String = #"{"name":"A","category":"cafe"}"#
    ) -> String {
        #"{"type":"Feature","id":\#(id),"geometry":\#(geometry),"properties":\#(properties)}"#
    }

    private func collection(_ features: String...) -> String {
        let members = #""name":"x","note":{"features":[1]},"list":[{"a":"]}"}]"#
        return
            #"{"type":"FeatureCollection",\#(members),"features": [\#(features.joined(separator: ",\n"))],"end":[{}]}"#
    }

    private let place = ImportedPlace(sourceID: "a", name: "A", category: "cafe", latitude: 1, longitude: 2)

    @Test("A collection, lines and records are read alike")
    func forms() throws {
        let separated = "\u{1e}\(feature())\n\u{1e}\(feature())\n"
        for text in [
            collection(feature(), feature()), "\(feature())\n\(feature())", separated,
            "\u{feff}" + collection(feature(), feature()),
        ] {
            let result = try read(text, as: "places.geojson")
            #expect(result.places == [place, place])
            #expect(result.rejected.isEmpty)
            #expect(try read(Array(text.utf8), as: "places").places.count == 2)
            #expect(try read(gzip(Array(text.utf8)), as: "places.json.gz").places.count == 2)
        }
        #expect(try read(collection(), as: "places.geojson").progress.rows == 0)
    }

    @Test("Texts, numbers and flags become fields, with escapes decoded, and other values are ignored")
    func properties() throws {
        let text = feature(
            id: "7",
            properties:
                #"{"Name":"\u00e9\ud83d\ude00\"","category":"cafe","featured":true,"#
                + #""x":{"name":"n"},"address":[1],"website":null}"#
        )
        #expect(
            try read(text, as: "a.geojson").places == [
                ImportedPlace(
                    sourceID: "7", name: "é😀\"", category: "cafe", latitude: 1, longitude: 2, featured: true)
            ])
    }

    @Test(
        "A geometry other than a point gives a place at the centre of its box",
        arguments: [
            (#"{"type":"Point","coordinates":[0.1,0.7,12]}"#, 0.7, 0.1),
            (#"{"type":"LineString","coordinates":[[0,0],[4,2]]}"#, 1.0, 2.0),
            (#"{"type":"Polygon","coordinates":[[[0,0],[4,0],[4,4],[0,0]],[[1,1],[2,2],[1,1]]]}"#, 2.0, 2.0),
            (
                #"{"type":"MultiPolygon","coordinates":[[[[170,0],[180,2]]],[[[-180,0],[-176,2]]]]}"#, 1.0,
                177.0
            ),
            (#"{"coordinates":[[178,0],[-170,0]],"type":"MultiPoint"}"#, 0.0, -176.0),
            (
                #"{"type":"GeometryCollection","geometries":[{"type":"Point","coordinates":[2,2]},"#
                    + #"{"type":"Point","coordinates":[4,6]}]}"#,
                4.0, 3.0
            ),
        ])
    func geometry(geometry: String, latitude: Double, longitude: Double) throws {
        let place = try #require(try read(feature(geometry), as: "a.geojson").places.first)
        #expect(place.latitude == latitude)
        #expect(place.longitude == longitude)
    }

    @Test(
        "A feature that is no place is rejected, and the next one is read",
        arguments: [
            ("null", RejectionReason.noCoordinates),
            (#"{"type":"Polygon","coordinates":[]}"#, .noCoordinates),
            (#"{"type":"Point","coordinates":[1,91]}"#, .coordinatesOutOfRange),
            (#"{"type":"Point","coordinates":[1e999,1]}"#, .coordinatesOutOfRange),
            (#"{"type":"Point","coordinates":[NaN,1]}"#, .malformedRow),
            (#"{"type":"Point","coordinates":[1]}"#, .malformedRow),
            (#"{"type":"Point","coordinates":[1,]}"#, .malformedRow),
            (#"{"type":"Point","coordinates":"1,2"}"#, .noCoordinates), (#"{"type":}"#, .malformedRow),
        ])
    func rejectedGeometry(geometry: String, reason: RejectionReason) throws {
        let result = try read(collection(feature(geometry), feature()), as: "a.geojson")
        #expect(result.reasons == [reason])
        #expect(result.rejected.first?.line == 1)
        #expect(result.places == [place])
    }

    @Test("Text that can't be stored is rejected with the feature's id")
    func rejectedText() throws {
        let names = [#"A\u0000"#, #"A\ud800"#, "A\u{1}"]
        let features = names.map { feature(properties: #"{"name":"\#($0)","category":"cafe"}"#) }
        let result = try read(features.joined(separator: "\n"), as: "a.geojsonl")
        #expect(result.reasons == [.nul, .invalidText, .invalidText])
        #expect(result.rejected.map(\.sourceID) == ["a", "a", "a"])
        #expect(result.rejected.map(\.line) == [1, 2, 3])
        #expect(try read(#"{"type":"Topology"}"#, as: "a.json").reasons == [.noCoordinates])
    }

    @Test("A record that ends early is rejected, and the next one is read")
    func truncated() throws {
        let text = "\u{1e}" + feature().dropLast(20) + "\n\u{1e}" + feature() + "\n"
        let result = try read(text, as: "a.geojsons")
        #expect(result.reasons == [.malformedRow])
        #expect(result.places == [place])
    }

    @Test(
        "A file that isn't GeoJSON ends the import, with the line of the fault",
        arguments: [
            ("\n[1]", 2), ("\n\nname", 3), ("}", 1), ("{\"features\":[\n1]}", 2),
            ("{\"features\":[\"a\"]}", 1),
            ("{\"features\":[{}\n]", 2), ("\n{\"type\":\"Feature\",\n\"id\":1", 2),
            ("{\"features\":[[]]}", 1),
        ])
    func malformed(text: String, line: Int) {
        let error = error { try read(text, as: "a.geojson") }
        #expect(error?.line == line)
    }

    @Test("The features of a file are the same wherever its chunks end")
    func chunks() throws {
        let features = (0..<6000).map { number in
            feature(
                id: "\(number)",
                properties:
                    #"{"x":"}]{[\\\"\#(String(repeating: "{", count: number % 97))","category":"cafe","#
                    + #""name":"é\#(number)"}"#
            )
        }
        let text = #"{"features":[\#(features.joined(separator: ",\n"))]}"#
        let places = try read(text, as: "a.geojson").places
        #expect(places.map(\.name) == (0..<6000).map { "é\($0)" })
    }
}
