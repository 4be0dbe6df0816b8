#ifndef POI_CTHREADIDENTITY_H
#define POI_CTHREADIDENTITY_H

#include <stdint.h>

/// A number that identifies the calling thread among all running threads.
///
/// A function in a file of its own, because glibc declares pthread_self() const: an optimiser that sees that
/// declaration may reuse the value after a suspension point, when the code runs on another thread.
uintptr_t poi_current_thread(void);

/// Names the calling thread, for debuggers and `top -H`. The name is cut to 15 bytes, which is all that Linux keeps.
///
/// In C, because pthread_setname_np() differs between systems and needs _GNU_SOURCE.
void poi_name_current_thread(const char *name);

#endif
