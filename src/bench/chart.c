#include "config.h"

#include <stdio.h>
#include <string.h>

#include "bench/chart.h"

const char *chart_format_ns(double ns, char buf[CHART_TEXT_SIZE])
{
	static const char *const units[] = { "ns", "us", "ms", "s" };
	size_t i = 0;
	int digits;

	/* 999.5 would be printed as 1000. */
	while (ns >= 999.5 && i < 3) {
		ns /= 1000;
		i++;
	}
	digits = i == 0 || ns >= 99.95 ? 0 : ns >= 9.995 ? 1 : 2;
	snprintf(buf, CHART_TEXT_SIZE, "%.*f %s", digits, ns, units[i]);
	return buf;
}

const char *chart_step_name(size_t step, char buf[CHART_TEXT_SIZE])
{
	if (step >= CHART_STEPS)
		snprintf(buf, CHART_TEXT_SIZE, "%zu ms and more", step * 50);
	else
		snprintf(buf, CHART_TEXT_SIZE, "%zu - %zu ms", step * 50, (step + 1) * 50);
	return buf;
}

const char *chart_bar(uint64_t value, uint64_t most, size_t width, char *buf)
{
	size_t len = 0;

	if (value > 0)
		len = (size_t)((double)value / (double)most * (double)width + 0.5);
	if (value > 0 && len == 0)
		len = 1;
	memset(buf, '#', len);
	buf[len] = '\0';
	return buf;
}

double chart_percent(uint64_t value, uint64_t total)
{
	return total == 0 ? 0 : 100.0 * (double)value / (double)total;
}
