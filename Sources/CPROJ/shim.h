// Only the geodesic routines: the projections of <proj.h> are not needed here.
#include <geodesic.h>
