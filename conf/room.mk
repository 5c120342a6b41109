# The sample goes among the examples; it becomes the conf only where there is none yet, and is
# taken away again only as long as nobody has changed it.
runnelconfdir = $(sysconfdir)/$(PACKAGE)
examplesdir = $(docdir)/examples
nodist_examples_DATA = conf/installed/runnel.conf
dist_examples_DATA = conf/minimal.conf conf/relay.conf
EXTRA_DIST += conf/runnel.conf
CLEANFILES += conf/installed/runnel.conf

# The installed one shows where this installation has its modules and programs.
conf/installed/runnel.conf: $(srcdir)/conf/runnel.conf Makefile
	$(AM_V_GEN)$(MKDIR_P) conf/installed
	$(AM_V_at)$(SED) -e 's|/usr/local/lib/runnel/modules|$(modulesdir)|' \
		-e 's|/usr/local/libexec/runnel|$(pkglibexecdir)|' \
		$(srcdir)/conf/runnel.conf >$@.new
	$(AM_V_at)mv $@.new $@

install-data-hook: install-runnelconf
install-runnelconf:
	@$(MKDIR_P) "$(DESTDIR)$(runnelconfdir)"
	@if test -e "$(DESTDIR)$(runnelconfdir)/runnel.conf"; then \
		echo "kept $(DESTDIR)$(runnelconfdir)/runnel.conf as it is"; \
	else \
		$(INSTALL_DATA) conf/installed/runnel.conf "$(DESTDIR)$(runnelconfdir)"; \
	fi

uninstall-hook: uninstall-runnelconf
uninstall-runnelconf: conf/installed/runnel.conf
	@if cmp -s conf/installed/runnel.conf "$(DESTDIR)$(runnelconfdir)/runnel.conf"; then \
		rm -f "$(DESTDIR)$(runnelconfdir)/runnel.conf"; \
	fi
	@rmdir "$(DESTDIR)$(runnelconfdir)" 2>/dev/null || :

.PHONY: install-runnelconf uninstall-runnelconf
