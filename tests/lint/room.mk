lint_scripts = \
	tests/lint/alerts.sh \
	tests/lint/completion.sh \
	tests/lint/counters.sh \
	tests/lint/examples.sh \
	tests/lint/format.sh \
	tests/lint/header.sh \
	tests/lint/host.sh \
	tests/lint/includes.sh \
	tests/lint/manuals.sh \
	tests/lint/metrics.sh \
	tests/lint/pkgconfig.sh \
	tests/lint/readme.sh \
	tests/lint/shell.sh \
	tests/lint/tutorial.sh \
	tests/lint/words.sh \
	tests/lint/zinx.sh

dist_check_SCRIPTS += $(lint_scripts)
TESTS += $(lint_scripts)
AM_TESTS_ENVIRONMENT += CC='$(CC)'; export CC;

check_PROGRAMS += tests/lint/metrics-list
tests_lint_metrics_list_SOURCES = tests/lint/metrics_list.c
tests_lint_metrics_list_LDADD = src/master/libmaster.a src/base/libbase.a
