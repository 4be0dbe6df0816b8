import Foundation
import PlaceImport

// Reads files as an import does, without a database, and says what is in them and what it took.
//
//     swift run -c release read-places [--mapping NAME] [--format FORMAT] [--ids] FILE…
//
// Lines of `category NAME COUNT`, `rejected REASON COUNT` and `normalised KIND COUNT`; with --ids, a line
// `place CATEGORY ID` for each place before them.

var source = ImportSource(paths: [])
var listsIDs = false
var arguments = CommandLine.arguments.dropFirst()
while let argument = arguments.popFirst() {
    switch argument {
    case "--mapping": source.mapping = arguments.popFirst()
    case "--format": source.format = arguments.popFirst().flatMap { ImportFormat(rawValue: $0) }
    case "--ids": listsIDs = true
    default: source.paths.append(argument)
    }
}

var categories: [String: Int] = [:]
var rejected: [String: Int] = [:]
do {
    let reader = try PlaceReader(source)
    while let item = try reader.next() {
        switch item {
        case .place(let place, _):
            categories[place.category, default: 0] += 1
            if listsIDs { print("place", place.category, place.sourceID) }
        case .rejected(let row): rejected[row.reason.rawValue, default: 0] += 1
        }
    }
    for (name, count) in categories.sorted(by: { $0.key < $1.key }) { print("category", name, count) }
    for (name, count) in rejected.sorted(by: { $0.key < $1.key }) { print("rejected", name, count) }
    let progress = reader.progress
    for kind in Normalisation.allCases {
        if let count = progress.normalised[kind] { print("normalised", kind.rawValue, count) }
    }
    print("rows", progress.rows, "not selected", progress.notSelected)
} catch {
    FileHandle.standardError.write(Data("\(error)\n".utf8))
    exit(1)
}

var usage = rusage()
getrusage(Int32(RUSAGE_SELF.rawValue), &usage)
func seconds(_ time: timeval) -> Double { Double(time.tv_sec) + Double(time.tv_usec) / 1e6 }
let total = seconds(usage.ru_utime) + seconds(usage.ru_stime)
print("CPU", String(format: "%.2f s,", total), "memory \(usage.ru_maxrss / 1024) MiB at most")
