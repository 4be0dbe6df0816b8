/// Words that names write in two ways, short and long. A name that has one of them is also found by the other, see
/// `Documentation/api.md`.
package enum Abbreviations {
    package static let pairs: [(short: [UInt8], long: [UInt8])] =
        table.map { (Array($0.utf8), Array($1.utf8)) }

    /// The words that a word of a query begins in their other form: a name that has one of them has the word.
    package static func words(inOtherFormThanBegunBy beginning: [UInt8]) -> [[UInt8]] {
        (beginning.first.flatMap { byFirstByte[$0] } ?? [])
            .compactMap { $0.form.starts(with: beginning) ? $0.other : nil }
    }

    private static let byFirstByte = Dictionary(
        grouping: pairs.flatMap { [(form: $0.short, other: $0.long), (form: $0.long, other: $0.short)] },
        by: { $0.form[0] })

    /// Pairs as they are common on maps and in addresses of English, German, French, Spanish, Portuguese, Italian and Russian.
    package static let table: [(short: String, long: String)] = [
        ("st", "saint"), ("st", "sankt"), ("st", "street"), ("ste", "sainte"), ("sta", "santa"),
        ("sto", "santo"), ("mt", "mount"), ("mt", "mont"), ("mtn", "mountain"), ("ft", "fort"),
        ("pt", "point"), ("pt", "port"), ("ave", "avenue"), ("av", "avenue"), ("av", "avenida"),
        ("blvd", "boulevard"), ("bd", "boulevard"), ("bvd", "boulevard"), ("rd", "road"), ("dr", "drive"),
        ("dr", "doctor"), ("ln", "lane"), ("ct", "court"), ("sq", "square"), ("hwy", "highway"),
        ("pkwy", "parkway"), ("pl", "place"), ("pl", "platz"), ("pl", "plaza"), ("pza", "plaza"),
        ("pk", "park"), ("str", "strasse"), ("hbf", "hauptbahnhof"), ("bf", "bahnhof"),
        ("bhf", "bahnhof"), ("stn", "station"), ("ctr", "center"), ("ctr", "centre"), ("univ", "university"),
        ("uni", "universitat"), ("intl", "international"), ("natl", "national"), ("gen", "general"),
        ("pres", "presidente"), ("cd", "ciudad"), ("co", "county"), ("twp", "township"), ("hts", "heights"),
        ("spgs", "springs"), ("bch", "beach"), ("vlg", "village"), ("ул", "улица"), ("пл", "площадь"),
        ("пр", "проспект"), ("им", "имени"),
    ]
}
