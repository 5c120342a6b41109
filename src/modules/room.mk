# Modules see the installed header only, as anybody's do.
modules_LTLIBRARIES += src/modules/c10k.la src/modules/echo.la

src_modules_c10k_la_SOURCES = src/modules/c10k.c
src_modules_c10k_la_CPPFLAGS = $(MODULE_CPPFLAGS)
src_modules_c10k_la_LDFLAGS = $(MODULE_LDFLAGS)

src_modules_echo_la_SOURCES = src/modules/echo.c
src_modules_echo_la_CPPFLAGS = $(MODULE_CPPFLAGS)
src_modules_echo_la_LDFLAGS = $(MODULE_LDFLAGS)

# A module is loaded by its .so alone. The .la file that libtool puts beside it is not kept, so
# uninstalling takes the .so away by name.
install-data-hook: remove-module-la
remove-module-la:
	@rm -f "$(DESTDIR)$(modulesdir)/c10k.la" "$(DESTDIR)$(modulesdir)/echo.la"

uninstall-hook: uninstall-modules
uninstall-modules:
	@rm -f "$(DESTDIR)$(modulesdir)/c10k.so" "$(DESTDIR)$(modulesdir)/echo.so"

.PHONY: remove-module-la uninstall-modules
