import Foundation
import POIDatabase
import POIService

/// `poi maintain`: writes the table of places anew in spatial order.
enum MaintainCommand {
    static func run(_ invocation: Invocation) throws {
        try invocation.refuseWords(after: 1)
        var reader = invocation.settings
        let database = try DatabaseConfiguration(from: &reader)
        try reader.refuseUnknownFlags()
        guard !invocation.line.switches.contains("--print-config") else {
            return try Terminal.print(reader.summary)
        }
        let maintenance = PlaceMaintenance(
            database, isForced: invocation.line.switches.contains("--force"))
        let progress = isatty(STDERR_FILENO) == 1 ? ProgressBar(unit: "places") : nil
        var onProgress: (@Sendable (Int, Int) -> Void)?
        if let progress { onProgress = { done, total in progress.show(done, of: total) } }
        try maintenance.run(onProgress: onProgress) { line in
            progress?.finish()
            Terminal.tell(line)
        }
    }
}
