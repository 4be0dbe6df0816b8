/// The parameters that an endpoint's query knows: an enumeration whose raw values are 0, 1, 2, ….
package protocol QueryParameter: CaseIterable, RawRepresentable<Int>, Sendable {
    /// The name in the query, ASCII.
    var name: StaticString { get }
}

extension QueryParameter {
    init?(named name: some Sequence<UInt8>) {
        for parameter in Self.allCases where parameter.isNamed(name) {
            self = parameter
            return
        }
        return nil
    }

    private func isNamed(_ other: some Sequence<UInt8>) -> Bool {
        name.withUTF8Buffer { other.elementsEqual($0) }
    }
}
