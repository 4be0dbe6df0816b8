import Foundation

@testable import POIService
@testable import Telemetry

/// A log that a test reads when all is written.
struct LogFile {
    let observability: Observability
    private let file: FileHandle
    private let url = FileManager.default.temporaryDirectory.appending(path: "poi-\(UUID()).log")

    init(format: LogFormat = .json) throws {
        try Data().write(to: url)
        file = try FileHandle(forUpdating: url)
        try FileManager.default.removeItem(at: url)
        observability = try Observability(
            format: format, logsAccess: true, descriptor: file.fileDescriptor)
    }

    /// Ends the log, and returns its lines.
    func finish() throws -> [String] {
        observability.finish()
        try file.seek(toOffset: 0)
        let text = String(decoding: try file.readToEnd() ?? Data(), as: UTF8.self)
        return text.split(separator: "\n").map(String.init)
    }
}
