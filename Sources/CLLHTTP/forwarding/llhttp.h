// What the distribution's sources mean by #include "llhttp.h".
#include "../include/CLLHTTP.h"
