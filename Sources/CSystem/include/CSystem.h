#ifndef POI_CSYSTEM_H
#define POI_CSYSTEM_H

#include <stdbool.h>
#include <stddef.h>
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

/// Lets threads of the usual priority have about three times as much of a processor as the calling one, where both want it. On
/// Linux, which has a nice value for each thread (sched(7)); does nothing elsewhere.
///
/// In C, because Swift doesn't import PRIO_PROCESS as what setpriority() takes.
void poi_yield_to_other_threads(void);

/// Makes blocks of 256 KiB and more go back to the system as soon as they are freed. To be called before the process has
/// a second thread; does nothing without glibc.
///
/// Else glibc keeps them: each large block that is freed raises the size from which on a block has pages of its own, up
/// to 32 MiB, and the heaps that smaller blocks come from shrink at their end alone. So the memory of a server whose
/// places change grew to several times what its index takes (mallopt(3), M_MMAP_THRESHOLD).
///
/// In C, because Swift doesn't import malloc.h.
void poi_return_large_blocks(void);

/// Gives memory that was freed back to the system, also from between blocks that are in use. Any thread; all others may have
/// to wait for some milliseconds. Does nothing without glibc, which else keeps such memory for good (malloc_trim(3)).
///
/// In C, because Swift doesn't import malloc.h.
void poi_return_freed_memory(void);

/// Whether bytes have a text somewhere among them. Linear in both with glibc, whose memmem() is the two-way algorithm (Crochemore
/// and Perrin, 1991); the standard library's search takes some thousand instructions a byte.
///
/// In C, because memmem() needs _GNU_SOURCE.
bool poi_contains(const void *bytes, size_t count, const void *text, size_t text_count);

/// Whether a file is on another machine's disk: NFS, SMB, CIFS, 9P or Ceph (statfs(2)). False where that can't be told.
///
/// In C, because Swift doesn't import statfs().
bool poi_is_on_network(const char *path);

/// Has the processor fetch the memory at an address, which will be read soon, and doesn't wait for it. Any address will do.
///
/// In C, because Swift has no such intrinsic.
static inline void poi_prefetch(const void *address) {
    __builtin_prefetch(address);
}

#endif
