// Geodesics for distances, and projections for files in other coordinate systems.
#include <geodesic.h>
#include <proj.h>
