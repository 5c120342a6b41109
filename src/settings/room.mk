# What links to the room.
settings_libs = src/settings/libsettings.a src/base/libbase.a $(CONFUSE_LIBS)

noinst_LIBRARIES += src/settings/libsettings.a
src_settings_libsettings_a_SOURCES = \
	src/settings/address.c src/settings/address.h \
	src/settings/check.c src/settings/check.h \
	src/settings/check_framing.c src/settings/check_framing.h \
	src/settings/conf.c src/settings/conf.h \
	src/settings/cpus.c src/settings/cpus.h \
	src/settings/dump.c \
	src/settings/file.c src/settings/file.h \
	src/settings/item.c src/settings/item.h \
	src/settings/load.c \
	src/settings/machine.c src/settings/machine.h \
	src/settings/marks.c src/settings/marks.h \
	src/settings/module_options.c src/settings/module_options.h \
	src/settings/options.c src/settings/options.h \
	src/settings/outline.c src/settings/outline.h \
	src/settings/peek.c src/settings/peek.h \
	src/settings/scan.c src/settings/scan.h \
	src/settings/settings.c src/settings/settings.h \
	src/settings/value.c src/settings/value.h
src_settings_libsettings_a_CPPFLAGS = $(AM_CPPFLAGS) -DMODULE_DIR='"$(modulesdir)"' \
	-DHTTP_PROGRAM='"$(pkglibexecdir)/runnel-http"'
src_settings_libsettings_a_CFLAGS = $(AM_CFLAGS) $(CONFUSE_CFLAGS)

if HAVE_CHECK
check_PROGRAMS += tests/unit/test-settings
TESTS += tests/unit/test-settings
tests_unit_test_settings_SOURCES = \
	tests/unit/test_settings.c \
	tests/unit/settings_bad.c \
	tests/unit/settings_cpus.c \
	tests/unit/settings_framings.c \
	tests/unit/settings_marks.c \
	tests/unit/settings_peek.c \
	tests/unit/settings_offer.c tests/unit/settings_offer.h
tests_unit_test_settings_CPPFLAGS = $(src_settings_libsettings_a_CPPFLAGS)
tests_unit_test_settings_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
tests_unit_test_settings_LDADD = $(settings_libs) $(CHECK_LIBS)
endif

check_PROGRAMS += tests/lint/options-list
tests_lint_options_list_SOURCES = tests/lint/options_list.c
tests_lint_options_list_CPPFLAGS = $(src_settings_libsettings_a_CPPFLAGS)
tests_lint_options_list_LDADD = $(settings_libs)
dist_check_SCRIPTS += tests/lint/options.sh
TESTS += tests/lint/options.sh

dist_man_MANS += man/runnel.conf.5
