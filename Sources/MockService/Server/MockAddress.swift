import PointsOfInterestAPI

/// Where a mock listens.
package struct MockAddress: Hashable, Sendable {
    /// The address that it was told to listen on.
    let host: String
    /// The port, also where the system chose it.
    let port: Int

    /// The base URL of its service.
    package var url: String { "http://\(host.contains(":") ? "[\(host)]" : host):\(port)" }

    /// One line of JSON for whoever started the mock: `{"port":49152,"url":"http://127.0.0.1:49152"}`.
    package var json: String {
        var writer = JSONWriter()
        writer.beginObject()
        writer.member("port", port)
        writer.member("url", url)
        writer.endObject()
        return String(decoding: writer.bytes, as: UTF8.self)
    }
}
