noinst_LIBRARIES += src/base/libbase.a
src_base_libbase_a_SOURCES = \
	src/base/clock.c src/base/clock.h \
	src/base/counters.c src/base/counters.h \
	src/base/durations.c src/base/durations.h \
	src/base/escape.c src/base/escape.h \
	src/base/hash.c src/base/hash.h \
	src/base/list.h \
	src/base/journal.c src/base/journal.h \
	src/base/log.c src/base/log.h \
	src/base/log_line.c src/base/log_line.h \
	src/base/log_sink.c src/base/log_sink.h \
	src/base/memory.c src/base/memory.h \
	src/base/metrics.c src/base/metrics.h \
	src/base/panic.c src/base/panic.h \
	src/base/parent.c src/base/parent.h \
	src/base/siphash.c src/base/siphash.h \
	src/base/status.c src/base/status.h \
	src/base/streams.c src/base/streams.h \
	src/base/units.c src/base/units.h \
	src/base/wheel.c src/base/wheel.h

if HAVE_CHECK
check_PROGRAMS += tests/unit/test-base
TESTS += tests/unit/test-base
tests_unit_test_base_SOURCES = \
	tests/unit/json.c tests/unit/json.h \
	tests/unit/test_base.c tests/unit/test_base.h \
	tests/unit/test_base_counters.c \
	tests/unit/test_base_durations.c \
	tests/unit/test_base_escape.c \
	tests/unit/test_base_hash.c \
	tests/unit/test_base_journal.c \
	tests/unit/test_base_list.c \
	tests/unit/test_base_log.c \
	tests/unit/test_base_memory.c \
	tests/unit/test_base_panic.c \
	tests/unit/test_base_parent.c \
	tests/unit/test_base_siphash.c \
	tests/unit/test_base_status.c \
	tests/unit/test_base_streams.c \
	tests/unit/test_base_units.c \
	tests/unit/test_base_wheel.c
tests_unit_test_base_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
tests_unit_test_base_LDADD = src/base/libbase.a $(CHECK_LIBS)
endif
