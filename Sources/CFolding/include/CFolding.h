#ifndef POI_C_FOLDING_H
#define POI_C_FOLDING_H

#include <stddef.h>
#include <stdint.h>

/// What a character becomes before a name is cut into words: UTF-8 and the bytes of FoldedMark, which scripts/record/record-folding
/// makes of Unicode's data. May be empty.
///
/// Any number is a character here. Hangul syllables stay as they are.
///
/// - Returns: NULL where the character stays as it is.
const uint8_t *poi_fold(uint32_t character, size_t *count);

#endif
