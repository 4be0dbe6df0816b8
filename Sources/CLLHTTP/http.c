#include "CLLHTTP.h"
#include "/usr/share/llhttp/http.c"
