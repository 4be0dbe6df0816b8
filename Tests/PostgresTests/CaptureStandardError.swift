import Foundation

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// What anything in the process writes to standard error while `body` runs; it is written out afterwards.
func captureStandardError(_ body: () async throws -> Void) async throws -> String {
    let file = FileManager.default.temporaryDirectory.appending(path: "stderr-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: file) }
    let saved = dup(STDERR_FILENO)
    let descriptor = open(file.path(percentEncoded: false), O_CREAT | O_RDWR | O_APPEND, 0o600)
    guard saved >= 0, descriptor >= 0 else { throw CocoaError(.fileWriteUnknown) }
    dup2(descriptor, STDERR_FILENO)
    close(descriptor)
    let result: Result<Void, any Error>
    do {
        try await body()
        result = .success(())
    } catch {
        result = .failure(error)
    }
    dup2(saved, STDERR_FILENO)
    close(saved)
    try result.get()
    let data = try Data(contentsOf: file)
    FileHandle.standardError.write(data)
    return String(decoding: data, as: UTF8.self)
}
