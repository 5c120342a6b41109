noinst_LIBRARIES += src/master/libmaster.a
src_master_libmaster_a_SOURCES = \
	src/master/checker.c src/master/checker.h \
	src/master/detach.c src/master/detach.h \
	src/master/master.c src/master/master.h \
	src/master/pid_file.c src/master/pid_file.h \
	src/master/slots.c src/master/slots.h \
	src/master/sockets.c src/master/sockets.h
src_master_libmaster_a_CFLAGS = $(AM_CFLAGS) $(EV_CFLAGS)
