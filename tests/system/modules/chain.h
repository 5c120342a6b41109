/*
 * What the module "chain" does, by message id.
 */
#ifndef TESTS_SYSTEM_CHAIN_H
#define TESTS_SYSTEM_CHAIN_H

enum {
	CHAIN_PASSED = 900, /* text: what "before" and the handler left in the scratch value */
	CHAIN_BARE = 901,   /* text: "empty" when the handler finds no scratch value */
			    /* Any other id that nobody handles: a text, "default". */
};

#endif
