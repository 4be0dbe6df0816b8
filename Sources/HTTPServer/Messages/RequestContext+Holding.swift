/// What the request holds until `release()`.
extension RequestContext {
    /// Reserves memory for what a handler makes of the body, for example by decompressing it.
    ///
    /// - Throws: 503 if the bodies of all requests would take more memory than they may.
    public func reserveBody(_ bytes: Int) throws(HTTPError) {
        if let budget = state.pointee.bodyBudget { try reserveBody(bytes, in: budget) }
    }

    func reserveBody(_ bytes: Int, in budget: BodyBudget) throws(HTTPError) {
        guard budget.reserve(bytes) else { throw .overloaded(retryAfterSeconds: 1) }
        state.pointee.bodyBudget = budget
        state.pointee.reservedBodyBytes += bytes
    }

    /// Gives back what was reserved beyond the body's length.
    func shrinkBodyReservation(to bytes: Int) {
        guard bytes < state.pointee.reservedBodyBytes else { return }
        state.pointee.bodyBudget?.release(state.pointee.reservedBodyBytes - bytes)
        state.pointee.reservedBodyBytes = bytes
    }

    /// Counts the request in `limit` until `release()`.
    func count(in limit: InFlightLimit) {
        state.pointee.inFlightLimit?.count -= 1
        limit.count += 1
        state.pointee.inFlightLimit = limit
    }

    /// Gives back what the request holds, once its handler has returned or will never be called. A second call does
    /// nothing.
    func release() {
        if let limit = state.pointee.inFlightLimit.take() { limit.count -= 1 }
        if let budget = state.pointee.bodyBudget.take() {
            budget.release(state.pointee.reservedBodyBytes)
            state.pointee.reservedBodyBytes = 0
        }
    }
}
