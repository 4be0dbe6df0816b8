/// Who a location fetcher tells what happens.
@MainActor
public protocol LocationFetcherDelegate: AnyObject {
    /// Fixes have come, the newest last.
    func locationFetcher(_ fetcher: any LocationFetcher, didUpdateLocations locations: [LocationFix])
    /// There is no fix to be had.
    func locationFetcher(_ fetcher: any LocationFetcher, didFailWithError error: LocationFailure)
    /// The person may have decided anew; also called where nothing has changed.
    func locationFetcherDidChangeAuthorization(_ fetcher: any LocationFetcher)
}
