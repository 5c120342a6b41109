/*
 * A shared object that is no module.
 */
#include <runnel/module.h>

RNL_EXPORT int no_symbol;
int no_symbol = 1;
