# Each fuzz source is a test that replays its corpus. Configured with --with-fuzzer, it is a
# fuzzer instead, here one that keeps what it finds in the folder "found":
#
#     tests/fuzz/fuzz-wire -dict=tests/fuzz/wire.dict found tests/fuzz/corpus/wire
fuzz_programs = tests/fuzz/fuzz-settings tests/fuzz/fuzz-wire

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

tests_fuzz_fuzz_wire_SOURCES = tests/fuzz/fuzz_wire.c $(fuzz_main)
tests_fuzz_fuzz_wire_CPPFLAGS = $(AM_CPPFLAGS) -DCORPUS='"tests/fuzz/corpus/wire"'
tests_fuzz_fuzz_wire_LDFLAGS = $(AM_LDFLAGS) $(FUZZER_FLAGS)
tests_fuzz_fuzz_wire_LDADD = src/wire/libwire.a src/base/libbase.a

EXTRA_DIST += tests/fuzz/corpus tests/fuzz/settings.dict tests/fuzz/wire.dict
