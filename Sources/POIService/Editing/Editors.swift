import Bytes
import Foundation
import HTTPServer
import Hashing
import Locking
import PointsOfInterestServerAPI
import Program

/// Who may edit places: names by their keys, of which only hashes are known. Any thread.
package final class Editors: Sendable {
    private typealias Names = [[UInt8]: String]

    private let path: String?
    private let names: Lock<Names>

    /// Nobody.
    init() {
        path = nil
        names = Lock([:])
    }

    /// - Throws: what is wrong with the file, on one line.
    init(path: String) throws(SettingRejection) {
        self.path = path
        names = Lock(try Self.read(path))
    }

    /// One editor.
    package init(name: String, key: AccessKey) {
        path = nil
        names = Lock([key.digest: name])
    }

    /// Reads the file again; what is wrong with it, then everything stays as it was.
    func reload() -> String? {
        guard let path else { return nil }
        do {
            let read = try Self.read(path)
            names.withLock { $0 = read }
            return nil
        } catch {
            return "expected \(error.expected)"
        }
    }

    var hasFile: Bool { path != nil }

    /// How many keys there are.
    var count: Int { names.withLock { $0.count } }

    /// The editor who has a key. It is looked up by its hash, so that the time tells nothing of other keys.
    func name(ofKey token: [UInt8]) -> String? {
        guard AccessKey.lengths.contains(token.count) else { return nil }
        let digest = SHA256.digest(of: token)
        return names.withLock { $0[digest] }
    }

    private static func read(_ path: String) throws(SettingRejection) -> Names {
        guard let data = FileManager.default.contents(atPath: path) else {
            throw SettingRejection(expected: "a file that can be read")
        }
        var names: Names = [:]
        for (index, line) in data.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
            .enumerated()
        {
            let words = line.split {
                $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") || $0 == UInt8(ascii: "\r")
            }
            guard let first = words.first, first.first != UInt8(ascii: "#") else { continue }
            let name = String(
                decoding: Array(words.dropLast().joined(separator: [UInt8(ascii: " ")])), as: UTF8.self)
            guard words.count > 1, let digest = digest(words[words.count - 1]),
                TableCheck.isSingleLine(name, maximumLength: 100),
                names.updateValue(name, forKey: digest) == nil
            else {
                throw SettingRejection(
                    expected: "a name and the SHA-256 of a key in each line, each key once; "
                        + "line \(index + 1) is none: poi editors key NAME makes one")
            }
        }
        return names
    }

    private static func digest(_ text: Data) -> [UInt8]? {
        let digits = text.compactMap(\.hexDigitValue)
        guard text.count == 64, digits.count == 64 else { return nil }
        return stride(from: 0, to: 64, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
    }
}

/// Who may edit, and from where.
package struct EditingAccess: Sendable {
    /// Those who have keys.
    let editors: Editors
    /// The field in which a trusted proxy says who the editor is.
    let header: HTTPHeaderName?
    let clients: ClientIdentification
    let origins: CrossOriginPolicy
    /// Whether the request has to be to this machine: a page of elsewhere whose name leads here is refused.
    let requiresLoopbackHost: Bool

    private static let host: HTTPHeaderName = "Host"

    /// The name of the request's editor; nil where it has no editor's key.
    func editor(of request: HTTPRequest, _ context: RequestContext) -> String? {
        if let header, clients.directClient(context.remoteAddress) == nil {
            let names = request.headers.all(header)
            if names.count == 1, TableCheck.isSingleLine(names[0], maximumLength: 100) { return names[0] }
        }
        return KeyRequirement.token(of: request).flatMap(editors.name)
    }

    /// The name of the editor of a request that was admitted, for the log, too. The editors may have been read again since its
    /// head was checked.
    func currentEditor(of request: HTTPRequest, _ context: RequestContext) throws(HTTPError) -> String {
        guard let editor = editor(of: request, context) else { throw KeyRequirement.invalidToken }
        context.logNotes.append(("editor", editor))
        return editor
    }

    /// Whether the request is from a script of another origin than the service's own and the allowed ones.
    func isForeign(_ request: HTTPRequest) -> Bool {
        let host = request.headers.first(Self.host) ?? ""
        if requiresLoopbackHost, !Self.isLoopback(host) { return true }
        guard let origin = request.headers.first(.origin) else { return false }
        return !origins.allows(request)
            && ["http://", "https://"].allSatisfy { !origin.utf8.elementsEqual(($0 + host).utf8) }
    }

    private static func isLoopback(_ host: String) -> Bool {
        let end = host.utf8.first == UInt8(ascii: "[") ? UInt8(ascii: "]") : UInt8(ascii: ":")
        let name = host.utf8.prefix { $0 != end }
        return ["localhost", "127.0.0.1", "[::1"].contains { $0.utf8.elementsEqual(name) }
    }
}
