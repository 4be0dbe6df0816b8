import Foundation

@testable import PlaceImport
@testable import PointsOfInterestAPI
import PointsOfInterestServerAPI

/// A file of places; the first byte says its format and what is known of its columns.
///
/// Each place that is read passes the tables' checks, each row is counted once, and the places are read as the same when
/// they are written anew, as CSV and as GeoJSON. Where the first byte is a small letter, the file is explained instead.
func fuzzPlaces(_ input: [UInt8]) {
    guard let first = input.first else { return }
    var source = ImportSource(paths: [])
    source.format = first & 1 == 0 ? .csv : .geojson
    source.mapping = first & 2 == 0 ? "columns" : first & 4 == 0 ? "geonames" : "openstreetmap"
    if first & 8 != 0 { source.columns = [.id: "id"] }
    if first & 16 != 0 { source.boundingBox = BoundingBox(west: 170, south: -10, east: -170, north: 60) }
    // No letter has this bit.
    if first & 128 != 0 { source.layer = "a.b" }
    let file = Array(input.dropFirst())
    guard first & 32 == 0 else { return explain(file, source) }
    guard let reading = Reading(file, source) else { return }
    let lineCount = file.count { $0 == UInt8(ascii: "\n") } + 1
    require(
        reading.lines.allSatisfy { (1...lineCount).contains($0) }, "beyond the file: lines \(reading.lines)")
    require(
        reading.progress.rows == reading.lines.count + reading.progress.notSelected,
        "\(reading.lines.count) rows, of \(reading.progress)")
    for place in reading.places { check(place) }
    let marked = Reading([0xef, 0xbb, 0xbf] + file, source)
    require(
        marked?.places == reading.places || file.starts(with: [0xef, 0xbb, 0xbf]),
        "another with a byte order mark")
    // Other names are written with semicolons between them.
    guard !reading.places.isEmpty, !reading.places.contains(where: { $0.otherNames.joined().contains(";") })
    else { return }
    check(reading.places, are: .csv, csv(reading.places))
    check(reading.places, are: .geojson, geoJSON(reading.places))
}

/// What is read of a file, up to the error that ends it.
private struct Reading {
    var places: [ImportedPlace] = []
    var lines: [Int] = []
    var progress = ReadProgress()
    var isComplete = false

    /// Nil where the file can't be read at all.
    init?(_ file: [UInt8], _ source: ImportSource) {
        let descriptor = pipe(with: file)
        defer { close(descriptor) }
        var source = source
        source.paths = ["/dev/fd/\(descriptor)"]
        guard let reader = try? PlaceReader(source) else { return nil }
        defer { progress = reader.progress }
        do throws(ImportError) {
            while let item = try reader.next() {
                switch item {
                case .place(var place, let line):
                    // What is written anew has each id in a column, and each member.
                    place.hasOwnID = true
                    require(place.emptiedNames.allSatisfy { !$0.utf8.contains(0) }, "\(place)")
                    (place.given, place.emptiedProperties, place.emptiedNames) = (.all, [], [])
                    places.append(place)
                    lines.append(line)
                case .rejected(let row):
                    lines.append(row.line)
                    _ = try reader.bytes(ofRejected: row)
                }
            }
            isComplete = true
        } catch {
            require(!error.message.isEmpty && !error.message.contains("\n"), "not a line: \(error)")
        }
    }
}

/// What is said of a file has no control characters, and names a command.
private func explain(_ file: [UInt8], _ source: ImportSource) {
    // Unlike a pipe it is read several times, by its descriptor.
    var name = Array("/tmp/places.XXXXXX".utf8CString)
    let descriptor = mkstemp(&name)
    defer { close(descriptor) }
    unlink(name)
    guard descriptor >= 0, write(descriptor, file, file.count) == file.count else {
        fatalError("no file: \(errno)")
    }
    var source = source
    source.paths = ["/proc/self/fd/\(descriptor)"]
    if source.mapping == "columns" { source.mapping = nil }
    do throws(ImportError) {
        let text = try FileExplanation(source, destination: ["--dataset A"]).description
        require(text.unicodeScalars.allSatisfy { $0 == "\n" || $0.value >= 32 }, text)
        require(text.contains("\nnext: poi import /proc/self/fd/\(descriptor) --dataset A"), text)
    } catch {
        require(!error.message.isEmpty && !error.message.contains("\n"), "not a line: \(error)")
    }
}

