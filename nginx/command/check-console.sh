# shellcheck shell=sh disable=SC2154 # of common.sh, check.sh, check-api.sh and check-outside.sh
# What urlmode check sees of the console: its files, its unit, what its login is told, and
# what answers at its address and, never, at that of the callbacks.

check_console()
{
	if [ ! -e "$console_config" ]; then
		finding ok console "the console is not set up here"
		return
	fi
	wrong=0
	if check_console_files && check_console_login; then
		check_own_runs console
		walk_console
	fi
	check_callback_host
}

# Whoever has a callback program must not have what the console has.
check_console_files()
{
	URLMODE_CONFIG=$console_config "$programs_dir/console" --check >/dev/null 2>"$scratch/said" </dev/null || {
		finding error console "$(said "$scratch/said")" "correct $console_config, or who may read it: see urlmode-config(5); urlmode check sees it as root"
		return 1
	}
	for file in "$console_config" "${console_config%/*}/keys"; do
		[ ! -e "$file" ] || check_mode "$file" 4 640
		if can_be_user && [ "$console_config" != "${config%/*}/console.json" ] && as_programs test -r "$file"; then
			finding error permissions "the callback programs can read $file" "chgrp $instance-console $file, with the group of the console's user"
		fi
	done
}

# What its first page asks, with its login.
check_console_login()
{
	console_database=$(sed -n 's/^.*"database_url": *"\([^"\\]*\)".*$/\1/p' "$console_config" | head -n 1)
	[ -n "$console_database" ] || return 0
	add_service console "$console_database" || return 0
	echo "SET statement_timeout = '2s'; SELECT count(*) FROM urlmode.waiting();" |
		timeout -k 1 "$database_seconds" psql -X -q -w -A -t -v ON_ERROR_STOP=1 -d service=console -f - >/dev/null 2>"$scratch/said" || {
		finding error console "the console's login is refused what its first page asks: $(said "$scratch/said")" \
			"check database_url in $console_config: its login is ${role_prefix}_operator; urlmode migrate"
		return 1
	}
}

# As somebody whom nobody knows: that gets no further than the door.
walk_console()
{
	if ! command -v curl >/dev/null; then
		finding skipped console "the console cannot be asked without curl" "install curl"
		return
	elif ! find_own_url console; then
		finding skipped console "no site $instance-console.conf of nginx says where the console listens without TLS" \
			"urlmode setup --console writes one"
		return
	fi
	status=$(curl -sS -q --noproxy '*' -m 20 ${own_socket:+--unix-socket "$own_socket"} -o /dev/null -w '%{http_code}' \
		"$own_url/console/" 2>"$scratch/said") || status=000
	case $status in
	401) finding ok console "nginx asks for a password at $own_url, and its login sees what waits" ;;
	30[23]) finding ok console "it has operators sign in at $own_url, and its login sees what waits" ;;
	403) finding ok console "it lets in nobody who is not known at $own_url, and its login sees what waits" ;;
	200)
		finding error console "it lets in whoever comes to $own_url" \
			"the web server must ask who it is: see urlmode-console.conf"
		;;
	500)
		finding error console "the web server does not say who comes to $own_url, so that nobody gets in" \
			"it must ask for a name and pass it on: see urlmode-console.conf"
		;;
	000) finding error console "nothing answers at $own_url: $(said "$scratch/said")" "is its site enabled in nginx, and nginx reloaded?" ;;
	50[234]) finding error console "nginx gets no answer from the program: $status" "systemctl status $instance-console.service; may nginx's group connect to $socket?" ;;
	*) finding error console "what answers at $own_url with $status is not the console" "which server of nginx listens there? See urlmode-console.conf" ;;
	esac
}

# Browsers of users reach that one.
check_callback_host()
{
	split_base_url && fetch 127.0.0.1 /console/ || return 0
	[ "$status" = 404 ] || [ "$status" = 401 ] ||
		finding error console "the callback host answers /console/ with $status" "the console has a server block of its own: see urlmode-console.conf"
}
