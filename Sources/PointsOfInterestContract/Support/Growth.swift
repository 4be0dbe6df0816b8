/// How a description differs from an earlier one that it has to include: the contract only grows.
struct Growth {
    /// What is no longer there, each with where it was.
    private(set) var missing: [String] = []

    /// Members of these names are for people, or depend on a service's data and settings.
    private static let free: Set<String> = ["description", "summary", "info", "servers", "tags", "security"]

    init(from old: JSON, to new: JSON) { compare(old, new, at: "") }

    private mutating func compare(_ old: JSON, _ new: JSON?, at place: String) {
        guard let new else { return missing.append(place) }
        switch (old, new) {
        case (.object(let old), .object(let new)):
            for (name, member) in old.sorted(by: { $0.key < $1.key }) where !Self.free.contains(name) {
                // The names of categories and of datasets are data.
                let isOfNames = ["/category/schema/items", "/dataset/schema/items"].contains(
                    where: place.hasSuffix)
                if name == "enum", isOfNames { continue }
                compare(member, new[name], at: place + "/" + name)
            }
        case (.array(let old), .array(let new)): compare(old, new, at: place)
        default: if old != new { missing.append(place) }
        }
    }

    /// An array has no order that means anything here; items with names are compared by them.
    private mutating func compare(_ old: [JSON], _ new: [JSON], at place: String) {
        for item in old {
            if let name = item["name"]?.text {
                compare(
                    item, new.first { $0["name"] == item["name"] && $0["in"] == item["in"] },
                    at: place + "/" + name)
            } else if item.members != nil {
                // Parts of a schema: one of the new ones has to include it.
                let includes = new.contains { Growth(from: item, to: $0).missing.isEmpty }
                if !includes { missing.append(place) }
            } else if !new.contains(item) {
                missing.append(place + "/" + (item.text ?? "…"))
            }
        }
    }
}
