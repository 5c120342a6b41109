/*
 * SipHash-2-4 (Aumasson and Bernstein, 2012): a hash of bytes that come from
 * outside. Who does not know the seed cannot make keys that collide.
 */
#ifndef RUNNEL_BASE_SIPHASH_H
#define RUNNEL_BASE_SIPHASH_H

#include <stddef.h>
#include <stdint.h>

struct siphash_seed {
	uint64_t words[2];
};

/* A seed that nobody can guess. */
void siphash_seed_init(struct siphash_seed *seed);

uint64_t siphash(const struct siphash_seed *seed, const void *bytes, size_t len);

#endif
