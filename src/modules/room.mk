# Modules see the installed header only, as anybody's do.
modules_LTLIBRARIES += src/modules/c10k.la src/modules/echo.la

src_modules_c10k_la_SOURCES = src/modules/c10k.c
src_modules_c10k_la_CPPFLAGS = $(MODULE_CPPFLAGS)
src_modules_c10k_la_LDFLAGS = $(MODULE_LDFLAGS)

src_modules_echo_la_SOURCES = src/modules/echo.c
src_modules_echo_la_CPPFLAGS = $(MODULE_CPPFLAGS)
src_modules_echo_la_LDFLAGS = $(MODULE_LDFLAGS)
