noinst_LIBRARIES += src/conn/libconn.a
src_conn_libconn_a_SOURCES = \
	src/conn/accept.c src/conn/accept.h \
	src/conn/callbacks.c src/conn/callbacks.h \
	src/conn/conn.c src/conn/conn.h src/conn/parts.h \
	src/conn/connect.c src/conn/connect.h \
	src/conn/deadline.c \
	src/conn/extras.c src/conn/extras.h \
	src/conn/heartbeat.c \
	src/conn/listener.h \
	src/conn/moving.c src/conn/moving.h \
	src/conn/names.c src/conn/names.h \
	src/conn/read.c \
	src/conn/replies.c src/conn/replies.h \
	src/conn/send.c \
	src/conn/shared.c src/conn/shared.h \
	src/conn/slot_page.h \
	src/conn/stopwatch.c src/conn/stopwatch.h \
	src/conn/table.c src/conn/table.h \
	src/conn/tally.c src/conn/tally.h \
	src/conn/timers.c src/conn/timers.h
src_conn_libconn_a_CFLAGS = $(AM_CFLAGS) $(EV_CFLAGS)

if HAVE_CHECK
check_PROGRAMS += tests/unit/test-conn
TESTS += tests/unit/test-conn
tests_unit_test_conn_SOURCES = \
	tests/unit/test_conn.c tests/unit/test_conn.h \
	tests/unit/test_conn_accepting.c \
	tests/unit/test_conn_closing.c \
	tests/unit/test_conn_connecting.c \
	tests/unit/test_conn_extras.c \
	tests/unit/test_conn_framings.c \
	tests/unit/test_conn_heartbeat.c \
	tests/unit/test_conn_holding.c \
	tests/unit/test_conn_hooks.c \
	tests/unit/test_conn_mixture.c \
	tests/unit/test_conn_moving.c \
	tests/unit/test_conn_names.c \
	tests/unit/test_conn_overflow.c \
	tests/unit/test_conn_receiving.c \
	tests/unit/test_conn_rig.c tests/unit/test_conn_rig.h \
	tests/unit/test_conn_sending.c \
	tests/unit/test_conn_shortage.c \
	tests/unit/test_conn_tally.c \
	tests/unit/test_conn_timeouts.c \
	tests/unit/test_conn_timers.c \
	tests/unit/test_conn_times.c
tests_unit_test_conn_CFLAGS = $(AM_CFLAGS) $(EV_CFLAGS) $(CHECK_CFLAGS)
tests_unit_test_conn_LDADD = src/conn/libconn.a src/route/libroute.a src/io/libio.a \
	src/wire/libwire.a src/settings/libsettings.a src/base/libbase.a \
	$(CONFUSE_LIBS) $(EV_LIBS) $(CHECK_LIBS)
endif
