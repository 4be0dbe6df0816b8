import PointsOfInterestAPI

/// A hash of what a place has, but for its id, its version and when it was changed.
///
/// The members are in a fixed order, each text with its length, so that a member that a later release adds goes behind them,
/// and where a place doesn't have it, changes nothing.
struct ContentHash {
    private var state: UInt64 = 0

    var value: UInt64 { PlaceDigest.mixed(state) }

    mutating func add(_ number: UInt64) {
        let mixed = state ^ number
        state = (mixed << 29 | mixed >> 35) &* 0x9E37_79B9_7F4A_7C15
    }

    /// Adds a text by its length, and eight bytes at a time, the lower ones first; one that isn't there is a zero.
    mutating func add(_ text: PlaceFields.Text?) {
        guard let text else { return add(0) }
        add(UInt64(text.count) + 1)
        text.withUnsafeBytes { bytes in
            let whole = bytes.count & ~7
            var offset = 0
            while offset < whole {
                add(UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self)))
                offset += 8
            }
            guard whole < bytes.count else { return }
            add(bytes[whole...].reversed().reduce(0) { $0 << 8 | UInt64($1) })
        }
    }
}

extension PlaceFields {
    /// The hash of all that is public of the place.
    var contentHash: UInt64 {
        var hash = ContentHash()
        hash.add(name)
        hash.add(category)
        hash.add((latitude + 0).bitPattern)
        hash.add((longitude + 0).bitPattern)
        hash.add(featured ? 1 : 0)
        hash.add(address)
        hash.add(website)
        hash.add(source?.dataset)
        hash.add(source?.id)
        hash.add(source?.license)
        hash.add(UInt64(bitPattern: Int64(importance)))
        hash.add(properties)
        hash.add(names)
        hash.add(otherNames)
        hash.add(operatingStatus.map { Array($0.rawValue.utf8)[...] })
        return hash.value
    }
}
