#include "CFolding.h"

#include "folding_tables.h"

#define BLOCK_COUNT (sizeof block_numbers / sizeof *block_numbers)

const uint8_t *poi_fold(uint32_t character, size_t *count) {
    uint32_t block = character >> POI_FOLDING_BLOCK_BITS;
    *count = 0;
    if (block >= BLOCK_COUNT) return NULL;
    uint32_t within = character & ((1 << POI_FOLDING_BLOCK_BITS) - 1);
    uint32_t entry = entries[((uint32_t)block_numbers[block] << POI_FOLDING_BLOCK_BITS) + within];
    if (entry == 0) return NULL;
    *count = (entry - 1) & 63;
    return texts + ((entry - 1) >> 6);
}
