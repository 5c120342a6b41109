dist_man_MANS += man/runnel-protocol.7

noinst_LIBRARIES += src/wire/libwire.a
src_wire_libwire_a_SOURCES = \
	src/wire/crc16.c src/wire/crc16.h \
	src/wire/framing.h \
	src/wire/htlv_crc.c src/wire/htlv_crc.h \
	src/wire/length_field.c src/wire/length_field.h \
	src/wire/line.c src/wire/line.h \
	src/wire/ltv.c \
	src/wire/tlv.c

if HAVE_CHECK
check_PROGRAMS += tests/unit/test-wire
TESTS += tests/unit/test-wire
tests_unit_test_wire_SOURCES = \
	tests/unit/test_wire.c tests/unit/test_wire.h \
	tests/unit/test_wire_every.c \
	tests/unit/test_wire_htlv_crc.c \
	tests/unit/test_wire_length_field.c \
	tests/unit/test_wire_line.c \
	tests/unit/test_wire_tlv_ltv.c
tests_unit_test_wire_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
tests_unit_test_wire_LDADD = src/wire/libwire.a $(CHECK_LIBS)
endif
