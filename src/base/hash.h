/*
 * An intrusive chained hash table with 64-bit keys. It doubles when it holds as
 * many links as buckets and halves when it holds an eighth, and never fails: if
 * memory for more buckets is refused the chains just get longer.
 */
#ifndef RUNNEL_BASE_HASH_H
#define RUNNEL_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

struct hash_link {
	struct hash_link *next;
	uint64_t key;
};

struct hash {
	struct hash_link **buckets; /* owned */
	size_t mask;                /* buckets - 1; a power of two less one */
	size_t n_links;
};

enum status hash_init(struct hash *hash) MUST_CHECK;

/* The link is borrowed until removed. The key is new, or the user asks for all links of it. */
void hash_insert(struct hash *hash, struct hash_link *link, uint64_t key);

/* NULL: no such key. */
struct hash_link *hash_find(const struct hash *hash, uint64_t key);

/* The next link that has the same key; NULL: there is none. */
struct hash_link *hash_find_next(const struct hash_link *link);

/* The link must be in the table. */
void hash_remove(struct hash *hash, struct hash_link *link);

/*
 * Visit the links of one bucket, and return the cursor for the next call; 0 is the first, and
 * means that it is over. A link that is there from the first call to the last is visited, however
 * the table changes in between; it may be visited again when the table has shrunk. The visitor
 * leaves the table alone.
 */
typedef void hash_visit_f(struct hash_link *link, void *arg);
size_t hash_scan(const struct hash *hash, size_t cursor, hash_visit_f *visit, void *arg);

/* Frees the buckets; links are the caller's. */
void hash_destroy(struct hash *hash);

#endif
