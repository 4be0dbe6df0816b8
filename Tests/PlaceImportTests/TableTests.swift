import Foundation
import Testing

@testable import PlaceImport

/// Tables as spreadsheets make them: with a title, with rows without a text, with sheets that nobody is meant to see.
@Suite("Tables of spreadsheets", .serialized)
struct TableTests {
    private static let header = "name,category,lat,lon"

    @Test(
        "Rows without any text are passed over",
        arguments: [
            ",,,", ",", "\"\",\"\",\"\",\"\"", "  ,\t, ,", "\u{a0},\u{feff},,\u{3000}", " ", "\r",
            "\"\n\",,,",
        ])
    func blankRows(row: String) throws {
        let result = try read("\(Self.header)\nA,cafe,1,2\n\(row)\n\(row)\nB,cafe,3,4\n\(row)\n")
        #expect(result.places.map(\.name) == ["A", "B"])
        #expect(result.rejected.isEmpty)
        #expect(result.progress.rows == 2)
    }

    @Test("A row with any text is one", arguments: ["x,,,", ",,,0", ",é,,", ",-,,"])
    func rowsWithText(row: String) throws {
        let result = try read("\(Self.header)\nA,cafe,1,2\n\(row)\n")
        #expect(result.rejected.map(\.line) == [3])
    }

    @Test(
        "A header is found below a title",
        arguments: [
            "Our places, as of 2026\n\n", "Title\n\"with \"\"quotes\"\"\nand lines\",,,\n", "a;b;c\nd\n",
            String(repeating: "# comment, all the same\n", count: 18), "\u{feff}Places\n,,,\n",
        ])
    func title(above: String) throws {
        for delimiter in [",", ";", "\t"] {
            let rows = ["Name,Kind,Lat,Lon", "A,cafe,1.5,2.5", "B,cafe,3.5,4.5"]
                .map { $0.replacing(",", with: delimiter) }
            let result = try read(above + rows.joined(separator: "\n"))
            #expect(result.places.map(\.name) == ["A", "B"])
            #expect(result.rejected.isEmpty)
        }
    }

    @Test("The row of the header can be named, and is then the header whatever it has")
    func headerRow() throws {
        let text = "x\nObjekt,Art,Nord,Ost\nA,cafe,1,2\n"
        let columns: [ImportField: String] = [
            .name: "Objekt", .category: "Art", .latitude: "Nord", .longitude: "Ost",
        ]
        #expect(error { try read(text) }?.message.contains("no column for the name") == true)
        let result = try read(text) { ($0.headerRow, $0.columns) = (2, columns) }
        #expect(result.places.map(\.name) == ["A"])
        #expect(try explain(text) { ($0.headerRow, $0.columns) = (2, columns) }.contains("--header-row 2"))
        #expect(error { try read(text) { $0.headerRow = 9 } }?.message.contains("no row 9") == true)
        // A rejected row's file has a header of ours.
        let rejected =
            "rejected_line,rejected_reason,rejected_detail,name,category,lat,lon\n2,x,,A,cafe,1,2\n"
        #expect(try read(rejected) { $0.headerRow = 2 }.places.map(\.name) == ["A"])
    }

    @Test("Without a header that fits, the first row is what a message speaks of")
    func noHeader() throws {
        let message = error { try read("title,b\n1,2\nx,y\n") }?.message
        #expect(message?.contains("among title, b") == true, "\(message ?? "")")
    }

    // MARK: - Workbooks

