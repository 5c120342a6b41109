noinst_LIBRARIES += src/master/libmaster.a
src_master_libmaster_a_SOURCES = \
	src/master/checker.c src/master/checker.h \
	src/master/crew.c src/master/crew.h \
	src/master/detach.c src/master/detach.h \
	src/master/generation.c src/master/generation.h \
	src/master/inheritance.c src/master/inheritance.h \
	src/master/master.c src/master/master.h \
	src/master/pages.c src/master/pages.h \
	src/master/pid_file.c src/master/pid_file.h \
	src/master/process.c src/master/process.h \
	src/master/sockets.c src/master/sockets.h \
	src/master/succession.c src/master/succession.h \
	src/master/upgrade.c src/master/upgrade.h
src_master_libmaster_a_CFLAGS = $(AM_CFLAGS) $(EV_CFLAGS)
