/*
 * The main of a fuzz source that is built without a fuzzer: feed it the files
 * that the arguments name, and those below directories; without arguments, its
 * corpus. This is how `make check` runs what fuzzing has found.
 */
#include "config.h"

#include <dirent.h>
#include <err.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static size_t n_inputs;

static void feed_file(const char *path, size_t size)
{
	/* Of the exact size: ASan sees a read beyond it. */
	uint8_t *data = malloc(size);
	FILE *file = fopen(path, "rb");

	if (data == NULL || file == NULL)
		err(1, "%s", path);
	if (fread(data, 1, size, file) != size)
		errx(1, "%s: cannot read %zu bytes", path, size);
	fclose(file);
	LLVMFuzzerTestOneInput(data, size);
	free(data);
	n_inputs++;
}

static int is_visible(const struct dirent *entry)
{
	return entry->d_name[0] != '.';
}

static void feed(const char *path)
{
	struct dirent **entries;
	struct stat info;
	int n;

	if (stat(path, &info) != 0)
		err(1, "%s", path);
	if (!S_ISDIR(info.st_mode)) {
		feed_file(path, (size_t)info.st_size);
		return;
	}
	n = scandir(path, &entries, is_visible, alphasort);
	if (n < 0)
		err(1, "%s", path);
	for (int i = 0; i < n; i++) {
		char *below;

		if (asprintf(&below, "%s/%s", path, entries[i]->d_name) < 0)
			err(1, "%s", path);
		feed(below);
		free(below);
		free(entries[i]);
	}
	free(entries);
}

/* `make check` sets srcdir; by hand, where the build and the sources are one, it is ".". */
static void feed_corpus(void)
{
	const char *srcdir = getenv("srcdir");
	char *path;

	if (asprintf(&path, "%s/%s", srcdir != NULL ? srcdir : ".", CORPUS) < 0)
		err(1, "%s", CORPUS);
	feed(path);
	free(path);
}

int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++)
		feed(argv[i]);
	if (argc == 1)
		feed_corpus();
	if (n_inputs == 0)
		errx(1, "no inputs: name files, or directories that hold some");
	printf("%zu inputs\n", n_inputs);
	return 0;
}
