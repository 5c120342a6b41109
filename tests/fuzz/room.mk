# Each fuzz source is a test that replays its corpus. Configured with --with-fuzzer, it is a
# fuzzer instead, here one that keeps what it finds in the folder "found":
#
#     tests/fuzz/fuzz-wire -dict=tests/fuzz/wire.dict found tests/fuzz/corpus/wire
fuzz_programs = \
	tests/fuzz/fuzz-htlv-crc \
	tests/fuzz/fuzz-length-field \
	tests/fuzz/fuzz-line \
	tests/fuzz/fuzz-module-framing \
	tests/fuzz/fuzz-settings \
	tests/fuzz/fuzz-wire

if FUZZER
noinst_PROGRAMS += $(fuzz_programs)
fuzz_main =
else
check_PROGRAMS += $(fuzz_programs)
TESTS += $(fuzz_programs)
fuzz_main = tests/fuzz/replay.c
endif

tests_fuzz_fuzz_settings_SOURCES = tests/fuzz/fuzz_settings.c $(fuzz_main)
tests_fuzz_fuzz_settings_CPPFLAGS = $(AM_CPPFLAGS) -DCORPUS='"tests/fuzz/corpus/settings"'
tests_fuzz_fuzz_settings_CFLAGS = $(AM_CFLAGS) $(CONFUSE_CFLAGS)
tests_fuzz_fuzz_settings_LDFLAGS = $(AM_LDFLAGS) $(FUZZER_FLAGS)
tests_fuzz_fuzz_settings_LDADD = $(settings_libs)

# Those of framings.
fuzz_framing = tests/fuzz/framing.c tests/fuzz/framing.h $(fuzz_main)
fuzz_framing_libs = src/wire/libwire.a src/base/libbase.a

tests_fuzz_fuzz_htlv_crc_SOURCES = tests/fuzz/fuzz_htlv_crc.c $(fuzz_framing)
tests_fuzz_fuzz_htlv_crc_CPPFLAGS = $(AM_CPPFLAGS) -DCORPUS='"tests/fuzz/corpus/htlv-crc"'
tests_fuzz_fuzz_htlv_crc_LDFLAGS = $(AM_LDFLAGS) $(FUZZER_FLAGS)
tests_fuzz_fuzz_htlv_crc_LDADD = $(fuzz_framing_libs)

tests_fuzz_fuzz_length_field_SOURCES = tests/fuzz/fuzz_length_field.c $(fuzz_framing)
tests_fuzz_fuzz_length_field_CPPFLAGS = $(AM_CPPFLAGS) -DCORPUS='"tests/fuzz/corpus/length-field"'
tests_fuzz_fuzz_length_field_LDFLAGS = $(AM_LDFLAGS) $(FUZZER_FLAGS)
tests_fuzz_fuzz_length_field_LDADD = $(fuzz_framing_libs)

tests_fuzz_fuzz_line_SOURCES = tests/fuzz/fuzz_line.c $(fuzz_framing)
tests_fuzz_fuzz_line_CPPFLAGS = $(AM_CPPFLAGS) -DCORPUS='"tests/fuzz/corpus/line"'
tests_fuzz_fuzz_line_LDFLAGS = $(AM_LDFLAGS) $(FUZZER_FLAGS)
tests_fuzz_fuzz_line_LDADD = $(fuzz_framing_libs)

tests_fuzz_fuzz_wire_SOURCES = tests/fuzz/fuzz_wire.c $(fuzz_framing)
tests_fuzz_fuzz_wire_CPPFLAGS = $(AM_CPPFLAGS) -DCORPUS='"tests/fuzz/corpus/wire"'
tests_fuzz_fuzz_wire_LDFLAGS = $(AM_LDFLAGS) $(FUZZER_FLAGS)
tests_fuzz_fuzz_wire_LDADD = $(fuzz_framing_libs)

tests_fuzz_fuzz_module_framing_SOURCES = tests/fuzz/fuzz_module_framing.c $(fuzz_main)
tests_fuzz_fuzz_module_framing_CPPFLAGS = $(AM_CPPFLAGS) \
	-DCORPUS='"tests/fuzz/corpus/module-framing"'
tests_fuzz_fuzz_module_framing_LDFLAGS = $(AM_LDFLAGS) $(FUZZER_FLAGS)
tests_fuzz_fuzz_module_framing_LDADD = \
	src/module/libmodule.a src/conn/libconn.a src/work/libwork.a src/route/libroute.a \
	src/io/libio.a src/wire/libwire.a $(settings_libs) $(EV_LIBS)

EXTRA_DIST += \
	tests/fuzz/corpus \
	tests/fuzz/htlv-crc.dict \
	tests/fuzz/length-field.dict \
	tests/fuzz/line.dict \
	tests/fuzz/module-framing.dict \
	tests/fuzz/settings.dict \
	tests/fuzz/wire.dict
