#include "config.h"

#include <stdlib.h>

#include "base/hash.h"
#include "base/panic.h"

#define MIN_BUCKETS 64

/*
 * Multiplicative hashing (Knuth, TAOCP 3, 6.4) with 2^64 over the golden ratio; the high bits
 * are the good ones.
 */
static size_t bucket_of(const struct hash *hash, uint64_t key)
{
	return (size_t)((key * UINT64_C(0x9e3779b97f4a7c15)) >> 32) & hash->mask;
}

enum status hash_init(struct hash *hash)
{
	hash->buckets = calloc(MIN_BUCKETS, sizeof(*hash->buckets));
	if (hash->buckets == NULL)
		return STATUS_NOMEM;
	hash->mask = MIN_BUCKETS - 1;
	hash->n_links = 0;
	return STATUS_OK;
}

static void resize(struct hash *hash, size_t n_buckets)
{
	struct hash_link **old = hash->buckets;
	size_t n_old = hash->mask + 1;
	struct hash_link **buckets = calloc(n_buckets, sizeof(*buckets));

	if (buckets == NULL)
		return;
	hash->buckets = buckets;
	hash->mask = n_buckets - 1;
	for (size_t i = 0; i < n_old; i++) {
		struct hash_link *link, *next;

		for (link = old[i]; link != NULL; link = next) {
			size_t bucket = bucket_of(hash, link->key);

			next = link->next;
			link->next = buckets[bucket];
			buckets[bucket] = link;
		}
	}
	free(old);
}

void hash_insert(struct hash *hash, struct hash_link *link, uint64_t key)
{
	size_t bucket;

	if (hash->n_links > hash->mask)
		resize(hash, 2 * (hash->mask + 1));
	bucket = bucket_of(hash, key);
	link->key = key;
	link->next = hash->buckets[bucket];
	hash->buckets[bucket] = link;
	hash->n_links++;
}

struct hash_link *hash_find(const struct hash *hash, uint64_t key)
{
	struct hash_link *link = hash->buckets[bucket_of(hash, key)];

	while (link != NULL && link->key != key)
		link = link->next;
	return link;
}

struct hash_link *hash_find_next(const struct hash_link *link)
{
	struct hash_link *next = link->next;

	while (next != NULL && next->key != link->key)
		next = next->next;
	return next;
}

void hash_remove(struct hash *hash, struct hash_link *link)
{
	struct hash_link **at = &hash->buckets[bucket_of(hash, link->key)];

	while (*at != link) {
		CHECK(*at != NULL);
		at = &(*at)->next;
	}
	*at = link->next;
	hash->n_links--;
	if (hash->mask + 1 > MIN_BUCKETS && hash->n_links < (hash->mask + 1) / 8)
		resize(hash, (hash->mask + 1) / 2);
}

static size_t reverse_bits(size_t n)
{
	size_t result = 0;

	for (unsigned int i = 0; i < 8 * sizeof(n); i++) {
		result = result << 1 | (n & 1);
		n >>= 1;
	}
	return result;
}

/*
 * The cursor counts with its bits reversed, from the highest that the mask has. So buckets that
 * a bucket is split into come where the bucket would have, and stand together: those that were
 * done stay done, however many there are by now.
 */
size_t hash_scan(const struct hash *hash, size_t cursor, hash_visit_f *visit, void *arg)
{
	for (struct hash_link *link = hash->buckets[cursor & hash->mask]; link != NULL;
	     link = link->next)
		visit(link, arg);
	return reverse_bits(reverse_bits(cursor | ~hash->mask) + 1);
}

void hash_destroy(struct hash *hash)
{
	free(hash->buckets);
	hash->buckets = NULL;
	hash->mask = hash->n_links = 0;
}
