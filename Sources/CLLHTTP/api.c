#include "CLLHTTP.h"
#include "/usr/share/llhttp/api.c"
