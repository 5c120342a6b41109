#include "config.h"

#include <string.h>

#include "base/siphash.h"

#include "test_base.h"

/* Of the paper, appendix A, and of its authors' reference implementation. */
START_TEST(siphash_agrees_with_its_paper)
{
	static const struct {
		size_t len;
		uint64_t hash;
	} known[] = {
		{ 0, UINT64_C(0x726fdb47dd0e0e31) },
		{ 1, UINT64_C(0x74f839c593dc67fd) },
		{ 7, UINT64_C(0xab0200f58b01d137) },
		{ 8, UINT64_C(0x93f5f5799a932462) },
		{ 15, UINT64_C(0xa129ca6149be45e5) },
	};
	struct siphash_seed seed = { { UINT64_C(0x0706050403020100),
	    UINT64_C(0x0f0e0d0c0b0a0908) } };
	uint8_t bytes[16];

	for (uint8_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = i;
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		ck_assert_uint_eq(siphash(&seed, bytes, known[i].len), known[i].hash);
}
END_TEST

START_TEST(siphash_depends_on_the_seed)
{
	struct siphash_seed one, other;

	siphash_seed_init(&one);
	siphash_seed_init(&other);
	ck_assert_int_ne(memcmp(&one, &other, sizeof(one)), 0);
	ck_assert_uint_ne(siphash(&one, "key", 3), siphash(&other, "key", 3));
}
END_TEST

TCase *siphash_tests(void)
{
	TCase *tcase = tcase_create("siphash");

	tcase_add_test(tcase, siphash_agrees_with_its_paper);
	tcase_add_test(tcase, siphash_depends_on_the_seed);
	return tcase;
}
