lint_scripts = \
	tests/lint/counters.sh \
	tests/lint/examples.sh \
	tests/lint/format.sh \
	tests/lint/header.sh \
	tests/lint/includes.sh \
	tests/lint/manuals.sh \
	tests/lint/pkgconfig.sh \
	tests/lint/readme.sh \
	tests/lint/shell.sh \
	tests/lint/tutorial.sh \
	tests/lint/words.sh \
	tests/lint/zinx.sh

dist_check_SCRIPTS += $(lint_scripts)
TESTS += $(lint_scripts)
AM_TESTS_ENVIRONMENT += CC='$(CC)'; export CC;
