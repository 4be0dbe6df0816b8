import Bytes
import Randomness
import Testing

@Suite("Decimal numbers that are written")
struct DecimalTests {
    @Test("A number is written in its shortest form, and reads back the same")
    func writesTheShortest() {
        var random = SeededGenerator()
        for _ in 0..<50_000 {
            let number = randomDouble(using: &random)
            let text = written(number)
            #expect(Double(text) == number, "\(text)")
            #expect(significantDigits(text) == significantDigits(number.description), "\(text)")
        }
    }

    @Test("A number is written without an exponent if seven decimals are enough")
    func writesPlainly() {
        let written = [
            37.3293, -121.8893, 12, 0, -0.0, 0.1, 12.3, 1e-7, 5e-05, -0.5, 99_999_999, 1e8, 1e16,
            .leastNonzeroMagnitude,
        ]
        .map(self.written)
        #expect(
            written == [
                "37.3293", "-121.8893", "12", "0", "0", "0.1", "12.3", "0.0000001", "0.00005", "-0.5",
                "99999999",
                "100000000.0", "1e+16", "5e-324",
            ])
    }

    @Test(
        "An integer is written with all of its digits",
        arguments: [Int.min, -10, -1, 0, 9, 10, 1234, 1_048_576, Int.max])
    func writesIntegers(number: Int) {
        var buffer = ByteBuffer(capacity: 0)
        buffer.appendDecimal(number)
        #expect(buffer.text == String(number))
    }

    private func written(_ number: Double) -> String {
        var buffer = ByteBuffer(capacity: 0)
        buffer.appendDecimal(number)
        return buffer.text
    }

    private func significantDigits(_ text: String) -> String {
        let digits = text.prefix { $0 != "e" }.filter(\.isNumber).drop { $0 == "0" }
        return String(digits.reversed().drop { $0 == "0" })
    }

    /// What coordinates and distances look like, and doubles of any bits.
    private func randomDouble(using random: inout SeededGenerator) -> Double {
        let degrees = Double.random(in: -180...180, using: &random)
        let places: Double = [1, 10, 1e4, 1e6, 1e7, 1e8, 1e9].randomElement(using: &random) ?? 1
        switch Int.random(in: 0..<3, using: &random) {
        case 0: return (degrees * places).rounded() / places
        case 1: return (Double.random(in: 0...3e8, using: &random) * 10).rounded() / 10
        default:
            let any = Double(bitPattern: .random(in: .min ... .max, using: &random))
            return any.isFinite ? any : 0
        }
    }
}
