import Randomness
import Testing

@testable import PointsOfInterestServerAPI

@Suite("A decimal number")
struct DecimalNumberTests {
    @Test("A number is read as the nearest double")
    func readsTheNearest() {
        var random = SeededGenerator()
        for _ in 0..<50_000 {
            let text = randomNumber(using: &random)
            #expect(parse(text)?.bitPattern == Double(text)?.bitPattern, "\(text)")
        }
    }

    @Test(
        "A number is read as the nearest double at the limits of the fast way",
        arguments: [
            "9007199254740992", "9007199254740993", "9007199254740994", "1e22", "1e23", "9007199254740992e22",
            "1e-22", "1e-23", "0.0000000000000000000001", "18446744073709551616", "1e308", "1.8e308",
            "4.9e-324", "2e-324", "-0", "-0e99999", "0e-9223372036854775809", "1e9223372036854775808",
            "123456789012345678901234567890", "0.1", "179.99999999999997", "+5E+1",
        ])
    func readsTheLimits(text: String) {
        #expect(parse(text)?.bitPattern == Double(text)?.bitPattern)
    }

    @Test(
        "A number without digits on both sides of its point and in its exponent is refused",
        arguments: [
            "", "-", "+", ".", "1.", ".1", "1e", "1e+", "e1", "1.e1", "1e1.0", "1_000", "0x1", "1p1", "nan",
            "inf",
            "infinity", " 1", "1 ", "1,0", "--1", "+-1", "1e5e5", "1..0", "١",
        ])
    func refusesOtherForms(text: String) {
        #expect(parse(text) == nil)
    }

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
        arguments: [Int.min, -10, -1, 0, 9, 10, 1234, Int.max])
    func writesIntegers(number: Int) {
        var buffer = ByteBuffer(capacity: 0)
        buffer.appendDecimal(number)
        #expect(String(decoding: buffer.bytes, as: UTF8.self) == String(number))
    }

    private func parse(_ text: String) -> Double? {
        Array(text.utf8).withUnsafeBufferPointer { DecimalNumber.parse($0) }
    }

    private func written(_ number: Double) -> String {
        var buffer = ByteBuffer(capacity: 0)
        buffer.appendDecimal(number)
        return String(decoding: buffer.bytes, as: UTF8.self)
    }

    private func significantDigits(_ text: String) -> String {
        let digits = text.prefix { $0 != "e" }.filter(\.isNumber).drop { $0 == "0" }
        return String(digits.reversed().drop { $0 == "0" })
    }

    private func randomNumber(using random: inout SeededGenerator) -> String {
        func digits(_ count: ClosedRange<Int>) -> String {
            (0..<Int.random(in: count, using: &random)).reduce(into: "") { text, _ in
                text += String(Int.random(in: 0...9, using: &random))
            }
        }
        var text = ["", "-", "+"].randomElement(using: &random) ?? ""
        text += digits(1...22)
        if Bool.random(using: &random) { text += "." + digits(1...22) }
        if Bool.random(using: &random) {
            text += (["e", "E-", "e+"].randomElement(using: &random) ?? "") + digits(1...3)
        }
        return text
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
