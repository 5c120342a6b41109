noinst_LIBRARIES += src/io/libio.a
src_io_libio_a_CFLAGS = $(AM_CFLAGS) $(EV_CFLAGS)
src_io_libio_a_SOURCES = \
	src/io/chunk.c src/io/chunk.h \
	src/io/connect.c src/io/connect.h \
	src/io/endpoint.c src/io/endpoint.h \
	src/io/input.c src/io/input.h \
	src/io/listen.c src/io/listen.h \
	src/io/options.c src/io/options.h \
	src/io/passing.c src/io/passing.h \
	src/io/poller.c src/io/poller.h \
	src/io/sendq.c src/io/sendq.h

if HAVE_CHECK
check_PROGRAMS += tests/unit/test-io
TESTS += tests/unit/test-io
tests_unit_test_io_SOURCES = tests/unit/test_io.c
tests_unit_test_io_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
tests_unit_test_io_LDADD = src/io/libio.a src/settings/libsettings.a src/base/libbase.a \
	$(CONFUSE_LIBS) $(CHECK_LIBS)
endif
