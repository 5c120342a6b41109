# A program that only the master starts: runneld itself does not need libmicrohttpd.
http_files = \
	src/http/page.html src/http/page.css src/http/page.js \
	src/http/chart.js src/http/elements.js src/http/figures.js src/http/sample.js
EXTRA_DIST += $(http_files) src/http/embed.sh

if HAVE_HTTP
pkglibexec_PROGRAMS += runnel-http
noinst_LIBRARIES += src/http/libhttp.a
src_http_libhttp_a_SOURCES = \
	src/http/embedded.h \
	src/http/health.c src/http/health.h \
	src/http/host.c src/http/host.h \
	src/http/inquiry.c src/http/inquiry.h \
	src/http/reply.c src/http/reply.h \
	src/http/server.c src/http/server.h \
	src/http/visitors.c src/http/visitors.h
nodist_src_http_libhttp_a_SOURCES = src/http/embedded.c
src_http_libhttp_a_CFLAGS = $(AM_CFLAGS) $(JANSSON_CFLAGS) $(MICROHTTPD_CFLAGS)
http_libs = src/http/libhttp.a src/base/libbase.a $(JANSSON_LIBS) $(MICROHTTPD_LIBS)

dist_man_MANS += man/runnel-http.8
runnel_http_SOURCES = src/http/main.c
runnel_http_LDADD = $(http_libs)

src/http/embedded.c: $(http_files) src/http/embed.sh
	$(AM_V_GEN)$(MKDIR_P) src/http && \
		(cd $(srcdir) && $(SHELL) src/http/embed.sh $(http_files)) >$@.new && mv $@.new $@
CLEANFILES += src/http/embedded.c src/http/embedded.c.new

if HAVE_CHECK
check_PROGRAMS += tests/unit/test-http
TESTS += tests/unit/test-http
tests_unit_test_http_SOURCES = tests/unit/test_http.c
tests_unit_test_http_CFLAGS = $(AM_CFLAGS) $(JANSSON_CFLAGS) $(CHECK_CFLAGS)
tests_unit_test_http_LDADD = $(http_libs) $(CHECK_LIBS)
endif
endif
