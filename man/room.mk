# Each manual adds itself to dist_man_MANS in the fragment of what it is about: those of runneld
# and of its header here, others in their rooms'.
dist_man_MANS += man/runnel-tutorial.7
dist_man_MANS += man/runnel-zinx.7
dist_man_MANS += man/runnel_module.3
dist_man_MANS += man/runneld.8

# What the manuals call their paths by is the default; installed ones name those of this
# installation.
noinst_DATA = man/paths.sed
CLEANFILES += man/paths.sed man/page

man/paths.sed: Makefile
	$(AM_V_GEN)$(MKDIR_P) man
	$(AM_V_at){ \
		echo 's|/usr/local/etc/runnel|$(runnelconfdir)|g'; \
		echo 's|/usr/local/include|$(includedir)|g'; \
		echo 's|/usr/local/lib/runnel/modules|$(modulesdir)|g'; \
		echo 's|/usr/local/libexec/runnel|$(pkglibexecdir)|g'; \
		echo 's|/usr/local/share/doc/runnel/examples|$(examplesdir)|g'; \
	} >$@.new
	$(AM_V_at)mv $@.new $@

# A page that --program-transform-name has renamed keeps the defaults.
install-data-hook: install-manual-paths
install-manual-paths: man/paths.sed
	@for page in $(dist_man_MANS); do \
		installed="$(DESTDIR)$(mandir)/man$${page##*.}/$${page##*/}"; \
		test -f "$$installed" || continue; \
		$(SED) -f man/paths.sed "$(srcdir)/$$page" >man/page || exit 1; \
		$(INSTALL_DATA) man/page "$$installed" || exit 1; \
	done
	@rm -f man/page

.PHONY: install-manual-paths
