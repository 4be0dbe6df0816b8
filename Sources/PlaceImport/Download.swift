import ChildProcesses
import Foundation
import Locking

/// Where a file is downloaded from, by http or https. It may have a password or a token, so only ``description`` is shown.
package struct DownloadURL: Sendable, Hashable, CustomStringConvertible {
    package let text: String
    /// Host and path.
    package let description: String
    /// What the file is called, for the extension that tells its format.
    fileprivate let fileName: String

    package init?(_ text: String) {
        let form =
            /(?i:https?):\/\/(?:[^\/?#@]*@)?((?:[A-Za-z0-9._\-]+|\[[0-9A-Fa-f:.]+\])(?::[0-9]{1,5})?)(\/[^?#]*)?(?:\?[^#]*)?/
        // No other character may be in a URL (RFC 3986), and none of these needs escaping in a configuration of curl.
        guard text.utf8.count <= 4096,
            text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7f && !"\"<>\\^`{|}".utf8.contains($0) }),
            let parts = text.wholeMatch(of: form)?.output
        else { return nil }
        let path = String(parts.2 ?? "/")
        self.text = text
        description = parts.1 + path
        let last = path.split(separator: "/").last.flatMap { String($0).removingPercentEncoding } ?? ""
        let plain = last.suffix(100).map { letter in
            letter.isASCII && (letter.isLetter || letter.isNumber || "._-".contains(letter)) ? letter : "_"
        }
        fileName = "download-" + String(plain)
    }
}

/// What a server says a file is in, so that it need not be downloaded again while it is the same (RFC 9110, 8.8).
package struct DownloadTag: Sendable, Hashable {
    package var etag: String?
    package var lastModified: String?

    package init(etag: String?, lastModified: String?) {
        (self.etag, self.lastModified) = (etag, lastModified)
    }
}

package struct DownloadLimits: Sendable {
    package var seconds = 3600
    /// For how many seconds less than 1 kB a second may come.
    package var stallSeconds = 60
    package var bytes = 4 << 30

    package init() {}
}

