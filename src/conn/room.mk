noinst_LIBRARIES += src/conn/libconn.a
src_conn_libconn_a_SOURCES = \
	src/conn/accept.c src/conn/accept.h \
	src/conn/conn.c src/conn/conn.h src/conn/parts.h \
	src/conn/deadline.c \
	src/conn/listener.h \
	src/conn/read.c \
	src/conn/send.c \
	src/conn/shared.c src/conn/shared.h \
	src/conn/slot_page.h \
	src/conn/table.c src/conn/table.h
src_conn_libconn_a_CFLAGS = $(AM_CFLAGS) $(EV_CFLAGS)
