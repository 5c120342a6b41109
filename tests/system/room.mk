# The real daemon, driven from outside. Lettered: basics fail first.
if HAVE_CHECK
SYSTEM_TESTS = \
	tests/system/a_wire \
	tests/system/b_conf \
	tests/system/b_framings \
	tests/system/b_reach \
	tests/system/b_start \
	tests/system/c_conns \
	tests/system/c_control \
	tests/system/c_ctl \
	tests/system/c_drain \
	tests/system/c_figures \
	tests/system/c_journal \
	tests/system/c_log \
	tests/system/c_privileges \
	tests/system/c_process \
	tests/system/c_reload \
	tests/system/c_send \
	tests/system/c_upgrade \
	tests/system/c_watchdog \
	tests/system/c_service \
	tests/system/d_limits \
	tests/system/e_close \
	tests/system/e_queue \
	tests/system/f_calls \
	tests/system/f_keep \
	tests/system/f_metrics \
	tests/system/f_module \
	tests/system/f_relay \
	tests/system/f_relay_faults \
	tests/system/f_routing \
	tests/system/f_time \
	tests/system/f_work \
	tests/system/g_bench \
	tests/system/g_churn \
	tests/system/g_examples \
	tests/system/g_faults

if HAVE_HTTP
SYSTEM_TESTS += tests/system/c_http tests/system/c_http_helper
endif

SYSTEM_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/tests \
	-DBUILD_DIR='"$(abs_top_builddir)"' \
	-DOUR_MODULES='"$(abs_top_builddir)/src/modules/.libs"' \
	-DSHIMS='"$(abs_top_builddir)/tests/shim/.libs"' \
	-DTEST_MODULES='"$(abs_top_builddir)/tests/system/modules/.libs"'
SYSTEM_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
SYSTEM_LDADD = tests/system/libsystem.a $(CHECK_LIBS)

check_PROGRAMS += $(SYSTEM_TESTS)
TESTS += $(SYSTEM_TESTS)

check_LIBRARIES = tests/system/libsystem.a
tests_system_libsystem_a_CPPFLAGS = $(SYSTEM_CPPFLAGS)
tests_system_libsystem_a_CFLAGS = $(SYSTEM_CFLAGS)
tests_system_libsystem_a_SOURCES = \
	tests/system/backend.c tests/system/backend.h \
	tests/system/client.c tests/system/client.h \
	tests/system/ctl.c tests/system/ctl.h \
	tests/system/daemon.c tests/system/daemon.h \
	tests/system/http.c tests/system/http.h \
	tests/system/probe.c tests/system/probe.h \
	tests/system/process.c tests/system/process.h \
	tests/system/relay.c tests/system/relay.h \
	tests/system/run.c tests/system/run.h \
	tests/system/wait.c tests/system/wait.h

tests_system_a_wire_CPPFLAGS = $(SYSTEM_CPPFLAGS)
tests_system_a_wire_CFLAGS = $(SYSTEM_CFLAGS)
tests_system_a_wire_LDADD = $(SYSTEM_LDADD)

tests_system_b_conf_CPPFLAGS = $(SYSTEM_CPPFLAGS)
tests_system_b_conf_CFLAGS = $(SYSTEM_CFLAGS)
tests_system_b_conf_LDADD = $(SYSTEM_LDADD)

tests_system_b_framings_CPPFLAGS = $(SYSTEM_CPPFLAGS)
tests_system_b_framings_CFLAGS = $(SYSTEM_CFLAGS)
tests_system_b_framings_LDADD = $(SYSTEM_LDADD)

tests_system_b_reach_CPPFLAGS = $(SYSTEM_CPPFLAGS)
tests_system_b_reach_CFLAGS = $(SYSTEM_CFLAGS)
tests_system_b_reach_LDADD = $(SYSTEM_LDADD)

tests_system_b_start_CPPFLAGS = $(SYSTEM_CPPFLAGS)
tests_system_b_start_CFLAGS = $(SYSTEM_CFLAGS)
tests_system_b_start_LDADD = $(SYSTEM_LDADD)

