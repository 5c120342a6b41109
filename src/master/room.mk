noinst_LIBRARIES += src/master/libmaster.a
src_master_libmaster_a_SOURCES = \
	src/master/activation.c src/master/activation.h \
	src/master/adoption.c \
	src/master/answer.c src/master/answer.h \
	src/master/census.c src/master/census.h \
	src/master/check.c \
	src/master/checker.c src/master/checker.h \
	src/master/conns.c src/master/conns.h \
	src/master/control.c src/master/control.h \
	src/master/control_client.c src/master/control_client.h \
	src/master/control_peer.c src/master/control_peer.h \
	src/master/control_socket.c src/master/control_socket.h \
	src/master/crew.c src/master/crew.h src/master/crew_view.c \
	src/master/detach.c src/master/detach.h \
	src/master/dismissals.c src/master/dismissals.h \
	src/master/endings.c src/master/endings.h \
	src/master/fork.c src/master/fork.h \
	src/master/generation.c src/master/generation.h \
	src/master/guard.c src/master/guard.h \
	src/master/helper.c src/master/helper.h \
	src/master/http.c src/master/http.h \
	src/master/inheritance.c src/master/inheritance.h \
	src/master/log_file.c src/master/log_file.h \
	src/master/master.c src/master/master.h \
	src/master/metrics.c src/master/metrics.h \
	src/master/module_metrics.c src/master/module_metrics.h \
	src/master/notify.c src/master/notify.h \
	src/master/orders.c \
	src/master/outbox.c src/master/outbox.h \
	src/master/pages.c src/master/pages.h \
	src/master/pid_file.c src/master/pid_file.h \
	src/master/postponed.c src/master/postponed.h \
	src/master/privileges.c src/master/privileges.h \
	src/master/process.c src/master/process.h \
	src/master/relief.c \
	src/master/request.c src/master/request.h \
	src/master/resident.c src/master/resident.h \
	src/master/scrape.c src/master/scrape.h \
	src/master/send.c src/master/send.h \
	src/master/show.c src/master/show.h \
	src/master/signals.c \
	src/master/slot.h \
	src/master/sockets.c src/master/sockets.h \
	src/master/state.h \
	src/master/succession.c src/master/succession.h \
	src/master/summary.c src/master/summary.h \
	src/master/upgrade.c src/master/upgrade.h \
	src/master/verbs.c \
	src/master/waiters.c src/master/waiters.h \
	src/master/watchdog.c
src_master_libmaster_a_CFLAGS = $(AM_CFLAGS) $(EV_CFLAGS) $(JANSSON_CFLAGS)

if HAVE_CHECK
check_PROGRAMS += tests/unit/test-master
TESTS += tests/unit/test-master
tests_unit_test_master_SOURCES = \
	tests/unit/test_master.c tests/unit/test_master.h \
	tests/unit/test_master_control.c \
	tests/unit/test_master_inheritance.c \
	tests/unit/test_master_metrics.c \
	tests/unit/test_master_module_metrics.c \
	tests/unit/test_master_notify.c \
	tests/unit/test_master_outbox.c \
	tests/unit/test_master_pages.c
tests_unit_test_master_CFLAGS = $(AM_CFLAGS) $(EV_CFLAGS) $(JANSSON_CFLAGS) $(CHECK_CFLAGS)
tests_unit_test_master_LDADD = src/master/libmaster.a src/worker/libworker.a src/io/libio.a \
	src/settings/libsettings.a src/base/libbase.a $(CONFUSE_LIBS) $(JANSSON_LIBS) $(EV_LIBS) $(CHECK_LIBS)
endif
