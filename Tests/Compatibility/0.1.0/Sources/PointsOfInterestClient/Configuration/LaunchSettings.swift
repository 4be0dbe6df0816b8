import Foundation

/// The settings among a launch's arguments and its environment.
struct LaunchSettings {
    let arguments: [String]
    let environment: [String: String]

    func baseURL() throws(AppConfigurationError) -> URL? {
        let name = "POI_BASE_URL"
        guard let text = try value(name) else { return nil }
        guard let url = URL(string: text), ["http", "https"].contains(url.scheme?.lowercased()),
            url.host?.isEmpty == false
        else { throw .invalidValue(name: name, expected: "an absolute http or https URL") }
        return url
    }

    func headers() throws(AppConfigurationError) -> [String: String] {
        let name = "POI_HEADERS"
        guard let text = try value(name) else { return [:] }
        var headers: [String: String] = [:]
        for line in text.split(whereSeparator: \.isNewline) {
            let parts = line.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2, !parts[0].isEmpty, parts[0].utf8.allSatisfy(Self.isTokenByte) else {
                throw .invalidValue(name: name, expected: "lines of the form Name: value")
            }
            headers[String(parts[0])] = parts[1].trimmingCharacters(in: .whitespaces)
        }
        return headers
    }

    func isUnitTesting() throws(AppConfigurationError) -> Bool {
        let name = "IS_UNIT_TESTING"
        switch try value(name)?.lowercased() {
        case nil, "no", "false", "0": return false
        case "yes", "true", "1": return true
        default: throw .invalidValue(name: name, expected: "YES or NO")
        }
    }

    /// The value of an argument, else of a variable; an empty variable is as good as none.
    private func value(_ name: String) throws(AppConfigurationError) -> String? {
        if let index = arguments.lastIndex(of: "-" + name) {
            guard arguments.indices.contains(index + 1) else { throw .missingValue(name: "-" + name) }
            return arguments[index + 1]
        }
        return environment[name].flatMap { $0.isEmpty ? nil : $0 }
    }

    /// What a header's name is made of (RFC 9110, section 5.6.2).
    private static func isTokenByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
        }
    }
}
