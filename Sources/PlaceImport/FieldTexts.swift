/// Texts of fields as an option has them: `FIELD=TEXT`, several with commas between. A text may have commas itself, where no
/// `FIELD=` follows them: `position=Latitude, Longitude`.
extension [ImportField: String] {
    /// Nil where the option doesn't have this form, or a field twice.
    package init?(option text: String) {
        self.init()
        var last: ImportField?
        for part in text.split(separator: ",", omittingEmptySubsequences: false) {
            let names = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            if names.count == 2 {
                guard !names[1].isEmpty, let field = ImportField(rawValue: String(names[0])),
                    self[field] == nil
                else { return nil }
                self[field] = String(names[1])
                last = field
            } else {
                guard let last, !part.isEmpty else { return nil }
                self[last]? += ",\(part)"
            }
        }
    }

    /// The option that has these texts, by their fields in the order of ``ImportField``.
    package var option: String {
        ImportField.allCases.compactMap { field in self[field].map { "\(field.rawValue)=\($0)" } }
            .joined(separator: ",")
    }
}
