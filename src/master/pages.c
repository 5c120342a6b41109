#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"
#include "base/memory.h"
#include "master/pages.h"

/* What one master leaves to the next beside the pages; no worker can reach it. */
struct legacy {
	/* What another version could have laid out otherwise. */
	char version[32];
	uint64_t page_size, seat_size;
	uint64_t n_counters, n_reasons;
	struct metric_directory directory;
};

#define TOTAL_SIZE (SETTINGS_MAX_WORKERS * sizeof(struct slot_page))

/* A worker that cut it would end the master with SIGBUS. */
#define SEALS (F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL)

static const struct legacy our_layout = {
	.version = PACKAGE_VERSION,
	.page_size = sizeof(struct slot_page),
	.seat_size = sizeof(struct seat),
	.n_counters = sizeof(struct counters) / sizeof(uint64_t),
	.n_reasons = N_CLOSE_REASONS,
};

static enum status map(struct pages *pages, int fd)
{
	void *memory = mmap(NULL, TOTAL_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	if (memory == MAP_FAILED)
		return STATUS_ERRNO;
	pages->list = memory;
	pages->directory = must_alloc(1, sizeof(*pages->directory));
	pages->fd = fd;
	return STATUS_OK;
}

enum status pages_open(struct pages *pages)
{
	int fd = memfd_create("runnel slots", MFD_CLOEXEC | MFD_ALLOW_SEALING), saved_errno;

	if (fd < 0)
		return STATUS_ERRNO;
	if (ftruncate(fd, (off_t)TOTAL_SIZE) < 0 || fcntl(fd, F_ADD_SEALS, SEALS) < 0 ||
	    map(pages, fd) != STATUS_OK) {
		saved_errno = errno;
		close(fd);
		errno = saved_errno;
		return STATUS_ERRNO;
	}
	return STATUS_OK;
}

int pages_leave(const struct pages *pages)
{
	int fd = memfd_create("runnel metrics", MFD_CLOEXEC);
	struct legacy legacy = our_layout;

	legacy.directory = *pages->directory;
	if (fd >= 0 && pwrite(fd, &legacy, sizeof(legacy), 0) != (ssize_t)sizeof(legacy)) {
		close(fd);
		return -1;
	}
	return fd;
}

static bool is_text(const char *text, size_t size)
{
	return memchr(text, '\0', size) != NULL;
}

static bool is_entry(const struct metric_entry *entry)
{
	return (entry->kind == METRIC_COUNTER || entry->kind == METRIC_GAUGE) &&
	       is_text(entry->module, sizeof(entry->module)) &&
	       is_text(entry->name, sizeof(entry->name)) &&
	       is_text(entry->help, sizeof(entry->help));
}

static bool take_legacy(struct legacy *legacy, int fd)
{
	bool is_ours = pread(fd, legacy, sizeof(*legacy), 0) == (ssize_t)sizeof(*legacy) &&
		       memcmp(legacy, &our_layout, offsetof(struct legacy, directory)) == 0 &&
		       legacy->directory.n <= METRICS_MAX;

	for (uint32_t i = 0; is_ours && i < legacy->directory.n; i++)
		is_ours = is_entry(&legacy->directory.list[i]);
	return is_ours;
}

enum status pages_adopt(struct pages *pages, int fd, int legacy_fd)
{
	struct legacy legacy;
	struct stat st;
	bool is_ours = take_legacy(&legacy, legacy_fd) && fstat(fd, &st) == 0 &&
		       st.st_size == (off_t)TOTAL_SIZE && fcntl(fd, F_GET_SEALS) == SEALS &&
		       map(pages, fd) == STATUS_OK;

