# SPDX-License-Identifier: MIT
# What `make install`, `make uninstall` and `make deb` need beside the Makefile.
# The folders are those of the GNU coding standards, with two exceptions:
# sysconfdir and what is under /var and /run do not depend on prefix, since
# nginx, systemd and logrotate look there.

PREFIX ?= /usr/local
prefix ?= $(PREFIX)
exec_prefix ?= $(prefix)
sbindir ?= $(exec_prefix)/sbin
libdir ?= $(exec_prefix)/lib
libexecdir ?= $(exec_prefix)/libexec
datarootdir ?= $(prefix)/share
datadir ?= $(datarootdir)
mandir ?= $(datarootdir)/man
docdir ?= $(datarootdir)/doc/urlmode
bashcompletiondir ?= $(datarootdir)/bash-completion/completions
sysconfdir ?= /etc
localstatedir ?= /var
runstatedir ?= /run
systemdsystemunitdir ?= $(prefix)/lib/systemd/system
sysusersdir ?= $(prefix)/lib/sysusers.d
tmpfilesdir ?= $(prefix)/lib/tmpfiles.d

## Installing
.PHONY: release install uninstall deb dist
# The programs of `make build` read the descriptions of this tree; those that
# are installed read the installed ones. So they are linked apart.
release:        ## compile what `make install` installs, into build/release/
	+@$(MAKE) --no-print-directory BUILD=build/release COMMON=build \
		PROVIDERS_DIR=$(call quote,$(datadir)/urlmode/providers) build

# At the same time both would write what they have in common.
ifneq ($(filter build,$(MAKECMDGOALS)),)
release install: | build
endif

install:        ## install below DESTDIR, with the folders of nginx/install.mk (PREFIX=/usr/local)
	+@$(MAKE) --no-print-directory release
	@nginx/install install $(FOLDERS)

uninstall:      ## remove what `make install` wrote; what was changed in sysconfdir stays
	@nginx/install uninstall $(FOLDERS)

FOLDERS = $(foreach name,sbindir libdir libexecdir datadir mandir docdir bashcompletiondir \
	sysconfdir localstatedir runstatedir systemdsystemunitdir \
	sysusersdir tmpfilesdir,$(name)=$(call quote,$($(name))))
install uninstall: export DESTDIR ?=

# debian/ stands at the top of the copy that it is made of.
deb:            ## make Debian packages in build/deb/ (needs debhelper)
	@command -v dpkg-buildpackage >/dev/null && command -v dh >/dev/null || { \
		echo 'make deb: install dpkg-dev and debhelper' >&2; exit 1; }
	@rm -rf build/deb && mkdir -p build/deb/urlmode
	@tar -c --exclude=node_modules --exclude=lib/node/types Makefile LICENSE \
		README.md cgi-bin lib nginx sql | tar -x -C build/deb/urlmode
	@nginx/dist/version changelog >build/deb/urlmode/nginx/debian/changelog
	@ln -s nginx/debian build/deb/urlmode/debian
	+@cd build/deb/urlmode && MAKEFLAGS= MAKELEVEL=0 dpkg-buildpackage -b --no-sign

dist:           ## what a release consists of, in build/dist/, from this commit; KEY= signs, DEBIAN='bookworm trixie'
	@[ ! -d tests ] || tests/stack/deps dist
	@nginx/dist/dist $(PARTS)
