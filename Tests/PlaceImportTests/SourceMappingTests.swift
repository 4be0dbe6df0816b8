import Foundation
import PlaceImport
import Testing

@Suite("The mappings for Overture, Foursquare, All the Places, GTFS and OpenStreetMap")
struct SourceMappingTests {
    private func read(_ text: String, mapping: String?, as name: String) throws -> ReadResult {
        try PlaceImportTests.read(text, as: name) { $0.mapping = mapping }
    }

    @Test("A place of Overture has its basic category, else the taxonomy's, else that of older releases")
    func overture() throws {
        func place(_ id: String, _ members: String) -> String {
            #"{"id":"\#(id)","names":{"primary":"A"},"wkt":"POINT (2 1)",\#(members)}"# + "\n"
        }
        let taxonomy = #""taxonomy":{"primary":"bank","hierarchy":["financial_service","bank"]}"#
        let result = try read(
            place("a", #""basic_category":"cafe",\#(taxonomy),"operating_status":"open""#)
                + place("b", taxonomy)
                + place("c", #""basic_category":"service_location",\#(taxonomy),"categories":null"#)
                + place("d", #""basic_category":null,"categories":{"primary":"art_museum"}"#)
                + place("e", #""basic_category":"plumbing_service","operating_status":"permanently_closed""#)
                + place("f", #""categories":{"primary":"hotel"},"operating_status":"permanently_closed""#)
                + place("g", #""basic_category":"hotel","operating_status":"temporarily_closed""#),
            mapping: "overture", as: "a.json")
        #expect(result.places.map(\.category) == ["cafe", "bank", "bank", "museum", "hotel", "hotel"])
        #expect(
            result.places.map(\.operatingStatus) == [
                nil, nil, nil, nil, "permanentlyClosed", "temporarilyClosed",
            ])
        #expect(result.rejected == [] && result.progress.leftOut == ["basic_category=plumbing_service": 1])
    }

    @Test("A place of Foursquare has the last part of its first label; a closing date closes it")
    func foursquare() throws {
        let cafe = "Dining and Drinking > Cafe, Coffee, and Tea House > Café"
        let result = try read(
            """
            {"fsq_place_id":"a","name":"A","latitude":1,"longitude":2,"address":"Weg 1","locality":"Ulm","date_closed":null,\
            "tel":"+49 1","fsq_category_ids":["4bf5","4bf6"],"fsq_category_labels":["\(cafe)","Retail > Bakery"]}
            {"fsq_place_id":"b","name":"B","latitude":1,"longitude":2,"date_closed":"2019-05-01",\
            "fsq_category_labels":["Sports and Recreation > Water Sports > Surf Spot"],"unresolved_flags":["closed"]}
            {"fsq_place_id":"c","name":"C","latitude":1,"longitude":2,"fsq_category_labels":["Event"]}
            {"fsq_place_id":"d","name":"D","latitude":null,"longitude":null,"fsq_category_labels":null}
            {"fsq_place_id":"e","name":"E","latitude":1,"longitude":2,"fsq_category_labels":null}
            """, mapping: "foursquare", as: "a.json")
        #expect(result.places.map(\.sourceID) == ["a", "b", "c"])
        #expect(result.places.map(\.category) == ["cafe", "surf_spot", "event"])
        #expect(result.places.map(\.operatingStatus) == [nil, "permanentlyClosed", nil])
        #expect(result.places.map(\.address) == ["Weg 1, Ulm", nil, nil])
        #expect(result.reasons == [.noCoordinates, .noCategory])
        // Without quotes, as DuckDB wrote arrays before 1.2, a comma may be one between two labels.
        let rows = try read(
            """
            fsq_place_id,name,latitude,longitude,date_closed,fsq_category_labels
            a,A,1,2,,['Travel and Transportation > Lodging > Hotel', 'Retail > Bakery']
            b,B,1,2,2019-05-01,[Retail > Women's Store]
            c,C,1,2,,"[\(cafe), Retail > Bakery]"
            d,D,1,2,,"[Dining and Drinking > Cafe, Coffee, and Tea House > Tea Room]"
            """.replacing("['Travel", with: "\"['Travel").replacing("Bakery']", with: "Bakery']\""),
            mapping: "foursquare", as: "a.csv")
        #expect(rows.places.map(\.category) == ["hotel", "womens_store", "cafe", "tea_room"])
        #expect(rows.places.map(\.operatingStatus) == [nil, "permanentlyClosed", nil, nil])
    }

    @Test("A place of All the Places has its spider's id and the category of its tags")
    func allThePlaces() throws {
        func feature(_ id: Int, _ properties: String, _ geometry: String = Self.point) -> String {
            #"{"type":"Feature","id":"x\#(id)=","properties":{\#(properties)},"geometry":\#(geometry)}"#
        }
        let result = try read(
            """
            {"type":"FeatureCollection","dataset_attributes":{"@spider":"s"},"features":[
            \(feature(1, #""ref":"7","@spider":"s","name":"A","amenity":"cafe;bar","addr:street_address":"Weg 1","addr:city":"Ulm""#)),
            \(feature(2, #""@spider":"s","brand":"B","branch":"Mitte","name":null,"shop":"shoes","addr:full":"Weg 2","end_date":"yes""#)),
            \(feature(3, #""ref":"9","@spider":"s","name":"C","amenity":"cafe""#, "null")),
            \(feature(4, #""ref":"10","@spider":"s","name":"D","man_made":"mast""#))
            ]}
            """, mapping: "alltheplaces", as: "a.geojson")
        #expect(result.places.map(\.sourceID) == ["s/7", "x2="])
        #expect(result.places.map(\.name) == ["A", "B Mitte"])
        #expect(result.places.map(\.category) == ["cafe", "shop"])
        #expect(result.places.map(\.address) == ["Weg 1, Ulm", "Weg 2"])
        #expect(result.places.map(\.operatingStatus) == [nil, "permanentlyClosed"])
        #expect(result.reasons == [.noCoordinates] && result.progress.notSelected == 1)
    }

    private static let point = #"{"type":"Point","coordinates":[2,1]}"#
    private static let stops = """
        stop_id,stop_name,stop_lat,stop_lon,location_type
        S,Station,1,2,1
        P,Platform,1,2,0
        Q,Lonely Stop,1,2,
        E,Exit,1,2,2
        N,,,,3
        B,Head of train,,,4
        X,,1,2,0

        """

    @Test("Stops and stations of GTFS are places, without an option, too; other rows are none")
    func stops() throws {
        for (mapping, name) in [(nil, "stops.txt"), ("gtfs", "a.csv")] as [(String?, String)] {
            let result = try read("\u{feff}" + Self.stops, mapping: mapping, as: name)
            #expect(result.places.map(\.sourceID) == ["S", "P", "Q"])
            #expect(Set(result.places.map(\.category)) == ["transit_station"])
            #expect(result.progress.notSelected == 3 && result.reasons == [.noName])
        }
        let short = "stop_id,stop_name,stop_lat,stop_lon\nS,Station,1,2\n"
        #expect(try read(short, mapping: nil, as: "stops.txt").places.map(\.name) == ["Station"])
        // Rejected rows are read by the same command, whatever their file is called.
        let rejected = "rejected_line,rejected_reason,rejected_detail,"
        let mended = Self.stops.split(separator: "\n").enumerated()
            .map { $0 == 0 ? rejected + $1 : "7,no-name,," + $1 }.joined(separator: "\n")
        #expect(try read(mended, mapping: nil, as: "rejected.csv").places.count == 3)
        let other = "name,category,lat,lon\nA,cafe,1,2\n"
        #expect(try read(other, mapping: nil, as: "stops.txt").places.map(\.category) == ["cafe"])
    }

    @Test("What is disused is closed, but for sights; of several values the first counts")
    func lifeCycle() throws {
        let result = try read(
            """
            [{"id":"a","name":"A","lat":1,"lon":2,"amenity":"cafe; bar"},
            {"id":"b","name":"B","lat":1,"lon":2,"amenity":"cafe","disused":"yes","historic":"building"},
            {"id":"c","name":"C","lat":1,"lon":2,"shop":"shoes","abandoned":"yes"},
            {"id":"d","name":"D","lat":1,"lon":2,"man_made":"lighthouse","disused":"yes"},
            {"id":"e","name":"E","lat":1,"lon":2,"historic":"ruins","abandoned":"yes"},
            {"id":"f","name":"F","lat":1,"lon":2,"amenity":"cafe","disused":"no","was:shop":"books"},
            {"id":"g","name":"G","lat":1,"lon":2,"disused:amenity":"cafe","closed:shop":"books"}]
            """, mapping: "openstreetmap", as: "a.json")
        #expect(
            result.places.map(\.category) == ["cafe", "cafe", "shop", "lighthouse", "historic_site", "cafe"])
        #expect(
            result.places.map(\.operatingStatus) == [
                nil, "permanentlyClosed", "permanentlyClosed", nil, nil, nil,
            ])
        #expect(result.progress.notSelected == 1)
    }

    @Test("An explanation knows the files of each")
    func explanations() throws {
        for (text, name, mapping) in [
            (#"{"names":{"primary":"A"},"basic_category":"cafe","wkt":"POINT (2 1)"}"#, "a.json", "overture"),
            (
                #"{"fsq_place_id":"a","name":"A","latitude":1,"longitude":2,"fsq_category_labels":["B"]}"#,
                "a.json", "foursquare"
            ),
            (
                "fsq_place_id,name,latitude,longitude,fsq_category_labels\na,A,1,2,[B > C]\n", "a.csv",
                "foursquare"
            ),
            (
                #"{"type":"Feature","properties":{"name":"A","ref":"1","@spider":"s","amenity":"cafe"},"#
                    + #""geometry":\#(Self.point)}"#, "a.geojson", "alltheplaces"
            ),
            (Self.stops, "a.txt", "gtfs"),
        ] {
            #expect(try explain(text, as: name).hasSuffix("--license ID --mapping \(mapping)"), "\(mapping)")
        }
        let stops = try explain(Self.stops, as: "stops.txt")
        #expect(stops.hasSuffix("--license ID") && stops.contains("  category    location_type\n"))
    }
}
