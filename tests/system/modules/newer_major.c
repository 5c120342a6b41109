/*
 * A module made for the next major ABI.
 */
#include <runnel/module.h>

static struct rnl_link link;

const struct rnl_module rnl_module = { .size = sizeof(struct rnl_module),
	.abi_major = RNL_ABI_MAJOR + 1,
	.abi_minor = RNL_ABI_MINOR,
	.link = &link };
