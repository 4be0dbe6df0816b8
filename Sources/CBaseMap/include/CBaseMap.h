#ifndef POI_C_BASE_MAP_H
#define POI_C_BASE_MAP_H

#include <stddef.h>

/// The bytes of the start page's base map, which scripts/record/record-base-map makes and describes.
///
/// A function, because Swift doesn't import arrays without a length.
const unsigned char *poi_base_map(void);

/// The number of these bytes.
size_t poi_base_map_size(void);

#endif
