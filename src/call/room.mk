noinst_LIBRARIES += src/call/libcall.a
src_call_libcall_a_SOURCES = \
	src/call/call.c src/call/call.h \
	src/call/fds.h \
	src/call/ending.c src/call/ending.h \
	src/call/holder.c src/call/holder.h
src_call_libcall_a_CFLAGS = $(AM_CFLAGS) $(JANSSON_CFLAGS)
