import PointsOfInterestAPI

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The maximum sizes of what is said of reports.
package enum ReportLimits {
    /// Bytes of a body. Escaped, each character of a text may have twelve.
    package static let bodyBytes = 8 << 10
    /// Unicode scalars of an editor's note.
    package static let noteLength = 500
}

extension PlaceReport {
    private enum Member: String, CaseIterable {
        case id, place, latitude, longitude, reason, text
    }

    /// Reads and checks the body of `POST /reports`.
    ///
    /// Whether there is the place isn't checked: it may have gone since the person looked at it.
    ///
    /// - Throws: why it is refused, with all faults.
    package static func decode(body: [UInt8]) throws(EditContentError) -> PlaceReport {
        var (id, place, reason, text) = (UUID?.none, Int?.none, Reason?.none, String?.none)
        var (latitude, longitude) = (Double?.none, Double?.none)
        var reader = try MemberReader<Member>(body, of: "reports") {
            (member, value) throws(JSONScanner.SyntaxError) in
            switch member {
            case .id: id = try value.uuid()
            case .place: place = try value.integer(in: 1...Int.max, "a place's id")
            case .latitude: latitude = try value.number(in: Coordinate.latitudes)
            case .longitude: longitude = try value.number(in: Coordinate.longitudes)
            case .reason: reason = try value.choice(of: Reason.self)
            case .text: text = try value.text(maximumLength: maximumTextLength)
            }
        }
        for member in [Member.id, .reason] where reader.lacks(member) { reader.reportMissing(member) }
        switch (reader.lacks(.latitude), reader.lacks(.longitude)) {
        case (true, false): reader.reportMissing(.latitude)
        case (false, true): reader.reportMissing(.longitude)
        case (true, true) where reader.lacks(.place):
            reader.report([], .missing, "must have a place, or a latitude and a longitude")
        default: break
        }
        guard let id, let reason, reader.faults.isEmpty else { throw .invalid(reader.faults) }
        var position: Coordinate?
        if let latitude, let longitude {
            position = Coordinate(validLatitude: latitude, validLongitude: longitude)
        }
        return PlaceReport(id: id, anyPlace: place, position: position, reason: reason, text: text)
    }
}

/// What became of a report.
package enum ReportStatus: String, CaseIterable, Sendable {
    case open, done, rejected
}

/// `PATCH /reports/{id}`: what an editor says of a report.
package struct ReportChange: Hashable, Sendable {
    /// Nil leaves it as it is.
    package var status: ReportStatus?
    /// Nil leaves it as it is, an inner nil takes it away.
    package var note: String??

    private enum Member: String, CaseIterable {
        case status, note
    }

    package init(status: ReportStatus? = nil, note: String?? = nil) {
        self.status = status
        self.note = note
    }

    /// Reads and checks a merge patch (RFC 7396).
    ///
    /// - Throws: why it is refused, with all faults.
    package static func decode(body: [UInt8]) throws(EditContentError) -> ReportChange {
        var change = ReportChange()
        var reader = try MemberReader<Member>(body, of: "changes of reports") {
            (member, value) throws(JSONScanner.SyntaxError) in
            switch member {
            case .status: change.status = try value.choice(of: ReportStatus.self)
            case .note: change.note = .some(try value.text(maximumLength: ReportLimits.noteLength))
            }
        }
        if reader.names(.note), reader.lacks(.note) { change.note = .some(nil) }
        if !reader.names(.status), !reader.names(.note) {
            reader.report([], .missing, "must have a status or a note")
        } else if reader.names(.status), reader.lacks(.status) {
            reader.report([Member.status.rawValue], .missing, "can't be taken away")
        }
        guard reader.faults.isEmpty else { throw .invalid(reader.faults) }
        return change
    }
}

/// `GET /reports`: a page of what people have reported, the newest first.
package struct ReportsRequest: Hashable, Sendable {
    package static let limits = VersionsRequest.limits
    package static let defaultLimit = VersionsRequest.defaultLimit

    package var status: ReportStatus
    package var limit: Int
    /// Where the page begins, as the page before says it; nil for the first.
    package var position: Int64?

    package enum Parameter: Int, QueryParameter {
        case status, limit, before

        package var name: StaticString {
            switch self {
            case .status: "status"
            case .limit: "limit"
            case .before: "before"
            }
        }
    }

    package static func decode(
        query: some Collection<UInt8>, ignoring ignored: [ParameterPattern]
    ) throws(ParameterError) -> ReportsRequest {
        try withQueryBytes(query) { (bytes) throws(ParameterError) in
            var query = QueryDecoder<Parameter>(bytes, ignoring: ignored)
            let status = query.withValue(of: .status) { text in
                ReportStatus.allCases.first { text.elementsEqual($0.rawValue.utf8) }
            }
            if case .some(nil) = status {
                query.report(.status, .outOfRange, "must be \(ReportStatus.choices)")
            }
            let page = query.page(limit: .limit, before: .before)
            guard query.faults.isEmpty else { throw ParameterError(faults: query.faults) }
            return ReportsRequest(
                status: (status ?? nil) ?? .open, limit: page.limit, position: page.position)
        }
    }

    /// The query of the page that begins at a position.
    package func query(from position: Int64) -> String {
        (status == .open ? "" : "status=\(status.rawValue)&")
            + (limit == Self.defaultLimit ? "" : "limit=\(limit)&") + "before=\(position)"
    }
}

extension CaseIterable where Self: RawRepresentable, RawValue == String {
    /// `open, done or rejected`.
    package static var choices: String {
        let names = allCases.map(\.rawValue)
        return names.dropLast().joined(separator: ", ") + " or \(names.last ?? "")"
    }
}