tests_system_c_control_CPPFLAGS = $(SYSTEM_CPPFLAGS)
tests_system_c_control_CFLAGS = $(SYSTEM_CFLAGS)
tests_system_c_control_LDADD = $(SYSTEM_LDADD)

tests_system_c_drain_CPPFLAGS = $(SYSTEM_CPPFLAGS)
tests_system_c_drain_CFLAGS = $(SYSTEM_CFLAGS)
tests_system_c_drain_LDADD = $(SYSTEM_LDADD)

tests_system_c_figures_CPPFLAGS = $(SYSTEM_CPPFLAGS)
tests_system_c_figures_CFLAGS = $(SYSTEM_CFLAGS)
tests_system_c_figures_LDADD = $(SYSTEM_LDADD)

tests_system_c_journal_CPPFLAGS = $(SYSTEM_CPPFLAGS)
tests_system_c_journal_CFLAGS = $(SYSTEM_CFLAGS) $(JANSSON_CFLAGS)
tests_system_c_journal_LDADD = $(SYSTEM_LDADD) $(JANSSON_LIBS)

tests_system_c_log_CPPFLAGS = $(SYSTEM_CPPFLAGS)
tests_system_c_log_CFLAGS = $(SYSTEM_CFLAGS)
tests_system_c_log_LDADD = $(SYSTEM_LDADD)

tests_system_c_privileges_CPPFLAGS = $(SYSTEM_CPPFLAGS)
tests_system_c_privileges_CFLAGS = $(SYSTEM_CFLAGS)
tests_system_c_privileges_LDADD = $(SYSTEM_LDADD)

tests_system_c_http_CPPFLAGS = $(SYSTEM_CPPFLAGS)
tests_system_c_http_CFLAGS = $(SYSTEM_CFLAGS)
tests_system_c_http_LDADD = $(SYSTEM_LDADD)

tests_system_c_http_helper_CPPFLAGS = $(SYSTEM_CPPFLAGS)
tests_system_c_http_helper_CFLAGS = $(SYSTEM_CFLAGS)
tests_system_c_http_helper_LDADD = $(SYSTEM_LDADD)

tests_system_c_conns_CPPFLAGS = $(SYSTEM_CPPFLAGS)
tests_system_c_conns_CFLAGS = $(SYSTEM_CFLAGS)
tests_system_c_conns_LDADD = $(SYSTEM_LDADD)

tests_system_c_ctl_CPPFLAGS = $(SYSTEM_CPPFLAGS)
tests_system_c_ctl_CFLAGS = $(SYSTEM_CFLAGS)
tests_system_c_ctl_LDADD = $(SYSTEM_LDADD)

tests_system_c_process_CPPFLAGS = $(SYSTEM_CPPFLAGS)
tests_system_c_process_CFLAGS = $(SYSTEM_CFLAGS)
tests_system_c_process_LDADD = $(SYSTEM_LDADD)

tests_system_c_reload_CPPFLAGS = $(SYSTEM_CPPFLAGS)
tests_system_c_reload_CFLAGS = $(SYSTEM_CFLAGS)
tests_system_c_reload_LDADD = $(SYSTEM_LDADD)

tests_system_c_upgrade_CPPFLAGS = $(SYSTEM_CPPFLAGS)
tests_system_c_upgrade_CFLAGS = $(SYSTEM_CFLAGS)
tests_system_c_upgrade_LDADD = $(SYSTEM_LDADD)

tests_system_c_watchdog_CPPFLAGS = $(SYSTEM_CPPFLAGS)
tests_system_c_watchdog_CFLAGS = $(SYSTEM_CFLAGS)
tests_system_c_watchdog_LDADD = $(SYSTEM_LDADD)
tests_system_c_service_CPPFLAGS = $(SYSTEM_CPPFLAGS)
tests_system_c_service_CFLAGS = $(SYSTEM_CFLAGS)
tests_system_c_service_LDADD = $(SYSTEM_LDADD)

tests_system_c_send_CPPFLAGS = $(SYSTEM_CPPFLAGS)
tests_system_c_send_CFLAGS = $(SYSTEM_CFLAGS)
tests_system_c_send_LDADD = $(SYSTEM_LDADD)

