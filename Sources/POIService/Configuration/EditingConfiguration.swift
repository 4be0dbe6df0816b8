import EventLoop
import HTTPServer
import PointsOfInterestServerAPI
import Program

/// Who may edit places by HTTP, and how.
package struct EditingConfiguration: Sendable {
    /// Nil where nobody may.
    package private(set) var access: EditingAccess?
    /// The origins whose pages may edit, beside the service's own.
    private let origins: CrossOriginPolicy
    /// The license of the places that people make.
    let license: String
    /// The limit of a client's requests to edit.
    let rateLimit: RateLimit

    init(
        from reader: inout SettingsReader, trustedProxies: [AddressRange]
    ) throws(ConfigurationError) {
        let editors = try reader.readIfPresent(
            Setting(.editorsFile, "file of those who may edit: a name and the SHA-256 of a key in each line")
            {
                (path) throws(SettingRejection) in try Editors(path: path)
            })
        let header = try reader.readIfPresent(
            Setting(.editorHeader, "header field in which a trusted proxy names the editor") {
                (text) throws(SettingRejection) in
                guard let name = HTTPHeaderName(text), name != .authorization else {
                    throw SettingRejection(expected: "the name of a header field, such as X-Editor")
                }
                return name
            })
        origins = CrossOriginPolicy(
            try reader.read(
                .list(
                    .editorOrigins, "origins whose pages may edit, beside the service's own",
                    expected: "origins such as https://example.com, without a path, in lower case"
                ) { text in AllowedOrigin(settingText: text).flatMap { $0 == .any ? nil : $0 } }))
        license = try reader.read(
            Setting(.editorialLicense, "license of places that editors make", default: "unknown") {
                (text) throws(SettingRejection) in
                guard TableCheck.isSingleLine(text, maximumLength: 200) else {
                    throw SettingRejection(expected: "a line of at most 200 characters, such as CC0-1.0")
                }
                return text
            })
        rateLimit = try reader.read(
            Setting(.editorRateLimit, "limit of a client's requests to edit", default: "20/s") {
                (text) throws(SettingRejection) in
                try RateLimit(orRejecting: text)
            })
        guard editors != nil || header != nil else { return }
        guard header == nil || !trustedProxies.isEmpty else {
            throw ConfigurationError(
                "\(SettingName.editorHeader): expected POI_TRUSTED_PROXIES to be set too")
        }
        access = EditingAccess(
            editors: editors ?? Editors(), header: header,
            clients: ClientIdentification(trustedProxies: trustedProxies),
            origins: origins,
            requiresLoopbackHost: false)
    }

    /// Lets one editor in.
    ///
    /// - Parameter fromAnywhere: whether requests to another host than this machine are let in, too.
    package mutating func allow(_ key: AccessKey, named name: String, fromAnywhere: Bool = false) {
        access = EditingAccess(
            editors: Editors(name: name, key: key), header: nil, clients: ClientIdentification(),
            origins: origins, requiresLoopbackHost: !fromAnywhere)
    }
}
