# For LD_PRELOAD: .ci/run runs the system tests with verify, the test g_faults runs runneld with
# fault, and f_relay_faults with wall. Not linked with AM_LDFLAGS, which make programs.
check_LTLIBRARIES += tests/shim/verify.la
tests_shim_verify_la_SOURCES = tests/shim/verify.c
tests_shim_verify_la_CPPFLAGS = $(AM_CPPFLAGS) $(EV_CFLAGS)
tests_shim_verify_la_LDFLAGS = -module -avoid-version -shared -rpath /nowhere
tests_shim_verify_la_LIBADD = $(EV_LIBS)

check_LTLIBRARIES += tests/shim/fault.la
tests_shim_fault_la_SOURCES = tests/shim/fault.c
# Fortified headers define recv(2), so that it cannot be defined again.
tests_shim_fault_la_CFLAGS = $(AM_CFLAGS) -U_FORTIFY_SOURCE
tests_shim_fault_la_LDFLAGS = -module -avoid-version -shared -rpath /nowhere
tests_shim_fault_la_LIBADD = -ldl

check_LTLIBRARIES += tests/shim/wall.la
tests_shim_wall_la_SOURCES = tests/shim/wall.c
tests_shim_wall_la_LDFLAGS = -module -avoid-version -shared -rpath /nowhere
