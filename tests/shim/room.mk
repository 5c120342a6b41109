# For LD_PRELOAD; .ci/run runs the system tests with it. Not linked with AM_LDFLAGS, which make
# programs.
check_LTLIBRARIES += tests/shim/verify.la
tests_shim_verify_la_SOURCES = tests/shim/verify.c
tests_shim_verify_la_CPPFLAGS = $(AM_CPPFLAGS) $(EV_CFLAGS)
tests_shim_verify_la_LDFLAGS = -module -avoid-version -shared -rpath /nowhere
tests_shim_verify_la_LIBADD = $(EV_LIBS)