/// The checks of the table `locations`.
private func check(_ place: ImportedPlace) {
    require(TableCheck.isSingleLine(place.name, maximumLength: 200), "\(place)")
    require(TableCheck.isSingleLine(place.sourceID, maximumLength: 200), "\(place)")
    require(place.address.map { TableCheck.isSingleLine($0, maximumLength: 300) } ?? true, "\(place)")
    require(place.website.map(TableCheck.isWebsite) ?? true, "\(place)")
    require(TableCheck.isCategory(place.category), "\(place)")
    require(Coordinate.latitudes.contains(place.latitude), "\(place)")
    require(Coordinate.longitudes.contains(place.longitude), "\(place)")
    require((0...1000).contains(place.importance), "\(place)")
    require(place.otherNames.allSatisfy { TableCheck.isSingleLine($0, maximumLength: 200) }, "\(place)")
    require(place.otherNames.count <= 300 && place.otherNames.joined().utf8.count <= 8192, "\(place)")
    // Texts that are canonically equivalent are names of their own.
    let names = Set(([place.name] + place.otherNames).map { Array($0.utf8) })
    require(names.count == place.otherNames.count + 1, "\(place)")
}

private func check(_ places: [ImportedPlace], are format: ImportFormat, _ file: [UInt8]) {
    // A pipe holds no more.
    guard file.count < 1 << 16 else { return }
    var source = ImportSource(paths: [])
    source.format = format
    let again = Reading(file, source)
    require(
        again?.places == places && again?.isComplete == true,
        "\(places), written as \(format), are read as \(String(describing: again)):\n\(file.text)")
    require(again?.progress.normalised.isEmpty == true, "normalised twice: \(String(describing: again))")
}

private func csv(_ places: [ImportedPlace]) -> [UInt8] {
    let rows = places.map { place in
        [
            place.sourceID, place.name, place.category, "\(place.latitude)", "\(place.longitude)",
            "\(place.featured)",
            place.address ?? "", place.website ?? "", "\(place.importance)",
            place.otherNames.joined(separator: ";"),
        ].map { "\"\($0.replacing("\"", with: "\"\""))\"" }.joined(separator: ",")
    }
    return Array(
        (["id,name,category,latitude,longitude,featured,address,website,importance,other_names"] + rows)
            .joined(separator: "\r\n").utf8)
}

private func geoJSON(_ places: [ImportedPlace]) -> [UInt8] {
    var writer = JSONWriter()
    writer.beginObject()
    writer.member("type", "FeatureCollection")
    writer.name("features")
    writer.beginArray()
    for place in places {
        writer.beginObject()
        writer.member("type", "Feature")
        writer.name("geometry")
        writer.beginObject()
        writer.member("type", "Point")
        writer.name("coordinates")
        writer.beginArray()
        writer.value(decimal: place.longitude)
        writer.value(decimal: place.latitude)
        writer.endArray()
        writer.endObject()
        writer.name("properties")
        writer.beginObject()
        writer.member("id", place.sourceID)
        writer.member("name", place.name)
        writer.member("category", place.category)
        writer.member("featured", place.featured)
        writer.member("address", place.address)
        writer.member("website", place.website)
        writer.member("importance", place.importance)
        writer.member("other_names", place.otherNames.joined(separator: ";"))
        writer.endObject()
        writer.endObject()
    }
    writer.endArray()
    writer.endObject()
    return writer.bytes
}

/// The reading end of a pipe that has all of these bytes, which are fewer than a pipe holds.
func pipe(with bytes: [UInt8]) -> Int32 {
    var ends: [Int32] = [-1, -1]
    guard Foundation.pipe(&ends) == 0, write(ends[1], bytes, bytes.count) == bytes.count else {
        fatalError("no pipe: \(errno)")
    }
    close(ends[1])
    return ends[0]
}
