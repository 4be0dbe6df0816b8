extension CurrentLocationProvider {
    /// Answers whether the device is at a point of interest: whether the service knows one within the fix's
    /// accuracy, or within 100 m where the fix is better than that.
    ///
    /// Callable from any actor. What goes wrong is an answer too; a cancelled task's is `.cancelled`, at once.
    public func checkCurrentLocation() async -> CurrentLocationAnswer {
        do {
            let fix = try await currentLocation()
            guard let center = fix.coordinate, fix.horizontalAccuracy <= Self.roughestAccuracyMeters else {
                return .unknown
            }
            let radius = max(fix.horizontalAccuracy, Self.leastRadiusMeters)
            let request = NearbyPlacesRequest(center: center, radiusMeters: radius, limit: 1)
            guard let nearest = try await placeFinder.places(request).first else { return .elsewhere }
            return .atPointOfInterest(nearest)
        } catch let error as LocationError {
            return CurrentLocationAnswer(error)
        } catch {
            return CurrentLocationAnswer(RequestError(error))
        }
    }

    /// Answers the same to a handler, which is called once, on the main actor, and never before this function
    /// has returned.
    ///
    /// - Returns: the task that asks; cancelling it answers `.cancelled`.
    @discardableResult
    public func checkCurrentLocation(
        completionHandler: @escaping @MainActor @Sendable (CurrentLocationAnswer) -> Void
    ) -> Task<Void, Never> {
        Task { completionHandler(await checkCurrentLocation()) }
    }
}
