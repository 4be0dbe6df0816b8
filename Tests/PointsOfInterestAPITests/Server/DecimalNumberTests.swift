import Bytes
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

    private func parse(_ text: String) -> Double? {
        DecimalNumber.parse(Array(text.utf8))
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
}
