# A client that is not ours, in Go; skipped where that or the module proxy is missing.
dist_check_SCRIPTS += tests/interop/run.sh
TESTS += tests/interop/run.sh
EXTRA_DIST += tests/interop/go.mod tests/interop/go.sum tests/interop/main.go

# A Prometheus that scrapes it; skipped where there is none.
dist_check_SCRIPTS += tests/interop/prometheus.sh
TESTS += tests/interop/prometheus.sh
