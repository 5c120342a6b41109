dist_man_MANS += man/runnel-protocol.7

noinst_LIBRARIES += src/wire/libwire.a
src_wire_libwire_a_SOURCES = \
	src/wire/framing.h \
	src/wire/ltv.c \
	src/wire/tlv.c

if HAVE_CHECK
check_PROGRAMS += tests/unit/test-wire
TESTS += tests/unit/test-wire
tests_unit_test_wire_SOURCES = tests/unit/test_wire.c
tests_unit_test_wire_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
tests_unit_test_wire_LDADD = src/wire/libwire.a $(CHECK_LIBS)
endif
