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

dist_man_MANS += man/runnel-bench.1
runnel_bench_SOURCES = src/bench/main.c
runnel_bench_LDADD = src/bench/libbench.a src/wire/libwire.a src/base/libbase.a $(JANSSON_LIBS)

if HAVE_CHECK
check_PROGRAMS += tests/unit/test-bench
TESTS += tests/unit/test-bench
tests_unit_test_bench_SOURCES = \
	tests/unit/test_bench.c tests/unit/test_bench.h \
	tests/unit/test_bench_address.c \
	tests/unit/test_bench_compare.c \
	tests/unit/test_bench_cpu.c \
	tests/unit/test_bench_histogram.c \
	tests/unit/test_bench_json.c \
	tests/unit/test_bench_options.c \
	tests/unit/test_bench_protocol.c
tests_unit_test_bench_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
tests_unit_test_bench_LDADD = \
	src/bench/libbench.a src/wire/libwire.a src/base/libbase.a \
	$(JANSSON_LIBS) $(CHECK_LIBS) -lm

# The whole of it against the floor and against servers that misbehave.
check_PROGRAMS += tests/system/test-bench
TESTS += tests/system/test-bench
tests_system_test_bench_SOURCES = \
	tests/system/bench_server.c tests/system/bench_server.h \
	tests/system/test_bench.c
tests_system_test_bench_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/tests
tests_system_test_bench_CFLAGS = $(AM_CFLAGS) $(JANSSON_CFLAGS) $(CHECK_CFLAGS)
tests_system_test_bench_LDADD = $(JANSSON_LIBS) $(CHECK_LIBS)
endif
