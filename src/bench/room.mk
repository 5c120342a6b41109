bin_PROGRAMS += runnel-bench
noinst_LIBRARIES += src/bench/libbench.a
src_bench_libbench_a_CFLAGS = $(AM_CFLAGS) $(JANSSON_CFLAGS)
src_bench_libbench_a_SOURCES = \
	src/bench/address.c src/bench/address.h \
	src/bench/chart.c src/bench/chart.h \
	src/bench/client.c src/bench/client.h \
	src/bench/compare.c src/bench/compare.h \
	src/bench/cpu.c src/bench/cpu.h \
	src/bench/crew.c src/bench/crew.h \
	src/bench/histogram.c src/bench/histogram.h \
	src/bench/json.c src/bench/json.h \
	src/bench/lane.c src/bench/lane.h \
	src/bench/options.c src/bench/options.h \
	src/bench/progress.c src/bench/progress.h \
	src/bench/protocol.c src/bench/protocol.h \
	src/bench/report.c src/bench/report.h \
	src/bench/run.c src/bench/run.h \
	src/bench/tally.c src/bench/tally.h

runnel_bench_SOURCES = src/bench/main.c
runnel_bench_LDADD = src/bench/libbench.a src/wire/libwire.a src/base/libbase.a $(JANSSON_LIBS)
