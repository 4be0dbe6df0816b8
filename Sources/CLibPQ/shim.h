#include <libpq-fe.h>

/// Queues a Sync. From libpq 17 on it waits for PQflush; older ones (15, 16) send it at once, and with it
/// what was queued before. Only the preprocessor can tell which function the headers have.
static inline int postgres_queue_pipeline_sync(PGconn *connection) {
#ifdef LIBPQ_HAS_SEND_PIPELINE_SYNC
    return PQsendPipelineSync(connection);
#else
    return PQpipelineSync(connection);
#endif
}
