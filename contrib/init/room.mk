# Service files, with the paths of this installation. All are made; configure's options say which
# of them are installed, and where.
init_files = \
	contrib/init/logrotate.d/runneld \
	contrib/init/openrc/runneld \
	contrib/init/systemd/runneld.service \
	contrib/init/systemd/runneld.socket \
	contrib/init/sysusers.d/runnel.conf \
	contrib/init/sysv/runneld \
	contrib/init/tmpfiles.d/runnel.conf
EXTRA_DIST += \
	contrib/init/logrotate.d/runneld.in \
	contrib/init/openrc/runneld.in \
	contrib/init/systemd/runneld.service.in \
	contrib/init/systemd/runneld.socket.in \
	contrib/init/sysusers.d/runnel.conf.in \
	contrib/init/sysv/runneld.in \
	contrib/init/tmpfiles.d/runnel.conf.in
CLEANFILES += $(init_files)
nodist_noinst_DATA = $(init_files)

$(init_files): Makefile
	$(AM_V_GEN)$(MKDIR_P) $(@D)
	$(AM_V_at)$(SED) -e 's|@sbindir[@]|$(sbindir)|g' -e 's|@sysconfdir[@]|$(sysconfdir)|g' \
		-e 's|@localstatedir[@]|$(localstatedir)|g' -e 's|@runstatedir[@]|$(runstatedir)|g' \
		-e 's|@conf[@]|$(runnelconfdir)/runnel.conf|g' $(srcdir)/$@.in >$@.new
	$(AM_V_at)mv $@.new $@

contrib/init/logrotate.d/runneld: contrib/init/logrotate.d/runneld.in
contrib/init/openrc/runneld: contrib/init/openrc/runneld.in
contrib/init/systemd/runneld.service: contrib/init/systemd/runneld.service.in
contrib/init/systemd/runneld.socket: contrib/init/systemd/runneld.socket.in
contrib/init/sysusers.d/runnel.conf: contrib/init/sysusers.d/runnel.conf.in
contrib/init/sysv/runneld: contrib/init/sysv/runneld.in
contrib/init/tmpfiles.d/runnel.conf: contrib/init/tmpfiles.d/runnel.conf.in

if WITH_SYSTEMDSYSTEMUNITDIR
nodist_systemdsystemunit_DATA = \
	contrib/init/systemd/runneld.service \
	contrib/init/systemd/runneld.socket
endif
if WITH_SYSUSERSDIR
nodist_sysusers_DATA = contrib/init/sysusers.d/runnel.conf
endif
if WITH_TMPFILESDIR
nodist_tmpfiles_DATA = contrib/init/tmpfiles.d/runnel.conf
endif
if WITH_LOGROTATEDIR
nodist_logrotate_DATA = contrib/init/logrotate.d/runneld
endif
if WITH_SYSV
nodist_init_SCRIPTS = contrib/init/sysv/runneld
endif
if WITH_OPENRC
nodist_init_SCRIPTS = contrib/init/openrc/runneld
endif

# So that make distcheck installs them, and takes them away.
AM_DISTCHECK_CONFIGURE_FLAGS = \
	--with-systemdsystemunitdir='$${prefix}/lib/systemd/system' \
	--with-sysusersdir='$${prefix}/lib/sysusers.d' \
	--with-tmpfilesdir='$${prefix}/lib/tmpfiles.d' \
	--with-logrotatedir='$${sysconfdir}/logrotate.d' \
	--with-initscripts=sysv

init_tests = \
	tests/system/logrotate.sh \
	tests/system/sysv.sh \
	tests/system/units.sh

dist_check_SCRIPTS += $(init_tests)
TESTS += $(init_tests)
