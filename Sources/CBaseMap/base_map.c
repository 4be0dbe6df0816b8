#include "CBaseMap.h"

// #embed is of C23, and clang has it for every C. As a resource of Swift these bytes take half a minute to compile.
#pragma clang diagnostic ignored "-Wc23-extensions"

static const unsigned char bytes[] = {
#embed "base-map.bin"
};

const unsigned char *poi_base_map(void) { return bytes; }

size_t poi_base_map_size(void) { return sizeof bytes; }