tests_system_d_limits_CPPFLAGS = $(SYSTEM_CPPFLAGS)
tests_system_d_limits_CFLAGS = $(SYSTEM_CFLAGS)
tests_system_d_limits_LDADD = $(SYSTEM_LDADD)

tests_system_e_close_CPPFLAGS = $(SYSTEM_CPPFLAGS)
tests_system_e_close_CFLAGS = $(SYSTEM_CFLAGS)
tests_system_e_close_LDADD = $(SYSTEM_LDADD)

tests_system_e_queue_CPPFLAGS = $(SYSTEM_CPPFLAGS)
tests_system_e_queue_CFLAGS = $(SYSTEM_CFLAGS)
tests_system_e_queue_LDADD = $(SYSTEM_LDADD)

tests_system_f_calls_CPPFLAGS = $(SYSTEM_CPPFLAGS)
tests_system_f_calls_CFLAGS = $(SYSTEM_CFLAGS)
tests_system_f_calls_LDADD = $(SYSTEM_LDADD)

tests_system_f_keep_CPPFLAGS = $(SYSTEM_CPPFLAGS)
tests_system_f_keep_CFLAGS = $(SYSTEM_CFLAGS)
tests_system_f_keep_LDADD = $(SYSTEM_LDADD)

tests_system_f_metrics_CPPFLAGS = $(SYSTEM_CPPFLAGS)
tests_system_f_metrics_CFLAGS = $(SYSTEM_CFLAGS)
tests_system_f_metrics_LDADD = $(SYSTEM_LDADD)

tests_system_f_module_CPPFLAGS = $(SYSTEM_CPPFLAGS)
tests_system_f_module_CFLAGS = $(SYSTEM_CFLAGS)
tests_system_f_module_LDADD = $(SYSTEM_LDADD)

tests_system_f_relay_CPPFLAGS = $(SYSTEM_CPPFLAGS)
tests_system_f_relay_CFLAGS = $(SYSTEM_CFLAGS)
tests_system_f_relay_LDADD = $(SYSTEM_LDADD)

tests_system_f_relay_faults_CPPFLAGS = $(SYSTEM_CPPFLAGS)
tests_system_f_relay_faults_CFLAGS = $(SYSTEM_CFLAGS)
tests_system_f_relay_faults_LDADD = $(SYSTEM_LDADD)
tests_system_f_routing_CPPFLAGS = $(SYSTEM_CPPFLAGS)
tests_system_f_routing_CFLAGS = $(SYSTEM_CFLAGS)
tests_system_f_routing_LDADD = $(SYSTEM_LDADD)

tests_system_f_time_CPPFLAGS = $(SYSTEM_CPPFLAGS)
tests_system_f_time_CFLAGS = $(SYSTEM_CFLAGS)
tests_system_f_time_LDADD = $(SYSTEM_LDADD)

tests_system_f_work_CPPFLAGS = $(SYSTEM_CPPFLAGS)
tests_system_f_work_CFLAGS = $(SYSTEM_CFLAGS)
tests_system_f_work_LDADD = $(SYSTEM_LDADD)

tests_system_g_bench_CPPFLAGS = $(SYSTEM_CPPFLAGS)
tests_system_g_bench_CFLAGS = $(SYSTEM_CFLAGS)
tests_system_g_bench_LDADD = $(SYSTEM_LDADD)

tests_system_g_churn_CPPFLAGS = $(SYSTEM_CPPFLAGS)
tests_system_g_churn_CFLAGS = $(SYSTEM_CFLAGS)
tests_system_g_churn_LDADD = $(SYSTEM_LDADD)

tests_system_g_examples_CPPFLAGS = $(SYSTEM_CPPFLAGS) \
	-DEXAMPLES='"$(abs_top_srcdir)/contrib/examples"'
tests_system_g_examples_CFLAGS = $(SYSTEM_CFLAGS)
tests_system_g_examples_LDADD = $(SYSTEM_LDADD)

tests_system_g_faults_CPPFLAGS = $(SYSTEM_CPPFLAGS)
tests_system_g_faults_CFLAGS = $(SYSTEM_CFLAGS)
tests_system_g_faults_LDADD = $(SYSTEM_LDADD)

