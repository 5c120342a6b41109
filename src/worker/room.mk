noinst_LIBRARIES += src/worker/libworker.a
src_worker_libworker_a_SOURCES = \
	src/worker/affinity.c src/worker/affinity.h \
	src/worker/channel.c src/worker/channel.h \
	src/worker/handover.c src/worker/handover.h \
	src/worker/limits.c src/worker/limits.h \
	src/worker/receiver.c src/worker/receiver.h \
	src/worker/survey.c src/worker/survey.h \
	src/worker/trim.c src/worker/trim.h \
	src/worker/worker.c src/worker/worker.h
src_worker_libworker_a_CFLAGS = $(AM_CFLAGS) $(EV_CFLAGS)

if HAVE_CHECK
check_PROGRAMS += tests/unit/test-worker
TESTS += tests/unit/test-worker
tests_unit_test_worker_SOURCES = \
	tests/unit/test_worker.c tests/unit/test_worker.h \
	tests/unit/test_worker_handover.c \
	tests/unit/test_worker_receiver.c \
	tests/unit/test_conn_rig.c tests/unit/test_conn_rig.h
tests_unit_test_worker_CFLAGS = $(AM_CFLAGS) $(EV_CFLAGS) $(CHECK_CFLAGS)
tests_unit_test_worker_LDADD = src/worker/libworker.a src/conn/libconn.a src/route/libroute.a \
	src/io/libio.a src/wire/libwire.a src/settings/libsettings.a src/base/libbase.a \
	$(CONFUSE_LIBS) $(EV_LIBS) $(CHECK_LIBS)
endif
