import CLibPQ

/// The arrays of parameters that libpq's send functions read, kept between queries so that sending allocates nothing.
///
/// libpq copies everything into its output buffer before a send function returns. Confined to one connection.
final class ParameterBuffer {
    private var bytes: [UInt8] = []
    private var offsets: [Int] = []
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
        let count = Int32(clamping: parameters.count)
        return bytes.withUnsafeBytes { bytes in
            // An empty value needs an address too, since libpq takes a null pointer for SQL's null.
            for (index, parameter) in parameters.enumerated() where !parameter.isNull {
                values[index] = bytes.baseAddress?.advanced(by: offsets[index])
                    .assumingMemoryBound(to: CChar.self)
            }
            return types.withUnsafeBufferPointer { types in
                values.withUnsafeBufferPointer { values in
                    lengths.withUnsafeBufferPointer { lengths in
                        formats.withUnsafeBufferPointer { formats in
                            body(
                                (
                                    count, types.baseAddress, values.baseAddress, lengths.baseAddress,
                                    formats.baseAddress
                                ))
                        }
                    }
                }
            }
        }
    }

    private func encode(_ parameters: [PostgresValue]) {
        bytes.removeAll(keepingCapacity: true)
        offsets.removeAll(keepingCapacity: true)
        types.removeAll(keepingCapacity: true)
        values.removeAll(keepingCapacity: true)
        lengths.removeAll(keepingCapacity: true)
        formats.removeAll(keepingCapacity: true)
        for parameter in parameters {
            let start = bytes.count
            parameter.appendBinary(to: &bytes)
            offsets.append(start)
            types.append(parameter.type.oid)
            values.append(nil)
            lengths.append(Int32(clamping: bytes.count - start))
            formats.append(1)
        }
        // An empty array would have no address.
        bytes.append(0)
    }
}
