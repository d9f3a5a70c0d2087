# shellcheck shell=sh disable=SC2154 # of common.sh and setup.sh
# A deployment beside the one without a name: its units, and nginx's snippets and sites. Each is
# what this version has for the one without a name, with the names of this one.

# of_deployment KIND: standard input, with the names of this deployment.
of_deployment()
{
	[ -n "$deployment" ] || {
		cat
		return
	}
	case $1 in
	unit)
		sed "/^#/b
			/^Documentation=/b
			s/^Description=urlmode/& $deployment/; t
			/^ExecStart=/{
				s|/urlmode \([a-z]\)|/urlmode --deployment $deployment \1|
				b
			}
			s/urlmode/$instance/g"
		;;
	nginx)
		sed "s/\burlmode_/urlmode_${deployment}_/g
			s/zone=urlmode\([: ]\)/zone=urlmode_$deployment\1/
			s/\(log_format\|access_log [^;]*\) urlmode\([ ;]\)/\1 urlmode_$deployment\2/
			s,\(/run/\|include \|/var/log/nginx/\)urlmode,\1$instance,g
			s/urlmode\(-console\)\{0,1\}\.htpasswd/$instance\1.htpasswd/"
		;;
	esac
}

# make_text KIND FILE: into scratch/made, with a first line by which an upgrade knows whether it was changed since.
make_text()
{
	of_deployment "$1" <"$2" >"$scratch/text"
	{
		[ -z "$deployment" ] ||
			say "# Made by urlmode setup --deployment $deployment, and again by upgrades unless it was changed: $(sha256sum <"$scratch/text" | cut -c 1-64)"
		cat "$scratch/text"
	} >"$scratch/made"
}

# For urlmode check: a unit that an upgrade has not written again.
check_made()
{
	older=
	each_unit compare_made
	[ -z "$older" ] ||
		finding warning units "not as this version has them:$older" "urlmode setup --upgrade; what you have changed belongs in a drop-in (systemctl edit)"
}

compare_made()
{
	make_text "$1" "$2"
	cmp -s -- "$scratch/made" "$3" || older="$older $3"
}

# is_as_made FILE: as setup has written it.
is_as_made()
{
	[ "$(sed -n '1s/^# Made by urlmode setup .*: //p' "$1")" = "$(sed 1d "$1" | sha256sum | cut -c 1-64)" ]
}

# each_unit COMMAND: calls it with a kind, a file of this version and the file that is made of it.
each_unit()
{
	[ -n "$deployment" ] && [ -d "$systemd" ] || return 0
	for file in "$units_dir"/urlmode*; do
		name=${file##*/}
		"$1" unit "$file" "$systemd/$instance${name#urlmode}"
	done
}

# each_snippet COMMAND: the same, where nginx has them.
each_snippet()
{
	[ -n "$deployment" ] && [ -d "$nginx/$instance" ] || return 0
	for file in "$nginx_dir"/urlmode/*.conf; do
		"$1" nginx "$file" "$nginx/$instance/${file##*/}"
	done
}

# without_mark FILE: its text, without the line by which setup knows it.
without_mark()
{
	sed '1{/^# Made by urlmode setup /d}' "$1"
}

write_made()
{
	make_text "$1" "$2"
	mkdir -p -- "${3%/*}"
	chmod 755 -- "${3%/*}"
	cat "$scratch/made" >"$scratch/new"
	write_new "$3" 644 root
}

# upgrade_made KIND FROM FILE: what was not changed is made again; otherwise the new one is put beside it.
upgrade_made()
{
	make_text "$1" "$2"
	! cmp -s -- "$scratch/made" "$3" || return 0
	target=$3
	if [ -e "$3" ] && ! is_as_made "$3"; then
		target=$3.new
	fi
	if [ "$target" = "$3" ]; then
		step "write $3 again" replace_made "$3"
	else
		step "keep $3, which was changed, and write $target" replace_made "$target"
	fi
}

replace_made()
{
	write_beside "$1" <"$scratch/made"
	chmod 644 -- "$unfinished"
	mv -f -- "$unfinished" "$1"
	unfinished=
}

# The units of the deployment without a name are installed.
setup_deployment()
{
	[ -n "$deployment" ] || return 0
	each_unit make_missing
	reload_systemd
}

make_missing()
{
	if [ -e "$3" ]; then
		keep "$3"
	else
		step "create $3" write_made "$@"
	fi
}

reload_systemd()
{
	[ $dry_run -eq 1 ] || [ ! -d /run/systemd/system ] || systemctl daemon-reload
}

# The deployments with a name that setup has made on this host.
deployments()
{
	[ ! -d "$systemd" ] || find "$systemd" -maxdepth 1 -name 'urlmode-*.target' -exec \
		sed -s -n '1s/^# Made by urlmode setup --deployment \([a-z0-9]*\),.*/\1/p' {} +
}

# urlmode setup --upgrade: the units and snippets of each deployment, of this version.
upgrade_deployments()
{
	make_scratch
	found=$(deployments)
	[ -n "$found" ] || return 0
	for each in $found; do
		name_deployment "$each"
		each_unit upgrade_made
		each_snippet upgrade_made
	done
	reload_systemd
}
