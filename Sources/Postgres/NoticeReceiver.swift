import CLibPQ

/// Takes a connection's notices, which libpq would otherwise print on standard error.
///
/// Called by libpq inside of calls on the connection, so always on the connection's loop.
final class NoticeReceiver {
    var onNotice: ((PostgresServerReport) -> Void)?

    /// Makes libpq call this receiver. The caller keeps it alive until `PQfinish`.
    func attach(to raw: OpaquePointer) {
        PQsetNoticeReceiver(
            raw,
            { context, result in
                guard let context, let result else { return }
                let receiver = Unmanaged<NoticeReceiver>.fromOpaque(context).takeUnretainedValue()
                receiver.onNotice?(PostgresServerReport(result: result))
            },
            Unmanaged.passUnretained(self).toOpaque())
    }
}
