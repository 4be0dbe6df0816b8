extension RequestError {
    /// Makes a request's error of what a `PlaceFinder` threw.
    init(_ error: any Error) {
        self = error as? RequestError ?? RequestError(transportError: error)
    }
}
