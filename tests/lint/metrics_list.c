/*
 * Prints the metrics of a daemon without workers, for metrics.sh.
 */
#include "config.h"

#include "master/metrics.h"

int main(void)
{
	const struct metrics metrics = { 0 };

	metrics_print(&metrics, stdout);
	return 0;
}
