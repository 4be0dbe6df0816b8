import PointsOfInterestAPI
import PointsOfInterestServerAPI

/// A query's values of one property, as the words that parts have for them.
///
/// Each value of a property that places can be filtered by is a word of a part: byte 1, which no word of a name has, the
/// property's name, byte 0 and the value. Such words have postings, as others do, but aren't among the words of their places.
package struct PropertyWords: Hashable, Sendable {
    let words: [[UInt8]]

    init(_ filter: PropertyFilter) {
        words = filter.values.map { Self.word(filter.name, $0) }
    }

    static func word(_ name: String, _ value: String) -> [UInt8] {
        [1] + Array(name.utf8) + [0] + Array(value.utf8)
    }
}

extension IndexFilter {
    /// Lets places match that have one of the values of each of these filters.
    package mutating func require(_ filters: [PropertyFilter]) {
        properties = filters.isEmpty ? nil : filters.map(PropertyWords.init)
    }
}

// MARK: - In a part

/// What a place of a part needs for a property: to be in one of these ranges of the part's postings. Each ascends.
struct PropertyCondition {
    let postings: [Range<Int>]

    init(_ property: PropertyWords, _ columns: WordColumns) {
        postings = property.words.compactMap { word in
            word.withUnsafeBufferPointer(columns.number).map { columns.postingRange(of: $0..<$0 + 1) }
        }
    }

    /// How many entries the ranges have. A place with several of the values is in several of them.
    var count: Int { postings.reduce(0) { $0 + $1.count } }

    /// Where in the part's postings one of them is; the index is below `count`.
    subscript(index: Int) -> Int {
        var index = index
        for range in postings {
            if index < range.count { return range.lowerBound + index }
            index -= range.count
        }
        preconditionFailure("an index is below the count")
    }

    /// Whether a place has one of the values.
    func admit(_ place: Int, of columns: WordColumns) -> Bool {
        postings.contains { columns.has(place, in: $0) }
    }

    /// Calls `body` with each place, once, until it returns false.
    func forEachPlace(of columns: WordColumns, _ body: (Int) -> Bool) {
        for (number, range) in postings.enumerated() {
            for index in range {
                let place = Int(columns.postings[index])
                let isRepeated = postings[..<number].contains { columns.has(place, in: $0) }
                if !isRepeated, !body(place) { return }
            }
        }
    }
}

/// What a place of a part needs for all properties of a query.
struct PropertyConditions {
    let conditions: [PropertyCondition]

    /// Few queries have any, and the others are to pay nothing.
    @inline(never)
    static func of(_ filter: borrowing IndexFilter, _ part: PartView) -> PropertyConditions? {
        filter.properties.map { properties in
            PropertyConditions(conditions: properties.map { PropertyCondition($0, part.columns.words) })
        }
    }

    /// How much work the check of a place takes, as a multiple of the work of a check without words.
    var cost: Int { conditions.reduce(0) { $0 + 3 * $1.postings.count } }

    func admit(_ place: Int, of columns: WordColumns) -> Bool {
        conditions.allSatisfy { $0.admit(place, of: columns) }
    }
}

extension WordColumns {
    fileprivate func has(_ place: Int, in range: Range<Int>) -> Bool {
        postings.has(UInt32(place), in: range)
    }
}

extension Column<UInt32> {
    /// Where in a range that ascends, as the postings of one word do, the places begin that aren't before one.
    func firstIndex(in range: Range<Int>, from place: Int) -> Int {
        range.firstIndex(behind: { self[$0] < place })
    }

    func has(_ number: UInt32, in range: Range<Int>) -> Bool {
        let index = firstIndex(in: range, from: Int(number))
        return index < range.upperBound && self[index] == number
    }
}

/// The condition of a query that the fewest places of a part fulfil.
enum RarestCondition {
    case word(WordCondition)
    case property(PropertyCondition)
}

extension PartFilter {
    /// The condition that the fewest places fulfil; nil where the query has neither words nor properties.
    func rarest(of columns: PartColumns) -> RarestCondition? {
        let word = rarestWord(columns)
        guard let property = properties?.conditions.min(by: { $0.count < $1.count }) else {
            return word.map(RarestCondition.word)
        }
        if let word, WordPostings(word, columns.words).count <= property.count { return .word(word) }
        return .property(property)
    }
}

/// The places that may fulfil a condition, some of them twice.
enum ConditionPostings {
    case word(WordPostings)
    case property(PropertyCondition)

