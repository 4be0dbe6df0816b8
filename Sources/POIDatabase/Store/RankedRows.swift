import POIService
import PointsOfInterestAPI
import Postgres

/// The rows of an answer, in the order of a ranking.
struct RankedRows: PlaceSource {
    let rows: PostgresRows
    let placed: [Ranking.Placed]

    var count: Int { placed.count }

    func withFields(at index: Int, _ body: (PlaceFields) -> Void) throws(LocationStoreError) {
        do throws(PostgresError) {
            let place = placed[index]
            try LocationRow(rows[place.index]).withFields(distanceMeters: place.distanceMeters, body)
        } catch {
            throw LocationStoreError(error)
        }
    }
}
