sbin_PROGRAMS += runnelctl
noinst_LIBRARIES += src/ctl/libctl.a
src_ctl_libctl_a_CFLAGS = $(AM_CFLAGS) $(JANSSON_CFLAGS)
src_ctl_libctl_a_SOURCES = \
	src/ctl/board.c src/ctl/board.h \
	src/ctl/command.c src/ctl/command.h \
	src/ctl/conns.c src/ctl/conns.h \
	src/ctl/exchange.c src/ctl/exchange.h \
	src/ctl/figure.c src/ctl/figure.h \
	src/ctl/latency.c src/ctl/latency.h \
	src/ctl/options.c src/ctl/options.h \
	src/ctl/screen.c src/ctl/screen.h \
	src/ctl/status.c src/ctl/status.h \
	src/ctl/table.c src/ctl/table.h

ctl_libs = \
	src/ctl/libctl.a src/settings/libsettings.a src/call/libcall.a src/base/libbase.a \
	$(CONFUSE_LIBS) $(JANSSON_LIBS)

dist_man_MANS += man/runnelctl.8
runnelctl_SOURCES = src/ctl/main.c
runnelctl_CPPFLAGS = $(AM_CPPFLAGS) -DDEFAULT_CONF='"$(sysconfdir)/$(PACKAGE)/runnel.conf"'
runnelctl_LDADD = $(ctl_libs)

# bash finds a completion by the name of the command, zsh by an underscore before it.
if BASH_COMPLETION
bashcompletiondir = $(BASH_COMPLETION_DIR)
dist_bashcompletion_DATA = contrib/completion/bash/runnelctl
else
EXTRA_DIST += contrib/completion/bash/runnelctl
endif
if ZSH_COMPLETION
zshcompletiondir = $(ZSH_COMPLETION_DIR)
dist_zshcompletion_DATA = contrib/completion/zsh/_runnelctl
else
EXTRA_DIST += contrib/completion/zsh/_runnelctl
endif

if HAVE_CHECK
check_PROGRAMS += tests/unit/test-ctl
TESTS += tests/unit/test-ctl
tests_unit_test_ctl_SOURCES = tests/unit/test_ctl.c
tests_unit_test_ctl_CFLAGS = $(AM_CFLAGS) $(JANSSON_CFLAGS) $(CHECK_CFLAGS)
tests_unit_test_ctl_LDADD = $(ctl_libs) $(CHECK_LIBS)
endif
