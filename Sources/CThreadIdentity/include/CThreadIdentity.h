#ifndef POI_CTHREADIDENTITY_H
#define POI_CTHREADIDENTITY_H

#include <stdint.h>

/// A number that tells the calling thread from every other living thread.
///
/// A function in a file of its own, because glibc declares pthread_self() const: an optimiser that
/// sees the declaration may reuse its value across a suspension point, after which the code runs
/// on another thread.
uintptr_t poi_current_thread(void);

/// Names the calling thread for debuggers and `top -H`; cut to the 15 bytes that Linux keeps.
///
/// In C, because pthread_setname_np() differs between systems and hides behind _GNU_SOURCE.
void poi_name_current_thread(const char *name);

#endif
