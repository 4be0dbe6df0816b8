/// The page's JavaScript modules as one file. A browser that loads modules waits for responses in turn, six at a time by
/// HTTP/1.1, which takes seconds where a response takes half a second. In the file each module is a function that returns
/// what it exports, and lines of comments, a quarter of the compressed bytes, are left out.
enum PageScript {
    /// The modules of `Web/`, each behind those that it imports.
    static var modules: [(name: String, text: String)] {
        [
            ("elements.js", PackageResources.elements_js),
            ("mercator.js", PackageResources.mercator_js),
            ("state.js", PackageResources.state_js),
            ("api.js", PackageResources.api_js),
            ("places.js", PackageResources.places_js),
            ("key.js", PackageResources.key_js),
            ("notices.js", PackageResources.notices_js),
            ("credits.js", PackageResources.credits_js),
            ("editing.js", PackageResources.editing_js),
            ("hours.js", PackageResources.hours_js),
            ("detail.js", PackageResources.detail_js),
            ("featured.js", PackageResources.featured_js),
            ("filters.js", PackageResources.filters_js),
            ("list.js", PackageResources.list_js),
            ("labels.js", PackageResources.labels_js),
            ("signs.js", PackageResources.signs_js),
            ("gather.js", PackageResources.gather_js),
            ("spots.js", PackageResources.spots_js),
            ("basemap.js", PackageResources.basemap_js),
            ("graticule.js", PackageResources.graticule_js),
            ("map.js", PackageResources.map_js),
            ("main.js", PackageResources.main_js),
        ].map { ($0, String(decoding: $1, as: UTF8.self)) }
    }

    /// The modules of `Web/Edit/`, each behind those that it imports.
    static var editingModules: [(name: String, text: String)] {
        [
            ("pin.js", PackageResources.pin_js),
            ("members.js", PackageResources.members_js),
            ("records.js", PackageResources.records_js),
            ("drafts.js", PackageResources.drafts_js),
            ("desk.js", PackageResources.desk_js),
            ("conflict.js", PackageResources.conflict_js),
            ("done.js", PackageResources.done_js),
            ("fields.js", PackageResources.fields_js),
            ("form.js", PackageResources.form_js),
            ("versions.js", PackageResources.versions_js),
            ("merge.js", PackageResources.merge_js),
            ("reports.js", PackageResources.reports_js),
            ("review.js", PackageResources.review_js),
            ("edit.js", PackageResources.edit_js),
        ].map { ($0, String(decoding: $1, as: UTF8.self)) }
    }

    /// Joins modules, each behind those that it imports.
    ///
    /// Of the ways to import and export it knows those that are used: `import { name, other as another } from` and
    /// `import * as name from` on one line, and `export` before a declaration.
    ///
    /// - Parameter base: the file whose modules these import, too; nil for none.
    static func joined(_ modules: [(name: String, text: String)], to base: String? = nil) -> String {
        // An expression is parsed where it is evaluated: once, not for each line.
        let importing = /import (?:\* as )?(.+) from '\.\.?\/(.+)';/
        let exporting = /export (?:async )?(?:const|function|class) (\w+)/
        let comment = /^ *(\/\/|\/\*|\*)/
        var script = base.map { "import { modules } from './\($0)';\n" } ?? "export const modules = {};\n"
        for (name, text) in modules {
            var exported: [Substring] = []
            script += "modules['\(name)'] = (() => {\n"
            for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
                if let match = line.wholeMatch(of: importing) {
                    script += "const \(match.1.replacing(" as ", with: ": ")) = modules['\(match.2)'];\n"
                } else if let match = line.prefixMatch(of: exporting) {
                    exported.append(match.1)
                    script += line.dropFirst("export ".count) + "\n"
                } else if line.firstMatch(of: comment) == nil {
                    script += line + "\n"
                }
            }
            script += "return { \(exported.joined(separator: ", ")) };\n})();\n"
        }
        return script
    }
}
