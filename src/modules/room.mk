dist_man_MANS += man/runnel-relay.7

# Modules see the installed header only, as anybody's do.
modules_LTLIBRARIES += src/modules/c10k.la src/modules/echo.la src/modules/relay.la

src_modules_c10k_la_SOURCES = src/modules/c10k.c
src_modules_c10k_la_CPPFLAGS = $(MODULE_CPPFLAGS)
src_modules_c10k_la_LDFLAGS = $(MODULE_LDFLAGS)

src_modules_echo_la_SOURCES = src/modules/echo.c
src_modules_echo_la_CPPFLAGS = $(MODULE_CPPFLAGS)
src_modules_echo_la_LDFLAGS = $(MODULE_LDFLAGS)

src_modules_relay_la_SOURCES = \
	src/modules/relay/relay.c \
	src/modules/relay/backend.c src/modules/relay/backend.h \
	src/modules/relay/client.c src/modules/relay/client.h \
	src/modules/relay/clock.h \
	src/modules/relay/conf.c src/modules/relay/conf.h \
	src/modules/relay/report.c src/modules/relay/report.h \
	src/modules/relay/requests.c src/modules/relay/requests.h \
	src/modules/relay/tally.c src/modules/relay/tally.h
src_modules_relay_la_CPPFLAGS = $(MODULE_CPPFLAGS)
src_modules_relay_la_CFLAGS = $(AM_CFLAGS) $(EV_CFLAGS)
src_modules_relay_la_LDFLAGS = $(MODULE_LDFLAGS)
src_modules_relay_la_LIBADD = $(EV_LIBS)

if HAVE_CHECK
check_PROGRAMS += tests/unit/test-requests
TESTS += tests/unit/test-requests
tests_unit_test_requests_SOURCES = \
	tests/unit/test_requests.c \
	src/modules/relay/requests.c src/modules/relay/requests.h
tests_unit_test_requests_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
tests_unit_test_requests_LDADD = $(CHECK_LIBS)
endif

# A module is loaded by its .so alone. The .la file that libtool puts beside it is not kept, so
# uninstalling takes the .so away by name.
install-data-hook: remove-module-la
remove-module-la:
	@rm -f "$(DESTDIR)$(modulesdir)/c10k.la" "$(DESTDIR)$(modulesdir)/echo.la" \
		"$(DESTDIR)$(modulesdir)/relay.la"

uninstall-hook: uninstall-modules
uninstall-modules:
	@rm -f "$(DESTDIR)$(modulesdir)/c10k.so" "$(DESTDIR)$(modulesdir)/echo.so" \
		"$(DESTDIR)$(modulesdir)/relay.so"

.PHONY: remove-module-la uninstall-modules
