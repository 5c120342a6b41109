#include "config.h"

#include <sys/random.h>

#include "base/clock.h"
#include "base/siphash.h"

struct state {
	uint64_t v0, v1, v2, v3;
};

void siphash_seed_init(struct siphash_seed *seed)
{
	/* It fails on kernels that have no such call only; then the clock has to do. */
	if (getrandom(seed, sizeof(*seed), GRND_NONBLOCK) != (ssize_t)sizeof(*seed))
		*seed = (struct siphash_seed){ { clock_ms(), (uintptr_t)seed } };
}

static inline uint64_t rotate(uint64_t word, unsigned int n)
{
	return word << n | word >> (64 - n);
}

static void mix(struct state *s, unsigned int n_rounds)
{
	for (; n_rounds > 0; n_rounds--) {
		s->v0 += s->v1;
		s->v1 = rotate(s->v1, 13) ^ s->v0;
		s->v0 = rotate(s->v0, 32);
		s->v2 += s->v3;
		s->v3 = rotate(s->v3, 16) ^ s->v2;
		s->v0 += s->v3;
		s->v3 = rotate(s->v3, 21) ^ s->v0;
		s->v2 += s->v1;
		s->v1 = rotate(s->v1, 17) ^ s->v2;
		s->v2 = rotate(s->v2, 32);
	}
}

static void take(struct state *s, uint64_t word)
{
	s->v3 ^= word;
	mix(s, 2);
	s->v0 ^= word;
}

/* Up to eight bytes, little-endian. */
static uint64_t load(const uint8_t *bytes, size_t len)
{
	uint64_t word = 0;

	for (size_t i = 0; i < len; i++)
		word |= (uint64_t)bytes[i] << (8 * i);
	return word;
}

uint64_t siphash(const struct siphash_seed *seed, const void *data, size_t len)
{
	struct state s = {
		.v0 = seed->words[0] ^ UINT64_C(0x736f6d6570736575),
		.v1 = seed->words[1] ^ UINT64_C(0x646f72616e646f6d),
		.v2 = seed->words[0] ^ UINT64_C(0x6c7967656e657261),
		.v3 = seed->words[1] ^ UINT64_C(0x7465646279746573),
	};
	const uint8_t *bytes = data;
	size_t at = 0;

	for (; len - at >= 8; at += 8)
		take(&s, load(bytes + at, 8));
	take(&s, (uint64_t)len << 56 | load(bytes + at, len - at));
	s.v2 ^= 0xff;
	mix(&s, 4);
	return s.v0 ^ s.v1 ^ s.v2 ^ s.v3;
}
