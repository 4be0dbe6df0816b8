/// What the request holds until `release()`.
extension RequestContext {
    /// Holds memory for what a handler makes of the body, for example by decompressing it.
    ///
    /// - Throws: 503 if too much memory is held for the client, or for all together.
    public func holdMore(_ bytes: Int) throws(HTTPError) {
        guard let holder = state.pointee.bodyHolder else { return }
        guard holder.memory.hold(bytes, for: holder.client) else { throw .overloaded(retryAfterSeconds: 1) }
        state.pointee.heldBytes += bytes
    }

    /// Holds memory for so many bytes of the body.
    ///
    /// - Throws: as `holdMore`.
    func holdBody(_ bytes: Int) throws(HTTPError) {
        if bytes > state.pointee.heldBytes { try holdMore(bytes - state.pointee.heldBytes) }
    }

    /// Counts the request in `limit` until `release()`, at once or when its body has arrived.
    func count(in limit: InFlightLimit) {
        guard !state.pointee.bodyFollows else { return state.pointee.limitOfBody = limit }
        state.pointee.inFlightLimit?.count -= 1
        limit.count += 1
        state.pointee.inFlightLimit = limit
    }

    /// Counts a request whose body has arrived, or refuses it.
    func countWithBody() {
        state.pointee.bodyFollows = false
        guard let limit = state.pointee.limitOfBody.take() else { return }
        do throws(HTTPError) {
            try limit.check()
            count(in: limit)
        } catch {
            state.pointee.refusal = error
        }
    }

    /// Gives back what the request holds, once its handler has returned or will never be called. A second call does
    /// nothing.
    func release() {
        if let limit = state.pointee.inFlightLimit.take() { limit.count -= 1 }
        if let holder = state.pointee.bodyHolder.take() {
            state.pointee.limitOfBody = nil
            if state.pointee.heldBytes > 0 {
                holder.memory.release(state.pointee.heldBytes, for: holder.client)
                state.pointee.heldBytes = 0
            }
        }
    }
}
