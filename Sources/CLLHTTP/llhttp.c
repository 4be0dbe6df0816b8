#include "CLLHTTP.h"
#include "/usr/share/llhttp/llhttp.c"
