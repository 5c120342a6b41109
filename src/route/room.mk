noinst_LIBRARIES += src/route/libroute.a
src_route_libroute_a_SOURCES = \
	src/route/router.c src/route/router.h

if HAVE_CHECK
check_PROGRAMS += tests/unit/test-route
TESTS += tests/unit/test-route
tests_unit_test_route_SOURCES = tests/unit/test_route.c
tests_unit_test_route_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
tests_unit_test_route_LDADD = src/route/libroute.a src/base/libbase.a $(CHECK_LIBS)
endif
