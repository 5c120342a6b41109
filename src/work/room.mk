noinst_LIBRARIES += src/work/libwork.a
src_work_libwork_a_SOURCES = \
	src/work/pool.c src/work/pool.h \
	src/work/threads.c src/work/threads.h
src_work_libwork_a_CFLAGS = $(AM_CFLAGS) $(EV_CFLAGS)

if HAVE_CHECK
check_PROGRAMS += tests/unit/test-work
TESTS += tests/unit/test-work
tests_unit_test_work_SOURCES = tests/unit/test_work.c
tests_unit_test_work_CFLAGS = $(AM_CFLAGS) $(EV_CFLAGS) $(CHECK_CFLAGS)
tests_unit_test_work_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=pthread_create
tests_unit_test_work_LDADD = src/work/libwork.a src/base/libbase.a $(EV_LIBS) $(CHECK_LIBS)
endif
