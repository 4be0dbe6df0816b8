#ifndef POI_CLLHTTP_H
#define POI_CLLHTTP_H

// Debian 12 and Ubuntu ship llhttp's C sources (package node-llhttp) rather than a library.
// Version 8.1 is lenient unless built strict: it takes any two bytes for the CRLF that ends a
// chunk. The layout of llhttp_t does not depend on the macro, but the sources and every importer
// must agree on it, so it is defined here, once, for both.
#ifndef LLHTTP_STRICT_MODE
#define LLHTTP_STRICT_MODE 1
#endif

#include "/usr/share/include/llhttp/llhttp.h"

#endif
