# Examples of modules: not built here but by their own Makefile, which the system test runs.
EXTRA_DIST += \
	contrib/examples/Makefile \
	contrib/examples/files.c contrib/examples/files.conf \
	contrib/examples/hello.c contrib/examples/hello.conf \
	contrib/examples/login.c contrib/examples/login.conf \
	contrib/examples/room.c contrib/examples/room.conf
