/// What the request holds until `release()`.
extension RequestContext {
    /// Holds memory for what a handler makes of the body, for example by decompressing it.
    ///
    /// - Throws: 503 if too much memory is held for the client, or for all together.
    public func holdMore(_ bytes: Int) throws(HTTPError) {
        guard let holder = state.value.bodyHolder else { return }
        guard holder.memory.hold(bytes, for: holder.client) else { throw .overloaded(retryAfterSeconds: 1) }
        state.value.heldBytes += bytes
    }

    /// Holds memory for so many bytes of the body.
    ///
    /// - Throws: as `holdMore`.
    func holdBody(_ bytes: Int) throws(HTTPError) {
        if bytes > state.value.heldBytes { try holdMore(bytes - state.value.heldBytes) }
    }

    /// Counts the request in `limit` until `release()`, at once or when its body has arrived.
    func count(in limit: InFlightLimit) {
        guard !state.value.bodyFollows else { return state.value.limitOfBody = limit }
        state.value.inFlightLimit?.count -= 1
        limit.count += 1
        state.value.inFlightLimit = limit
    }

    /// Counts a request whose body has arrived, or refuses it.
    func countWithBody() {
        state.value.bodyFollows = false
        guard let limit = state.value.limitOfBody.take() else { return }
        do throws(HTTPError) {
            try limit.check()
            count(in: limit)
        } catch {
            state.value.refusal = error
        }
    }

    /// Gives back what the request holds, once its handler has returned or will never be called. A second call does
    /// nothing.
    func release() {
        if let limit = state.value.inFlightLimit.take() { limit.count -= 1 }
        if let holder = state.value.bodyHolder.take() {
            state.value.limitOfBody = nil
            if state.value.heldBytes > 0 {
                holder.memory.release(state.value.heldBytes, for: holder.client)
                state.value.heldBytes = 0
            }
        }
    }
}
