import Foundation

/// The reading end of a pipe that has all of these bytes, which are fewer than a pipe holds.
func pipe(with bytes: [UInt8]) -> Int32 {
    var ends: [Int32] = [-1, -1]
    guard Foundation.pipe(&ends) == 0, write(ends[1], bytes, bytes.count) == bytes.count else {
        fatalError("no pipe: \(errno)")
    }
    close(ends[1])
    return ends[0]
}
