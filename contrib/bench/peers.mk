# The comparison with other servers: run by hand, never by make. It needs Python, and for the
# peers Go and its module proxy; "make check" tests its pure parts where there is a Python.
dist_noinst_SCRIPTS += contrib/bench/builds contrib/bench/compare contrib/bench/conns contrib/bench/jobs \
	contrib/bench/pressure
dist_check_SCRIPTS += contrib/bench/tests/check
TESTS += contrib/bench/tests/check
EXTRA_DIST += \
	contrib/bench/README.md \
	contrib/bench/jobs.c \
	contrib/bench/comparison/__init__.py \
	contrib/bench/comparison/builds.py \
	contrib/bench/comparison/chart.py \
	contrib/bench/comparison/conns.py \
	contrib/bench/comparison/goals.py \
	contrib/bench/comparison/jobs.py \
	contrib/bench/comparison/loadgen.py \
	contrib/bench/comparison/main.py \
	contrib/bench/comparison/memory.py \
	contrib/bench/comparison/peers.py \
	contrib/bench/comparison/pressure.py \
	contrib/bench/comparison/procfs.py \
	contrib/bench/comparison/protocol.py \
	contrib/bench/comparison/report.py \
	contrib/bench/comparison/results.py \
	contrib/bench/comparison/servers.py \
	contrib/bench/comparison/shapes.py \
	contrib/bench/comparison/stats.py \
	contrib/bench/peers/gnet/go.mod \
	contrib/bench/peers/gnet/go.sum \
	contrib/bench/peers/gnet/main.go \
	contrib/bench/peers/zinx/go.mod \
	contrib/bench/peers/zinx/go.sum \
	contrib/bench/peers/zinx/main.go \
	contrib/bench/peers/zinx/patch/after.go \
	contrib/bench/peers/zinx/patch/newest.go \
	contrib/bench/tests/test_lifecycle.py \
	contrib/bench/tests/test_main.py \
	contrib/bench/tests/test_peers.py \
	contrib/bench/tests/test_protocol.py \
	contrib/bench/tests/test_report.py \
	contrib/bench/tests/test_stats.py \
	contrib/bench/results/README.md \
	contrib/bench/results/c10k-1000.txt \
	contrib/bench/results/c10k-16.svg \
	contrib/bench/results/c10k-think.svg \
	contrib/bench/results/c10k.svg \
	contrib/bench/results/c1k-16.svg \
	contrib/bench/results/c1k.svg \
	contrib/bench/results/decoders.md \
	contrib/bench/results/mix.svg \
	contrib/bench/results/reconnect.svg \
	contrib/bench/results/results.json \
	contrib/bench/results/results.md
