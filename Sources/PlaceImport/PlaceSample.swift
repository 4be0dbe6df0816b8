/// What the first rows of a source become, in lines for people: places, categories, and why other rows are no places.
struct PlaceSample {
    private static let (shownPlaces, shownCategories) = (5, 10)

    private var places: [String] = []
    private var categories: [String: Int] = [:]
    private var rejected: [RejectionReason: (count: Int, first: RejectedRow)] = [:]
    private var leftOut: String?
    private var failure: String?
    private var notSelected = 0

    init(_ source: ImportSource) {
        do throws(ImportError) {
            let reader = try PlaceReader(source)
            var rows = 0
            while rows < FieldInventory.maximumRows, let item = try reader.next() {
                rows += 1
                add(item)
            }
            (leftOut, notSelected) = (reader.progress.leftOutLine, reader.progress.notSelected)
        } catch {
            failure = error.message.printable
        }
    }

    private mutating func add(_ item: ImportItem) {
        switch item {
        case .place(let place, _):
            categories[place.category, default: 0] += 1
            guard places.count < Self.shownPlaces else { return }
            let address = place.address.map { ", \($0)" } ?? ""
            places.append(
                "  \(place.name) (\(place.category)) at \(place.latitude), \(place.longitude)\(address)")
        case .rejected(let row):
            rejected[row.reason] = (
                (rejected[row.reason]?.count ?? 0) + 1, rejected[row.reason]?.first ?? row
            )
        }
    }

    /// Whether a row has a position, even a wrong one.
    var hasPositions: Bool {
        failure == nil
            && (notSelected > 0 || !categories.isEmpty || rejected.keys.contains { $0 != .noCoordinates })
    }

    /// Whether most positions can't be degrees.
    var areOutOfRange: Bool {
        let rows = categories.values.reduce(0, +) + rejected.values.reduce(0) { $0 + $1.count }
        return (rejected[.coordinatesOutOfRange]?.count ?? 0) * 2 > rows
    }

    /// Whether there are rows, and none of them has a position.
    var lacksPositions: Bool { failure == nil && !hasPositions && rejected[.noCoordinates] != nil }

    var lines: [String] {
        var lines = failure.map { [$0] } ?? []
        if !places.isEmpty { lines += ["the first places:"] + places }
        if !categories.isEmpty {
            let frequent = categories.sorted { ($1.value, $0.key) < ($0.value, $1.key) }
            lines.append(
                "categories: "
                    + frequent.prefix(Self.shownCategories).map { "\($0.key) \($0.value)" }.joined(
                        separator: ", "))
        }
        if let leftOut { lines.append(leftOut) }
        for (reason, rows) in rejected.sorted(by: { $0.value.count > $1.value.count }) {
            let detail = rows.first.detail.isEmpty ? "" : ": \(rows.first.detail)"
            lines.append(
                "rejected: \(reason.rawValue) \(rows.count), the first in line \(rows.first.line)\(detail)")
        }
        return lines
    }
}
