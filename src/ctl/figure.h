/*
 * Figures for people: at most four characters and a unit, "71.2", "950", "13.4k",
 * "1.31M".
 */
#ifndef RUNNEL_CTL_FIGURE_H
#define RUNNEL_CTL_FIGURE_H

#define FIGURE_SIZE 32

/* Of a number that is not negative. Returns buf. */
const char *figure_format(double value, char buf[FIGURE_SIZE]);

#endif
