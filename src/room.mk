pkginclude_HEADERS = src/api/runnel/module.h

# For those who build modules: what is installed, and what is only built here.
pkgconfigdir = $(libdir)/pkgconfig
pkgconfig_DATA = src/api/runnel.pc

sbin_PROGRAMS += runneld
runneld_SOURCES = src/main.c
runneld_CPPFLAGS = $(AM_CPPFLAGS) \
	-DDEFAULT_CONF='"$(sysconfdir)/$(PACKAGE)/runnel.conf"' \
	-DMODULE_DIR='"$(modulesdir)"' \
	-DBUILD_OPTIONS='"$(CC) $(CFLAGS)$(SAN_FLAGS)"'
runneld_CFLAGS = $(AM_CFLAGS) $(EV_CFLAGS)
runneld_LDADD = \
	src/master/libmaster.a \
	src/worker/libworker.a \
	src/module/libmodule.a \
	src/conn/libconn.a \
	src/route/libroute.a \
	src/io/libio.a \
	src/work/libwork.a \
	src/wire/libwire.a \
	src/settings/libsettings.a \
	src/call/libcall.a \
	src/base/libbase.a \
	$(CONFUSE_LIBS) $(JANSSON_LIBS) $(EV_LIBS)
