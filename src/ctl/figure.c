#include "config.h"

#include <stdio.h>

#include "ctl/figure.h"

const char *figure_format(double value, char buf[FIGURE_SIZE])
{
	static const char *const units[] = { "", "k", "M", "G", "T", "P" };
	size_t unit = 0;
	int n_decimals;

	/* What three digits would round up to the next unit. */
	while (value >= 999.5 && unit < sizeof(units) / sizeof(units[0]) - 1) {
		value /= 1000;
		unit++;
	}
	n_decimals = value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2;
	if (value == (double)(long long)value && unit == 0)
		n_decimals = 0;
	snprintf(buf, FIGURE_SIZE, "%.*f%s", n_decimals, value, units[unit]);
	return buf;
}
