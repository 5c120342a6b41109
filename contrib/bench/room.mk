# The floor of the comparisons; the bench room's system test drives it too.
EXTRA_DIST += contrib/bench/instructions contrib/bench/routing

noinst_PROGRAMS += contrib/bench/decoders contrib/bench/floor contrib/bench/routes
contrib_bench_routes_SOURCES = contrib/bench/routes.c
contrib_bench_routes_LDADD = src/route/libroute.a src/base/libbase.a
contrib_bench_decoders_SOURCES = contrib/bench/decoders.c
contrib_bench_decoders_LDADD = src/wire/libwire.a
dist_check_SCRIPTS += contrib/bench/tests/decoders
TESTS += contrib/bench/tests/decoders
contrib_bench_floor_SOURCES = contrib/bench/floor.c

# The clients of the lifecycle proofs; tests/system/g_churn drives them too.
noinst_PROGRAMS += contrib/bench/lifecycle/churn
contrib_bench_lifecycle_churn_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/contrib/bench
contrib_bench_lifecycle_churn_SOURCES = \
	contrib/bench/lifecycle/churn.c \
	contrib/bench/lifecycle/guest.c contrib/bench/lifecycle/guest.h \
	contrib/bench/lifecycle/ledger.c contrib/bench/lifecycle/ledger.h
contrib_bench_lifecycle_churn_LDADD = \
	src/bench/libbench.a src/wire/libwire.a src/base/libbase.a

dist_noinst_SCRIPTS += contrib/bench/lifecycle/run
EXTRA_DIST += \
	contrib/bench/lifecycle/proofs/__init__.py \
	contrib/bench/lifecycle/proofs/daemon.py \
	contrib/bench/lifecycle/proofs/load.py \
	contrib/bench/lifecycle/proofs/main.py \
	contrib/bench/lifecycle/proofs/scenarios.py
