import CLibPQ

/// The arrays of parameters that libpq's send functions read, kept between queries so that sending allocates nothing.
///
/// libpq copies everything into its output buffer before a send function returns. Confined to one connection.
final class ParameterBuffer {
    private var bytes: [UInt8] = []
    private var types: [Oid] = []
    private var values: [UnsafePointer<CChar>?] = []
    private var lengths: [Int32] = []
    private var formats: [Int32] = []

    /// Bytes kept for the next query; larger memory is given back.
    private static let retainedCapacity = 64 * 1024

    /// libpq's arguments: count, types, values, lengths, formats.
    typealias Arguments = (
        count: Int32, types: UnsafePointer<Oid>?, values: UnsafePointer<UnsafePointer<CChar>?>?,
        lengths: UnsafePointer<Int32>?, formats: UnsafePointer<Int32>?
    )

    /// Encodes the parameters and calls `body` with pointers that are valid during the call.
    func withArguments<Result>(_ parameters: [PostgresValue], _ body: (Arguments) -> Result) -> Result {
        encode(parameters)
        defer {
            if bytes.capacity > Self.retainedCapacity { bytes = [] }
        }
        return bytes.withUnsafeBytes { bytes in
            locate(parameters, in: bytes)
            return types.withUnsafeBufferPointer { types in
                values.withUnsafeBufferPointer { values in
                    lengths.withUnsafeBufferPointer { lengths in
                        formats.withUnsafeBufferPointer { formats in
                            body(
                                (
                                    Int32(clamping: parameters.count), types.baseAddress, values.baseAddress,
                                    lengths.baseAddress, formats.baseAddress
                                ))
                        }
                    }
                }
            }
        }
    }

    /// Fills in types and lengths. The arrays only grow, and what lies behind the last parameter isn't read.
    private func encode(_ parameters: [PostgresValue]) {
        let missing = parameters.count - lengths.count
        if missing > 0 {
            types.append(contentsOf: repeatElement(0, count: missing))
            values.append(contentsOf: repeatElement(nil, count: missing))
            lengths.append(contentsOf: repeatElement(0, count: missing))
            formats.append(contentsOf: repeatElement(1, count: missing))
        }
        bytes.removeAll(keepingCapacity: true)
        for index in parameters.indices {
            let start = bytes.count
            parameters[index].appendBinary(to: &bytes)
            types[index] = parameters[index].type.oid
            lengths[index] = Int32(clamping: bytes.count - start)
        }
        // An empty array would have no address.
        bytes.append(0)
    }

    /// Points at each value. An empty one needs an address too, since libpq takes a null pointer for SQL's null.
    private func locate(_ parameters: [PostgresValue], in bytes: UnsafeRawBufferPointer) {
        var start = bytes.baseAddress
        for index in parameters.indices {
            values[index] = parameters[index].isNull ? nil : start?.assumingMemoryBound(to: CChar.self)
            start = start?.advanced(by: Int(lengths[index]))
        }
    }
}
