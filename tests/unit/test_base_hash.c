/*
 * base/hash: against a plain table of which keys are in, and that it grows and shrinks.
 */
#include "config.h"

#include <stdbool.h>
#include <stdlib.h>

#include "base/hash.h"

#include "test_base.h"

#define N_KEYS 3000

static struct hash_link links[N_KEYS];

static struct hash *new_hash(void)
{
	static struct hash hash;

	ck_assert_int_eq(hash_init(&hash), STATUS_OK);
	return &hash;
}

/* Keys as connections have them: a slot's number high up and a serial. */
static uint64_t key_of(size_t i)
{
	return (uint64_t)(i % 3) << 48 | i;
}

START_TEST(an_empty_table_finds_nothing)
{
	struct hash *hash = new_hash();

	ck_assert_ptr_null(hash_find(hash, 0));
	ck_assert_ptr_null(hash_find(hash, UINT64_MAX));
	hash_destroy(hash);
	ck_assert_ptr_null(hash->buckets);
}
END_TEST

START_TEST(extreme_keys_are_keys)
{
	struct hash *hash = new_hash();

	hash_insert(hash, &links[0], 0);
	hash_insert(hash, &links[1], UINT64_MAX);
	ck_assert_ptr_eq(hash_find(hash, 0), &links[0]);
	ck_assert_ptr_eq(hash_find(hash, UINT64_MAX), &links[1]);
	ck_assert_ptr_null(hash_find(hash, 1));
	hash_remove(hash, &links[0]);
	ck_assert_ptr_null(hash_find(hash, 0));
	ck_assert_ptr_eq(hash_find(hash, UINT64_MAX), &links[1]);
	hash_destroy(hash);
}
END_TEST

START_TEST(it_grows_and_shrinks_with_what_it_holds)
{
	struct hash *hash = new_hash();
	size_t n_buckets = hash->mask + 1;

	for (size_t i = 0; i < N_KEYS; i++)
		hash_insert(hash, &links[i], key_of(i));
	ck_assert_uint_eq(hash->n_links, N_KEYS);
	ck_assert_uint_ge(hash->mask + 1, N_KEYS);
	ck_assert_uint_lt(hash->mask + 1, 4 * N_KEYS);
	for (size_t i = 0; i < N_KEYS; i++)
		ck_assert_ptr_eq(hash_find(hash, key_of(i)), &links[i]);
	for (size_t i = 0; i < N_KEYS; i++)
		hash_remove(hash, &links[i]);
	ck_assert_uint_eq(hash->n_links, 0);
	ck_assert_uint_eq(hash->mask + 1, n_buckets);
	hash_destroy(hash);
}
END_TEST

START_TEST(keys_in_a_row_spread)
{
	struct hash *hash = new_hash();
	size_t longest = 0;

	for (size_t i = 0; i < N_KEYS; i++)
		hash_insert(hash, &links[i], key_of(i));
	for (size_t i = 0; i <= hash->mask; i++) {
		size_t n = 0;

		for (struct hash_link *link = hash->buckets[i]; link != NULL; link = link->next)
			n++;
		longest = n > longest ? n : longest;
	}
	ck_assert_uint_le(longest, 8);
	hash_destroy(hash);
}
END_TEST

/* Waves of inserting and removing, so that it grows and shrinks on the way. */
START_TEST(random_use_agrees_with_a_plain_table)
{
	struct hash *hash = new_hash();
	bool is_in[N_KEYS] = { false };
	size_t n = 0;

	srand(2);
	for (int turn = 0; turn < 200000; turn++) {
		size_t i = (size_t)rand() % N_KEYS;
		bool is_wanted = rand() % 100 < (turn / 20000 % 2 == 0 ? 90 : 5);

		ck_assert_ptr_eq(hash_find(hash, key_of(i)), is_in[i] ? &links[i] : NULL);
		if (is_wanted == is_in[i])
			continue;
		if (is_wanted)
			hash_insert(hash, &links[i], key_of(i));
		else
			hash_remove(hash, &links[i]);
		is_in[i] = is_wanted;
		n += is_wanted ? 1 : (size_t)-1;
		ck_assert_uint_eq(hash->n_links, n);
	}
	for (size_t i = 0; i < N_KEYS; i++)
		ck_assert_ptr_eq(hash_find(hash, key_of(i)), is_in[i] ? &links[i] : NULL);
	hash_destroy(hash);
}
END_TEST

/* Others of the same bucket are passed over. */
START_TEST(links_of_one_key_are_found_one_after_the_other)
{
	struct hash *hash = new_hash();
	struct hash_link *link;
	size_t n = 0;

	for (size_t i = 0; i < N_KEYS; i++)
		hash_insert(hash, &links[i], i % (N_KEYS / 4));
	for (link = hash_find(hash, 7); link != NULL; link = hash_find_next(link)) {
		ck_assert_uint_eq(link->key, 7);
		n++;
	}
	ck_assert_uint_eq(n, 4);
	hash_destroy(hash);
}
END_TEST

static unsigned n_visits[N_KEYS];

static void count_visit(struct hash_link *link, void *arg)
{
	(void)arg;
	n_visits[link - links]++;
}

START_TEST(scan_visits_each_link_once)
{
	struct hash *hash = new_hash();
	size_t cursor = 0;

	for (size_t i = 0; i < N_KEYS; i++)
		hash_insert(hash, &links[i], key_of(i));
	do
		cursor = hash_scan(hash, cursor, count_visit, NULL);
	while (cursor != 0);
	for (size_t i = 0; i < N_KEYS; i++)
		ck_assert_uint_eq(n_visits[i], 1);
	hash_destroy(hash);
}
END_TEST

/* The first hundred stay; the others come or go while the scan is on its way, at any point. */
START_TEST(scan_misses_nothing_that_stays)
{
	struct hash *hash = new_hash();
	bool is_growing = _i % 2 == 0;
	size_t cursor = 0, turn = 0, mask;

	for (size_t i = 0; i < (is_growing ? 100 : N_KEYS); i++)
		hash_insert(hash, &links[i], key_of(i));
	mask = hash->mask;
	do {
		if (turn++ == (size_t)_i) {
			for (size_t i = 100; i < N_KEYS; i++)
				is_growing ? hash_insert(hash, &links[i], key_of(i))
					   : hash_remove(hash, &links[i]);
		}
		cursor = hash_scan(hash, cursor, count_visit, NULL);
	} while (cursor != 0);
	ck_assert_uint_ne(hash->mask, mask);
	for (size_t i = 0; i < 100; i++)
		ck_assert_uint_ge(n_visits[i], 1);
	hash_destroy(hash);
}
END_TEST

TCase *hash_tests(void)
{
	TCase *hash = tcase_create("hash");

	tcase_set_timeout(hash, 60);
	tcase_add_test(hash, an_empty_table_finds_nothing);
	tcase_add_test(hash, extreme_keys_are_keys);
	tcase_add_test(hash, it_grows_and_shrinks_with_what_it_holds);
	tcase_add_test(hash, keys_in_a_row_spread);
	tcase_add_test(hash, links_of_one_key_are_found_one_after_the_other);
	tcase_add_test(hash, random_use_agrees_with_a_plain_table);
	tcase_add_test(hash, scan_visits_each_link_once);
	tcase_add_loop_test(hash, scan_misses_nothing_that_stays, 0, 100);
	return hash;
}
