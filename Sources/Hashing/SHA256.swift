/// SHA-256 (FIPS 180-4). Written here since nothing that the package links has it.
///
/// A value: absorbs bytes, then answers their digest. What it does depends on how many bytes there are and not on
/// which, so it tells nothing of a secret by its time.
package struct SHA256: Sendable {
    private static let constants: [UInt32] = [
        0x428a_2f98, 0x7137_4491, 0xb5c0_fbcf, 0xe9b5_dba5, 0x3956_c25b, 0x59f1_11f1, 0x923f_82a4,
        0xab1c_5ed5,
        0xd807_aa98, 0x1283_5b01, 0x2431_85be, 0x550c_7dc3, 0x72be_5d74, 0x80de_b1fe, 0x9bdc_06a7,
        0xc19b_f174,
        0xe49b_69c1, 0xefbe_4786, 0x0fc1_9dc6, 0x240c_a1cc, 0x2de9_2c6f, 0x4a74_84aa, 0x5cb0_a9dc,
        0x76f9_88da,
        0x983e_5152, 0xa831_c66d, 0xb003_27c8, 0xbf59_7fc7, 0xc6e0_0bf3, 0xd5a7_9147, 0x06ca_6351,
        0x1429_2967,
        0x27b7_0a85, 0x2e1b_2138, 0x4d2c_6dfc, 0x5338_0d13, 0x650a_7354, 0x766a_0abb, 0x81c2_c92e,
        0x9272_2c85,
        0xa2bf_e8a1, 0xa81a_664b, 0xc24b_8b70, 0xc76c_51a3, 0xd192_e819, 0xd699_0624, 0xf40e_3585,
        0x106a_a070,
        0x19a4_c116, 0x1e37_6c08, 0x2748_774c, 0x34b0_bcb5, 0x391c_0cb3, 0x4ed8_aa4a, 0x5b9c_ca4f,
        0x682e_6ff3,
        0x748f_82ee, 0x78a5_636f, 0x84c8_7814, 0x8cc7_0208, 0x90be_fffa, 0xa450_6ceb, 0xbef9_a3f7,
        0xc671_78f2,
    ]

    private static let blockSize = 64

    private var unfinished: [UInt8] = []
    private var byteCount = 0
    private var schedule = [UInt32](repeating: 0, count: 64)
    private var state: [UInt32] = [
        0x6a09_e667, 0xbb67_ae85, 0x3c6e_f372, 0xa54f_f53a, 0x510e_527f, 0x9b05_688c, 0x1f83_d9ab,
        0x5be0_cd19,
    ]

    /// The digest of nothing, so far.
    package init() {}

    /// Takes more bytes, behind those before.
    package mutating func absorb(_ bytes: some Collection<UInt8>) {
        byteCount += bytes.count
        unfinished.append(contentsOf: bytes)
        let whole = unfinished.count - unfinished.count % Self.blockSize
        guard whole > 0 else { return }
        for start in stride(from: 0, to: whole, by: Self.blockSize) { absorbBlock(at: start) }
        unfinished.removeFirst(whole)
    }

    /// The digest of all that was absorbed, 32 bytes.
    package consuming func digest() -> [UInt8] {
        // Section 5.1.1: a one bit, zeros, and the length in bits, up to a whole number of blocks.
        let bitCount = UInt64(byteCount) * 8
        let zeros = (119 - byteCount % Self.blockSize) % Self.blockSize
        let length = (0..<8).map { UInt8(truncatingIfNeeded: bitCount >> (56 - 8 * $0)) }
        absorb([0x80] + [UInt8](repeating: 0, count: zeros) + length)
        return state.flatMap { word in
            (0..<4).map { UInt8(truncatingIfNeeded: word >> (24 - 8 * $0)) }
        }
    }

    /// The digest of `bytes`, 32 bytes.
    package static func digest(of bytes: some Collection<UInt8>) -> [UInt8] {
        var hash = SHA256()
        hash.absorb(bytes)
        return hash.digest()
    }

    /// The digest of `bytes` as 64 lower-case hexadecimal digits.
    package static func hexDigest(of bytes: some Collection<UInt8>) -> String {
        digest(of: bytes).hexadecimal
    }

    /// One block of 64 bytes (section 6.2.2).
    private mutating func absorbBlock(at start: Int) {
        extendSchedule(from: start)
        var (a, b, c, d) = (state[0], state[1], state[2], state[3])
        var (e, f, g, h) = (state[4], state[5], state[6], state[7])
        for index in 0..<64 {
            let sum1 = rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25)
            let temporary1 = h &+ sum1 &+ ((e & f) ^ (~e & g)) &+ Self.constants[index] &+ schedule[index]
            let sum0 = rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22)
            let temporary2 = sum0 &+ ((a & b) ^ (a & c) ^ (b & c))
            (h, g, f, e) = (g, f, e, d &+ temporary1)
            (d, c, b, a) = (c, b, a, temporary1 &+ temporary2)
        }
        for (index, value) in [a, b, c, d, e, f, g, h].enumerated() { state[index] &+= value }
    }

    private mutating func extendSchedule(from start: Int) {
        for index in 0..<16 {
            let at = start + 4 * index
            schedule[index] =
                UInt32(unfinished[at]) << 24 | UInt32(unfinished[at + 1]) << 16
                | UInt32(unfinished[at + 2]) << 8 | UInt32(unfinished[at + 3])
        }
        for index in 16..<64 {
            let (early, late) = (schedule[index - 15], schedule[index - 2])
            let sigma0 = rotate(early, 7) ^ rotate(early, 18) ^ (early >> 3)
            let sigma1 = rotate(late, 17) ^ rotate(late, 19) ^ (late >> 10)
            schedule[index] = schedule[index - 16] &+ sigma0 &+ schedule[index - 7] &+ sigma1
        }
    }
}

private func rotate(_ word: UInt32, _ count: UInt32) -> UInt32 {
    word >> count | word << (32 - count)
}
