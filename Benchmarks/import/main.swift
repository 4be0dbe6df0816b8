import Foundation
import PlaceImport

// Reads files as an import does, without a database, and says what is in them and what it took.
//
//     swift run -c release read-places [--mapping NAME] [--format FORMAT] [--column FIELD=COLUMN] [--ids] FILE…
//
// Lines of `remark TEXT`, `category NAME COUNT`, `rejected REASON COUNT` and `normalised KIND COUNT`; with --ids, a line
// `place CATEGORY ID` for each place before them.

var source = ImportSource(paths: [])
var listsIDs = false
var arguments = CommandLine.arguments.dropFirst()
while let argument = arguments.popFirst() {
    switch argument {
    case "--mapping": source.mapping = arguments.popFirst()
    case "--column":
        let names = (arguments.popFirst() ?? "").split(separator: "=").map(String.init)
        if names.count == 2, let field = ImportField(rawValue: names[0]) { source.columns[field] = names[1] }
    case "--layer": source.layer = arguments.popFirst()
    case "--format": source.format = arguments.popFirst().flatMap { ImportFormat(rawValue: $0) }
    case "--ids": listsIDs = true
    default: source.paths.append(argument)
    }
}

var categories: [String: Int] = [:]
var rejected: [String: Int] = [:]
do {
    let reader = try PlaceReader(source)
    if let remark = reader.remark { print("remark", remark) }
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
    printCost()
    exit(1)
}
printCost()

func printCost() {
    var usage = rusage()
    getrusage(Int32(RUSAGE_SELF.rawValue), &usage)
    let times = [usage.ru_utime, usage.ru_stime].map { Double($0.tv_sec) + Double($0.tv_usec) / 1e6 }
    // The maximum of `usage` begins at that of the process which started this one.
    let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
    let memory = status.firstMatch(of: /VmHWM:\s*([0-9]+)/).flatMap { Int($0.output.1) } ?? 0
    print("CPU", String(format: "%.2f s,", times[0] + times[1]), "memory \(memory / 1024) MiB at most")
}