    /// A workbook of sheets of texts, each with its state.
    private static func workbook(
        _ sheets: [(name: String, state: String, rows: [[String]])]
    ) -> [UInt8] {
        let main = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
        let office = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
        let package = "http://schemas.openxmlformats.org/package/2006"
        func cell(_ text: String, _ column: Int, _ row: Int) -> String {
            guard !text.isEmpty else { return "" }
            let place = "\(Character(Unicode.Scalar(UInt8(65 + column))))\(row)"
            if Double(text) != nil { return "<c r=\"\(place)\"><v>\(text)</v></c>" }
            return "<c r=\"\(place)\" t=\"inlineStr\"><is><t>\(text)</t></is></c>"
        }
        var files: [(name: String, text: String)] = [
            (
                "_rels/.rels",
                "<Relationships xmlns=\"\(package)/relationships\"><Relationship Id=\"r\" Type=\"\(office)/officeDocument\" "
                    + "Target=\"xl/workbook.xml\"/></Relationships>"
            )
        ]
        var (list, relations, types) = ("", "", "")
        for (index, sheet) in sheets.enumerated() {
            list +=
                "<sheet name=\"\(sheet.name)\" sheetId=\"\(index + 1)\" \(sheet.state) r:id=\"r\(index)\"/>"
            relations +=
                "<Relationship Id=\"r\(index)\" Type=\"\(office)/worksheet\" Target=\"worksheets/s\(index).xml\"/>"
            types += "<Override PartName=\"/xl/worksheets/s\(index).xml\" ContentType=\"application/vnd."
            types += "openxmlformats-officedocument.spreadsheetml.worksheet+xml\"/>"
            let rows = sheet.rows.enumerated().map { number, cells in
                let texts = cells.enumerated().map { cell($1, $0, number + 1) }
                return "<row r=\"\(number + 1)\">\(texts.joined())</row>"
            }
            files.append(
                (
                    "xl/worksheets/s\(index).xml",
                    "<worksheet xmlns=\"\(main)\"><sheetData>\(rows.joined())</sheetData></worksheet>"
                ))
        }
        files.append(
            (
                "xl/workbook.xml",
                "<workbook xmlns=\"\(main)\" xmlns:r=\"\(office)\"><sheets>\(list)</sheets></workbook>"
            ))
        files.append(
            (
                "xl/_rels/workbook.xml.rels",
                "<Relationships xmlns=\"\(package)/relationships\">\(relations)</Relationships>"
            ))
        files.append(
            (
                "[Content_Types].xml",
                "<Types xmlns=\"\(package)/content-types\"><Default Extension=\"rels\" ContentType=\"application/vnd."
                    + "openxmlformats-package.relationships+xml\"/><Default Extension=\"xml\" ContentType=\"application/xml\"/>"
                    + "<Override PartName=\"/xl/workbook.xml\" ContentType=\"application/vnd."
                    + "openxmlformats-officedocument.spreadsheetml.sheet.main+xml\"/>\(types)</Types>"
            ))
        return zip(files.map { ($0.name, Array($0.text.utf8)) })
    }

    private static let columns = ["Name", "Category", "Latitude", "Longitude"]

