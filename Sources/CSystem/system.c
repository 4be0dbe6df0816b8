#define _GNU_SOURCE
#include "CSystem.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#ifdef __linux__
#include <sys/vfs.h>
#else
#include <sys/mount.h>
#include <sys/param.h>
#endif
#include <sys/resource.h>
#if defined(__GLIBC__)
#include <malloc.h>
#endif

uintptr_t poi_current_thread(void) {
    return (uintptr_t)pthread_self();
}

void poi_name_current_thread(const char *name) {
    char short_name[16];
    snprintf(short_name, sizeof short_name, "%s", name);
#if defined(__APPLE__)
    pthread_setname_np(short_name);
#else
    pthread_setname_np(pthread_self(), short_name);
#endif
}

void poi_yield_to_other_threads(void) {
#if defined(__linux__)
    setpriority(PRIO_PROCESS, 0, getpriority(PRIO_PROCESS, 0) + 5);
#endif
}

void poi_return_large_blocks(void) {
#if defined(__GLIBC__)
    mallopt(M_MMAP_THRESHOLD, 256 << 10);
#endif
}

void poi_return_freed_memory(void) {
#if defined(__GLIBC__)
    malloc_trim(0);
#endif
}

bool poi_contains(const void *bytes, size_t count, const void *text, size_t text_count) {
    return text_count == 0 || (text_count <= count && memmem(bytes, count, text, text_count) != NULL);
}

bool poi_is_on_network(const char *path) {
    struct statfs status;
    if (statfs(path, &status) != 0) return false;
#ifdef __linux__
    switch ((uint32_t)status.f_type) {
        case 0x6969: case 0x517B: case 0xFF534D42: case 0xFE534D42: case 0x01021997: case 0x00C36400: return true;
        default: return false;
    }
#else
    return !(status.f_flags & MNT_LOCAL);
#endif
}