/// A file that `curl` downloads into a folder of its own, which is removed with the last reference to this.
///
/// Nothing of what curl says is shown, since it may quote a URL: that of a redirection is often as secret as the first.
package final class Download: Sendable {
    package enum Outcome: Sendable {
        /// The file that the tag stands for is still the one there.
        case unchanged
        case file(path: String, DownloadTag)
    }

    private struct State {
        var processID: pid_t?
        var isCancelled = false
    }

    private let url: DownloadURL
    private let tag: DownloadTag?
    private let limits: DownloadLimits
    private let folder: WorkFolder
    private let state = Lock(State())

    /// What curl gets of our environment: how it reaches the network, and whom it trusts.
    private static let inherited = [
        "PATH", "http_proxy", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY", "no_proxy", "NO_PROXY",
        "CURL_CA_BUNDLE", "SSL_CERT_FILE", "SSL_CERT_DIR",
    ]
    private static let connectTimeout = 30

    /// - Parameter tag: that of a file which need not be downloaded again.
    package init(_ url: DownloadURL, unless tag: DownloadTag?, limits: DownloadLimits) throws {
        (self.url, self.tag, self.limits) = (url, tag, limits)
        folder = try WorkFolder()
    }

    /// Ends the download, from any thread.
    package func cancel() {
        state.withLock { state in
            state.isCancelled = true
            if let id = state.processID { kill(-id, SIGKILL) }
        }
    }

    package var isCancelled: Bool { state.withLock { $0.isCancelled } }

    /// Downloads the file. Blocks; to be called once.
    ///
    /// - Throws: ``ImportError`` where there is no whole file.
    package func run() throws -> Outcome {
        let path = folder.path + "/" + url.fileName
        do {
            let file = FileHandle(
                fileDescriptor: try check(open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600), "open"),
                closeOnDealloc: true)
            let (code, count) = try download(to: file)
            return try outcome(code: code, count: count, path: path)
        } catch let error as ImportError { throw error } catch {
            throw failure("\(error)")
        }
    }

    /// Runs curl; returns its exit code, and how many bytes came.
    private func download(to file: FileHandle) throws -> (code: Int32, count: Int) {
        let environment = ProcessInfo.processInfo.environment
        guard let program = executable("curl", in: environment) else {
            throw failure("curl is missing, which downloads it")
        }
        let (input, itsInput) = try socketPair()
        let (output, itsOutput) = try socketPair()
        let none = try check(open("/dev/null", O_WRONLY | O_CLOEXEC), "open")
        defer { close(output) }
        let process: ChildProcess
        do {
            defer { for descriptor in [itsInput, itsOutput, none] { close(descriptor) } }
            process = try ChildProcess(
                arguments: [program] + options,
                environment: environment.filter { Self.inherited.contains($0.key) },
                descriptors: [itsInput, itsOutput, none])
        }
        state.withLock { state in
            state.processID = process.processID
            if state.isCancelled { kill(-process.processID, SIGKILL) }
        }
        // Not among the options, which all users of the machine can read.
        sendLine(configuration, to: input)
        close(input)
        let result = Result { try copy(from: output, to: file) }
        let isWhole = (try? result.get()).map { $0 <= limits.bytes } ?? false
        state.withLock { state in
            // The system doesn't reuse the id before the process was waited for.
            if !isWhole { kill(-process.processID, SIGKILL) }
            state.processID = nil
        }
        let code = process.wait()
        return (code, try result.get())
    }

    private var options: [String] {
        [
            // First, so that nobody's settings are read.
            "-q", "--config", "-", "--silent", "--globoff", "--fail", "--location", "--max-redirs", "5",
            "--proto", "=http,https", "--proto-redir", "=http,https",
            "--connect-timeout", "\(Self.connectTimeout)", "--max-time", "\(limits.seconds)",
            "--speed-limit", "1000", "--speed-time", "\(limits.stallSeconds)",
            "--max-filesize", "\(limits.bytes)", "--dump-header", headerPath, "--output", "-",
        ]
    }

    private var configuration: String {
        let conditions = [("If-None-Match", tag?.etag), ("If-Modified-Since", tag?.lastModified)]
        let fields = conditions.compactMap { name, value in
            value.map {
                "header = \"\(name): \($0.replacing("\\", with: "\\\\").replacing("\"", with: "\\\""))\""
            }
        }
        return (["url = \"\(url.text)\""] + fields).joined(separator: "\n")
    }

    private var headerPath: String { folder.path + "/header" }

    /// Returns how many bytes came, one more than are allowed at most. Not all versions of curl count a length that they
    /// aren't told before.
    private func copy(from output: Int32, to file: FileHandle) throws -> Int {
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        var total = 0
        while total <= limits.bytes {
            let count = read(output, &buffer, buffer.count)
            if count < 0, errno == EINTR { continue }
            guard try check(Int32(count), "read") > 0 else { break }
            do {
                try file.write(contentsOf: buffer[..<count])
            } catch {
                throw failure("there is no room for it: \(error.localizedDescription)")
            }
            total += count
        }
        return total
    }

    private func outcome(code: Int32, count: Int, path: String) throws(ImportError) -> Outcome {
        let response = DownloadResponse(headerPath)
        guard !isCancelled else { throw failure("stopped by a signal: nothing was changed") }
        guard count <= limits.bytes, code != 63 else {
            throw failure("it has more than \(limits.bytes) bytes (--max-size)")
        }
        guard code == 0, let status = response?.status else { throw failure(reason(code, response?.status)) }
        if status == 304, tag != nil { return .unchanged }
        guard status == 200 else { throw failure("the server responded \(status)") }
        guard count > 0 else { throw failure("the response is empty") }
        let start = FileHandle(forReadingAtPath: path).flatMap { try? $0.read(upToCount: 512) } ?? Data()
        guard String(decoding: start, as: UTF8.self).prefixMatch(of: /\s*<(?i:!doctype\s+html|html)\b/) == nil
        else { throw failure("the response is a web page") }
        return .file(
            path: path, DownloadTag(etag: response?["etag"], lastModified: response?["last-modified"]))
    }

    /// What curl's exit code says (curl(1), "EXIT CODES").
    private func reason(_ code: Int32, _ status: Int?) -> String {
        switch code {
        case 5, 6: "its host isn't known"
        case 7: "its host takes no connection"
        case 18, 92: "the transfer was cut short"
        case 22: "the server responded \(status.map { "\($0)" } ?? "with an error")"
        case 28:
            "it took too long: no connection within \(Self.connectTimeout) s, less than 1 kB a second for "
                + "\(limits.stallSeconds) s, or more than \(limits.seconds) s in all"
        case 35, 51, 53, 54, 58, 59, 60, 66, 77, 80, 82, 83, 90, 91:
            "there is no secure connection (curl \(code))"
        case 47: "it leads to another place more than five times"
        case 52, 55, 56: "the connection was lost"
        case 1: "it leads to something that isn't http or https"
        default: "curl ended with exit code \(code)"
        }
    }

    private func failure(_ message: String) -> ImportError { ImportError(message, path: url.description) }
}

/// The head of the last response of those that curl has written down: others redirect, or are a proxy's.
private struct DownloadResponse {
    let status: Int
    private let lines: [Substring]

    init?(_ path: String) {
        guard let data = FileManager.default.contents(atPath: path) else { return nil }
        let lines = String(decoding: data, as: UTF8.self).split(whereSeparator: \.isNewline)
        guard let first = lines.lastIndex(where: { $0.hasPrefix("HTTP/") }),
            let status = lines[first].split(separator: " ").dropFirst().first.flatMap({ Int($0) })
        else { return nil }
        self.status = status
        self.lines = Array(lines[(first + 1)...])
    }

    /// The value of a field; nil where there is none, or it is not of the characters that may be sent back.
    subscript(name: String) -> String? {
        let line = lines.first { $0.lowercased().hasPrefix(name + ":") }
        let value = line?.dropFirst(name.count + 1).trimmingCharacters(in: .whitespaces) ?? ""
        let isPlain = value.utf8.allSatisfy { (0x20..<0x7f).contains($0) }
        return isPlain && (1...1000).contains(value.utf8.count) ? value : nil
    }
}
