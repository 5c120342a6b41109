# The status page in a real browser; skipped where there is none.
dist_check_SCRIPTS += tests/browser/run.sh
TESTS += tests/browser/run.sh
EXTRA_DIST += \
	contrib/screenshots/status-page-dark.png \
	contrib/screenshots/status-page-light.png \
	tests/browser/browser.py \
	tests/browser/daemon.py \
	tests/browser/screenshots.py \
	tests/browser/test_page.py \
	tests/browser/told.js
