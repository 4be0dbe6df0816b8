import POIService
import PointsOfInterestAPI
import Postgres

/// The rows of an answer, in the order of a ranking.
struct RankedRows: PlaceSource {
    /// A place: its row, and what is told of its distance.
    struct Item {
        let row: Int
        let distanceMeters: Double?
    }

    let rows: PostgresRows
    let items: [Item]

    var count: Int { items.count }

    func withFields(at index: Int, _ body: (PlaceFields) -> Void) throws(PlaceStoreError) {
        do throws(PostgresError) {
            let item = items[index]
            try PlaceRow(rows[item.row]).withFields(distanceMeters: item.distanceMeters, body)
        } catch {
            throw PlaceStoreError(error)
        }
    }
}