	close(legacy_fd);
	if (!is_ours) {
		close(fd);
		return STATUS_INVALID;
	}
	*pages->directory = legacy.directory;
	return STATUS_OK;
}

/* Nobody's generation: somebody adds up what the seat has counted. */
#define CLEARING UINT32_MAX

/* The one that changes the generation has it to itself. */
static void reclaim(struct pages *pages, unsigned int slot, struct seat *seat)
{
	uint32_t generation = __atomic_load_n(&seat->generation, __ATOMIC_ACQUIRE);
	int32_t pid = __atomic_load_n(&seat->pid, __ATOMIC_RELAXED);

	if (generation == 0 || generation == CLEARING || pid == 0 || kill(pid, 0) == 0 ||
	    errno != ESRCH)
		return;
	if (__atomic_compare_exchange_n(&seat->generation, &generation, CLEARING, false,
		__ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
		pages_leave_seat(pages, slot, seat);
}

/* In an upgrade two masters look for seats. */
struct seat *pages_take_seat(struct pages *pages, unsigned int slot, uint32_t generation)
{
	for (unsigned int i = 0; i < SLOT_SEATS; i++) {
		struct seat *seat = &pages->list[slot].seats[i];
		uint32_t nobody = 0;

		pages->list[slot].is_used = 1;
		reclaim(pages, slot, seat);
		if (__atomic_compare_exchange_n(&seat->generation, &nobody, generation, false,
			__ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
			return seat;
	}
	return NULL;
}

static void add_one(uint64_t *sum, const uint64_t *part)
{
	__atomic_fetch_add(sum, counter_read(*part), __ATOMIC_RELAXED);
}

/* Where connections go. What comes before them is read later, see pages_sum(). */
static void add_gone(struct counters *sum, const struct counters *part)
{
	add_one(&sum->moved_out, &part->moved_out);
	for (int i = 0; i < N_CLOSE_REASONS; i++)
		add_one(&sum->closed[i], &part->closed[i]);
}

static void add_others(struct counters *sum, const struct counters *part)
{
	uint64_t *to = (uint64_t *)sum;
	const uint64_t *from = (const uint64_t *)part;

	for (size_t i = 0; i < offsetof(struct counters, closed) / sizeof(*to); i++) {
		if (&to[i] != &sum->moved_out)
			add_one(&to[i], &from[i]);
	}
}

static void merge_times(struct times *sum, const struct times *part)
{
	durations_merge(&sum->handler, &part->handler);
	durations_merge(&sum->reply, &part->reply);
}

/* The thread sanitizer knows this one, and not __atomic_thread_fence(). */
static inline void fence(void)
{
	__sync_synchronize();
}

/*
 * What a seat has counted is in two places while it is left. In an upgrade the other master may
 * read meanwhile, or leave another seat of the slot, so the begins and the ends are counted.
 */
static void begin_leave(struct slot_page *page)
{
	__atomic_fetch_add(&page->n_leaves_begun, 1, __ATOMIC_SEQ_CST);
	fence();
}

static void end_leave(struct slot_page *page)
{
	__atomic_fetch_add(&page->n_leaves_ended, 1, __ATOMIC_SEQ_CST);
}

/* A master that died in between never ended it, and a worker may write there what it likes. */
#define READ_TRIES 100

struct reading {
	const struct slot_page *page;
	uint32_t n_begun;
	int n_tries;
};

/* To be read in a loop, while reading_is_torn(). */
static void reading_begin(struct reading *reading)
{
	const struct slot_page *page = reading->page;
	uint32_t n_ended;

	for (;;) {
		n_ended = __atomic_load_n(&page->n_leaves_ended, __ATOMIC_SEQ_CST);
		reading->n_begun = __atomic_load_n(&page->n_leaves_begun, __ATOMIC_SEQ_CST);
		if (reading->n_begun == n_ended || ++reading->n_tries >= READ_TRIES)
			break;
		sched_yield();
	}
	fence();
}

static bool reading_is_torn(struct reading *reading)
{
	fence();
	return __atomic_load_n(&reading->page->n_leaves_begun, __ATOMIC_SEQ_CST) !=
		   reading->n_begun &&
	       ++reading->n_tries < READ_TRIES;
}

uint64_t pages_leave_seat(struct pages *pages, unsigned int slot, struct seat *seat)
{
	struct slot_page *page = &pages->list[slot];
	uint64_t n_lost = counters_open(&seat->counters);

	begin_leave(page);
	seat->counters.closed[CLOSE_REASON_worker_died] += n_lost;
	add_gone(&page->past, &seat->counters);
	add_others(&page->past, &seat->counters);
	merge_times(&page->past_times, &seat->times);
	metric_cells_add(pages->directory, &page->past_metrics, &seat->metrics, false);
	memset((char *)seat + sizeof(seat->generation), 0,
	    sizeof(*seat) - sizeof(seat->generation));
	end_leave(page);
	__atomic_store_n(&seat->generation, 0, __ATOMIC_RELEASE);
	return n_lost;
}

/* In an upgrade two masters count. */
void pages_count_crash(const struct pages *pages, unsigned int slot)
{
	__atomic_fetch_add(&pages->list[slot].n_crashes, 1, __ATOMIC_RELAXED);
}

uint64_t pages_n_crashes(const struct pages *pages, unsigned int slot)
{
	return counter_read(pages->list[slot].n_crashes);
}

uint64_t pages_n_open(const struct pages *pages, uint32_t generation, unsigned int listener)
{
	uint64_t n = 0;

	for (unsigned int i = 0; i < SETTINGS_MAX_WORKERS * SLOT_SEATS; i++) {
		const struct seat *seat = &pages->list[i / SLOT_SEATS].seats[i % SLOT_SEATS];

		if (__atomic_load_n(&seat->generation, __ATOMIC_RELAXED) == generation)
			n += counter_read(seat->n_open[listener]);
	}
	return n;
}

uint64_t pages_n_up(
    const struct pages *pages, uint32_t generation, unsigned int slot, unsigned int upstream)
{
	uint64_t n = 0;

	for (unsigned int i = 0; i < SLOT_SEATS; i++) {
		const struct seat *seat = &pages->list[slot].seats[i];

		if (__atomic_load_n(&seat->generation, __ATOMIC_RELAXED) == generation)
			n += counter_read(seat->n_open[SETTINGS_MAX_LISTENERS + upstream]);
	}
	return n;
}

void pages_sum(const struct pages *pages, unsigned int slot, struct counters *sum)
{
	const struct slot_page *page = &pages->list[slot];
	struct reading reading = { .page = page };

	do {
		reading_begin(&reading);
		memset(sum, 0, sizeof(*sum));
		/* A connection that comes and goes meanwhile must not be seen to go only. */
		add_gone(sum, &page->past);
		for (unsigned int i = 0; i < SLOT_SEATS; i++)
			add_gone(sum, &page->seats[i].counters);
		fence();
		add_others(sum, &page->past);
		for (unsigned int i = 0; i < SLOT_SEATS; i++)
			add_others(sum, &page->seats[i].counters);
	} while (reading_is_torn(&reading));
}

void pages_sum_times(const struct pages *pages, unsigned int slot, struct times *sum)
{
	const struct slot_page *page = &pages->list[slot];
	struct reading reading = { .page = page };

	do {
		reading_begin(&reading);
		memset(sum, 0, sizeof(*sum));
		merge_times(sum, &page->past_times);
		for (unsigned int i = 0; i < SLOT_SEATS; i++)
			merge_times(sum, &page->seats[i].times);
	} while (reading_is_torn(&reading));
}

void pages_sum_metrics(const struct pages *pages, unsigned int slot, struct metric_cells *sum)
{
	const struct slot_page *page = &pages->list[slot];
	struct reading reading = { .page = page };

	do {
		reading_begin(&reading);
		memset(sum, 0, sizeof(*sum));
		metric_cells_add(pages->directory, sum, &page->past_metrics, false);
		for (unsigned int i = 0; i < SLOT_SEATS; i++)
			metric_cells_add(pages->directory, sum, &page->seats[i].metrics, true);
	} while (reading_is_torn(&reading));
}

void pages_log(const struct pages *pages)
{
	char text[COUNTERS_TEXT_SIZE];
	struct counters sum;

	for (unsigned int slot = 0; slot < SETTINGS_MAX_WORKERS; slot++) {
		if (!pages->list[slot].is_used)
			continue;
		pages_sum(pages, slot, &sum);
		counters_format(&sum, text);
		log_info("worker %u: %s", slot, text);
	}
}

void pages_close(struct pages *pages)
{
	if (pages->list == NULL)
		return;
	munmap(pages->list, TOTAL_SIZE);
	close(pages->fd);
	free(pages->directory);
	pages->list = NULL;
}
