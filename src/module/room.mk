noinst_LIBRARIES += src/module/libmodule.a
src_module_libmodule_a_SOURCES = \
	src/module/framings.c src/module/framings.h \
	src/module/host.c src/module/host.h \
	src/module/listeners.c src/module/listeners.h \
	src/module/metrics.c src/module/metrics.h \
	src/module/modules.c src/module/modules.h \
	src/module/object.c src/module/object.h \
	src/module/reach.c src/module/reach.h \
	src/module/work.c src/module/work.h
src_module_libmodule_a_CFLAGS = $(AM_CFLAGS) $(EV_CFLAGS)