    @Test(
        "A workbook's header is found below a title, and its rows without a text are passed over",
        .enabled(if: hasGDAL))
    func workbookTitle() throws {
        let rows = [
            ["Our places, as of 2026"], [], Self.columns, ["A", "cafe", "52.5", "13.4"], [" ", "", "", ""],
            ["B", "cafe", "52.6", "13.5"],
        ]
        let file = Self.workbook([("Places", "", rows)])
        let result = try read(file, as: "a.xlsx")
        #expect(result.places.map(\.name) == ["A", "B"])
        #expect(result.places.map(\.latitude) == [52.5, 52.6])
        #expect(result.rejected.isEmpty)
        let named = try read(file, as: "a.xlsx") { $0.headerRow = 3 }
        #expect(named.places == result.places)
        #expect(
            error { try read(file, as: "a.xlsx") { $0.headerRow = 30 } }?.message.contains("no row 30")
                == true)
        let first = Self.workbook([("Places", "", Array(rows.dropFirst(2)))])
        #expect(try read(first, as: "a.xlsx").places == result.places)
        #expect(try read(first, as: "a.xlsx") { $0.headerRow = 1 }.places == result.places)
    }

    @Test("Hidden sheets are read only if they are named", .enabled(if: hasGDAL))
    func hiddenSheets() throws {
        func sheet(_ name: String, _ state: String) -> (String, String, [[String]]) {
            (name, state, [Self.columns, [name, "cafe", "1.5", "2.5"]])
        }
        let file = Self.workbook([
            sheet("Shown", ""), sheet("Old &amp; gone", "state=\"hidden\""), sheet("Also", "state='visible'"),
            sheet("Deep", "state = \"veryHidden\""),
        ])
        let result = try read(file, as: "a.xlsx")
        #expect(result.places.map(\.name) == ["Shown", "Also"])
        #expect(
            result.progress.remarks.contains { $0.contains("hidden sheets aren't read: Old & gone, Deep") })
        #expect(try read(file, as: "a.xlsx") { $0.layer = "Deep" }.places.map(\.name) == ["Deep"])
        let layers = try read(file, as: "a.xlsx") { $0.columns = [.category: "@layer"] }
        #expect(layers.places.map(\.category) == ["shown", "also"])
    }

    @Test("The sheets of an OpenDocument are hidden by their styles")
    func openDocument() throws {
        let content = """
            <office:document-content><office:automatic-styles>
            <style:style style:name="ta1" style:family="table"><style:table-properties table:display="true"/></style:style>
            <style:style style:name="ta2" style:family="table"><style:table-properties
            style:writing-mode="lr-tb" table:display="false"/></style:style></office:automatic-styles>
            <office:spreadsheet><table:table table:name="A" table:style-name="ta1"/>
            <table:table table:name='B &lt;&#66;&#x43;' table:style-name='ta2'><table:table-row/></table:table>
            <table:table table:name="C"/></office:spreadsheet></office:document-content>
            """
        let file = zip([("content.xml", Array(content.utf8))])
        try withFile(file, "a.ods") { path in
            let sheets = try WorkbookSheets(ZIPArchive(path), path: path, .openDocument)
            #expect(sheets.visible == ["A", "C"])
            #expect(sheets.hidden == ["B <BC"])
        }
    }

    @Test(
        "Damaged XML of a workbook ends what is read of it",
        arguments: ["<sheet", "<sheet name=", "<sheet name=\"a", "<<<"])
    func damaged(xml: String) throws {
        #expect(Array(XMLTags(Array(xml.utf8)[...], ["sheet"])).allSatisfy { ($0["name"] ?? "a") == "a" })
    }

    // MARK: - Layers

    @Test("A folder of KML can be a field, at any depth, and by its own name", .enabled(if: hasGDAL))
    func folders() throws {
        func placemark(_ name: String) -> String {
            "<Placemark><name>\(name)</name><Point><coordinates>13,52</coordinates></Point></Placemark>"
        }
        let kml = """
            <kml xmlns="http://www.opengis.net/kml/2.2"><Document><name>d</name>
            <Folder><name>Cafe</name>\(placemark("A"))\(placemark("B"))</Folder>
            <Folder><name>Museum</name>\(placemark("C"))<Folder><name>Museum</name>\(placemark("D"))</Folder></Folder>
            </Document></kml>
            """
        let result = try read(kml, as: "a.kml") { $0.columns = [.category: "@layer"] }
        #expect(result.places.map(\.name) == ["A", "B", "C", "D"])
        #expect(result.places.map(\.category) == ["cafe", "cafe", "museum", "museum"])
        let one = try read(kml, as: "a.kml") { ($0.columns, $0.layer) = ([.category: "@layer"], "Cafe") }
        #expect(one.places.map(\.name) == ["A", "B"])
        #expect(try explain(kml, as: "a.kml").contains("--column category=@layer"))
    }

    @Test(
        "Of GPX the waypoints are read, and routes and tracks where they are named", .enabled(if: hasGDAL)
    )
    func waypoints() throws {
        let gpx = """
            <gpx version="1.1" xmlns="http://www.topografix.com/GPX/1/1">
            <wpt lat="52" lon="13"><name>W</name><type>hut</type></wpt>
            <rte><name>R</name><type>hut</type><rtept lat="1" lon="2"><name>P</name><type>hut</type></rtept></rte>
            <trk><name>T</name><type>hut</type><trkseg><trkpt lat="1" lon="2"/></trkseg></trk></gpx>
            """
        #expect(try read(gpx, as: "a.gpx").places.map(\.name) == ["W"])
        #expect(try read(gpx, as: "a.gpx").rejected.isEmpty)
        #expect(try read(gpx, as: "a.gpx") { $0.layer = "route_points" }.places.map(\.name) == ["P"])
    }
}
