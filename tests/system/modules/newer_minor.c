/*
 * A module made for the next minor ABI: its struct is longer than the host knows.
 */
#include <runnel/module.h>

static struct rnl_link link;

const struct rnl_module rnl_module = { .size = sizeof(struct rnl_module) + 8,
	.abi_major = RNL_ABI_MAJOR,
	.abi_minor = RNL_ABI_MINOR + 1,
	.link = &link };
