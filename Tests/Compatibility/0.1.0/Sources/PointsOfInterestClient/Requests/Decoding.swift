import Foundation

extension Decodable {
    /// Decodes a body.
    ///
    /// - Throws: `RequestError.undecodableBody`.
    static func decode(body: Data) throws(RequestError) -> Self {
        do {
            return try JSONDecoder().decode(Self.self, from: body)
        } catch {
            throw .undecodableBody(reason: String(describing: error))
        }
    }
}