    init(_ condition: RarestCondition, _ columns: WordColumns) {
        switch condition {
        case .word(let word): self = .word(WordPostings(word, columns))
        case .property(let property): self = .property(property)
        }
    }

    var count: Int {
        switch self {
        case .word(let postings): postings.count
        case .property(let property): property.count
        }
    }

    /// The ranges of the part's postings that they are, each of which ascends; nil where there are many.
    func ranges(of columns: WordColumns) -> [Range<Int>]? {
        switch self {
        case .word(let postings): postings.ranges(of: columns, atMost: Self.maximumRangeCount)
        case .property(let property):
            property.postings.count <= Self.maximumRangeCount ? property.postings : nil
        }
    }

    private static let maximumRangeCount = 8

    /// Where in the part's postings one of them is.
    subscript(index: Int) -> Int {
        switch self {
        case .word(let postings): postings[index]
        case .property(let property): property[index]
        }
    }
}

// MARK: - Building a part

/// The values of properties by which a builder's places are found, in the order in which places are added.
struct CollectedProperties {
    private let filterable: [(name: String, kind: FilterableProperties.Kind, escapedName: [UInt8])]
    /// Where each place's values begin in `words`; one more than there are places.
    private var starts: Column<UInt32>
    /// The values of each place by the numbers of their words, some of them twice.
    private(set) var words = Column<UInt32>(capacity: 1024)

    init(_ filterable: FilterableProperties, expecting count: Int) {
        self.filterable = filterable.sorted.map { ($0.name, $0.kind, PlaceProperties.escaped($0.name.utf8)) }
        starts = Column(capacity: count + 1)
        starts.append(0)
    }

    func free() {
        starts.free()
        words.free()
    }

    /// Adds each value by which a place can be found: `true` or `false`, or a text that a request can ask for, as it is compared.
    mutating func add(of record: PlaceRecord, _ table: inout WordTable) {
        defer { starts.append(UInt32(words.count)) }
        guard let properties = record.properties else { return }
        for (name, kind, escapedName) in filterable {
            guard let member = properties.member(named: escapedName) else { continue }
            // Behind the name are a quotation mark and a colon.
            var scanner = JSONScanner(
                member.assumingMemoryBound(to: UInt8.self), from: escapedName.count + 3)
            scanner.forEachValue(of: kind) { value in
                let word = PropertyWords.word(name, value)
                words.append(word.withUnsafeBufferPointer { table.number(of: $0) })
            }
        }
    }

    /// The same for the places in an order, by other numbers of the words; frees itself.
    consuming func packed(_ order: Column<UInt32>, _ numbers: Column<UInt32>) -> PackedProperties {
        var packed = PackedProperties(
            starts: Column(capacity: order.count + 1), words: Column(capacity: words.count))
        packed.starts.append(0)
        for index in 0..<order.count {
            let place = Int(order[index])
            for word in starts[place]..<starts[place + 1] {
                packed.words.append(numbers[Int(words[Int(word)])])
            }
            packed.starts.append(UInt32(packed.words.count))
        }
        free()
        return packed
    }
}

/// The values of a part's places, some of them twice, from which postings are made.
struct PackedProperties {
    fileprivate(set) var starts, words: Column<UInt32>

    func free() {
        starts.free()
        words.free()
    }

    func forEachWord(of place: Int, _ body: (Int) -> Void) {
        for index in starts[place]..<starts[place + 1] { body(Int(words[Int(index)])) }
    }
}

extension JSONScanner {
    /// Calls `body` with each value of this kind, as it is compared. The JSON was checked before.
    fileprivate mutating func forEachValue(
        of kind: FilterableProperties.Kind, _ body: (String) -> Void
    ) {
        switch (kind, next) {
        case (.boolean, UInt8(ascii: "t")): body("true")
        case (.boolean, UInt8(ascii: "f")): body("false")
        case (.text, UInt8(ascii: "\"")): text(body)
        case (.text, UInt8(ascii: "[")):
            try? array { (scanner) throws(SyntaxError) in
                guard scanner.next == UInt8(ascii: "\"") else { return try scanner.skipValue() }
                scanner.text(body)
            }
        default: break
        }
    }

    private mutating func text(_ body: (String) -> Void) {
        guard let text = try? string(), let value = PropertyFilter.compared(text.decoded(in: bytes)) else {
            return
        }
        body(value)
    }
}