# Modules as somebody else would write them; -rpath makes libtool build them shared.
SYSTEM_MODULE_CPPFLAGS = $(MODULE_CPPFLAGS) -I$(top_srcdir)/tests
SYSTEM_MODULE_LDFLAGS = $(MODULE_LDFLAGS) -rpath /nowhere

check_LTLIBRARIES += \
	tests/system/modules/chain.la \
	tests/system/modules/demand.la \
	tests/system/modules/keeper.la \
	tests/system/modules/framer.la \
	tests/system/modules/jobs.la \
	tests/system/modules/meter.la \
	tests/system/modules/newer_major.la \
	tests/system/modules/newer_minor.la \
	tests/system/modules/no_symbol.la \
	tests/system/modules/probe.la \
	tests/system/modules/rights.la

tests_system_modules_chain_la_SOURCES = \
	tests/system/modules/chain.c tests/system/modules/chain.h
tests_system_modules_chain_la_CPPFLAGS = $(SYSTEM_MODULE_CPPFLAGS)
tests_system_modules_chain_la_LDFLAGS = $(SYSTEM_MODULE_LDFLAGS)
tests_system_modules_demand_la_CPPFLAGS = $(SYSTEM_MODULE_CPPFLAGS)
tests_system_modules_demand_la_LDFLAGS = $(SYSTEM_MODULE_LDFLAGS)
tests_system_modules_keeper_la_SOURCES = \
	tests/system/modules/keeper.c tests/system/modules/keeper.h
tests_system_modules_keeper_la_CPPFLAGS = $(SYSTEM_MODULE_CPPFLAGS)
tests_system_modules_keeper_la_LDFLAGS = $(SYSTEM_MODULE_LDFLAGS)
tests_system_modules_framer_la_CPPFLAGS = $(SYSTEM_MODULE_CPPFLAGS)
tests_system_modules_framer_la_LDFLAGS = $(SYSTEM_MODULE_LDFLAGS)
tests_system_modules_jobs_la_SOURCES = \
	tests/system/modules/jobs.c tests/system/modules/jobs.h
tests_system_modules_jobs_la_CPPFLAGS = $(SYSTEM_MODULE_CPPFLAGS)
tests_system_modules_jobs_la_LDFLAGS = $(SYSTEM_MODULE_LDFLAGS)
tests_system_modules_meter_la_SOURCES = \
	tests/system/modules/meter.c tests/system/modules/meter.h
tests_system_modules_meter_la_CPPFLAGS = $(SYSTEM_MODULE_CPPFLAGS)
tests_system_modules_meter_la_LDFLAGS = $(SYSTEM_MODULE_LDFLAGS)
tests_system_modules_newer_major_la_CPPFLAGS = $(SYSTEM_MODULE_CPPFLAGS)
tests_system_modules_newer_major_la_LDFLAGS = $(SYSTEM_MODULE_LDFLAGS)
tests_system_modules_newer_minor_la_CPPFLAGS = $(SYSTEM_MODULE_CPPFLAGS)
tests_system_modules_newer_minor_la_LDFLAGS = $(SYSTEM_MODULE_LDFLAGS)
tests_system_modules_no_symbol_la_CPPFLAGS = $(SYSTEM_MODULE_CPPFLAGS)
tests_system_modules_no_symbol_la_LDFLAGS = $(SYSTEM_MODULE_LDFLAGS)
tests_system_modules_probe_la_SOURCES = \
	tests/system/modules/probe.c tests/system/modules/probe.h
tests_system_modules_probe_la_CPPFLAGS = $(SYSTEM_MODULE_CPPFLAGS) $(EV_CFLAGS)
tests_system_modules_probe_la_LDFLAGS = $(SYSTEM_MODULE_LDFLAGS)
tests_system_modules_probe_la_LIBADD = $(EV_LIBS)
tests_system_modules_rights_la_CPPFLAGS = $(SYSTEM_MODULE_CPPFLAGS)
tests_system_modules_rights_la_LDFLAGS = $(SYSTEM_MODULE_LDFLAGS)
endif
