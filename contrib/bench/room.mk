# The floor of the comparisons; the bench room's system test drives it too.
EXTRA_DIST += contrib/bench/instructions

noinst_PROGRAMS += contrib/bench/floor
contrib_bench_floor_SOURCES = contrib/bench/floor.c
