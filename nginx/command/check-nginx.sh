# shellcheck shell=sh disable=SC2154 # of common.sh and check.sh
# What urlmode check sees of nginx: its configuration, what it has loaded of it, and the files of urlmode there.

check_nginx()
{
	if ! command -v nginx >/dev/null; then
		finding skipped nginx "nginx is not on this host"
	elif [ "$nginx" = /etc/nginx ] && ! is_root; then
		finding skipped nginx "only root can test nginx's configuration" "run urlmode check as root"
	elif test_nginx >"$scratch/nginx" 2>"$scratch/said"; then
		check_loaded_nginx
	else
		finding error nginx "$(said "$scratch/said")" "correct it: nginx -t"
	fi
}

test_nginx()
{
	if [ "$nginx" = /etc/nginx ]; then
		nginx -T -q
	else
		nginx -T -q -p "$nginx/" -c "$nginx/nginx.conf" -e stderr
	fi
}

# Each file of its configuration is older than the workers that serve, which were started
# with it.
check_loaded_nginx()
{
	sed -n 's/^# configuration file \(.*\):$/\1/p' "$scratch/nginx" | sort -u >"$scratch/files"
	pid_file=$(sed -n 's/^[[:blank:]]*pid[[:blank:]]\{1,\}\([^;[:blank:]]*\);.*/\1/p' "$scratch/nginx" | head -n 1)
	case ${pid_file:=/run/nginx.pid} in /*) ;; *) pid_file=$nginx/$pid_file ;; esac
	rm "$scratch/nginx"
	# New workers come a moment after a reload.
	for attempt in 1 2 3; do
		find_newer
		[ -n "$newer" ] && [ "$attempt" -lt 3 ] || break
		sleep 1
	done
	if [ -n "$newer" ]; then
		finding error nginx "it runs another configuration than the one on disk: changed since its workers began: $newer" \
			"systemctl reload nginx, also where only the owner, the mode or the time of a file is new: nobody can read what it has loaded. If it goes on with the old one, its error_log says why"
	else
		finding ok nginx "nginx -t accepts its configuration${oldest:+, and its workers have it}"
	fi
}

# Sets `newer` to the files that changed after the `oldest` worker that serves began.
find_newer()
{
	oldest='' newer=''
	master=$(cat "$pid_file" 2>/dev/null) || master=none
	for worker in $(cat "/proc/$master/task/$master/children" 2>/dev/null); do
		case $(tr '\0' ' ' <"/proc/$worker/cmdline" 2>/dev/null) in
		# It takes no connection any more: perhaps a server waits over HTTP, for up to a minute.
		'nginx: worker process is shutting down'*) continue ;;
		'nginx: worker process '* | 'nginx: worker process') ;;
		*) continue ;;
		esac
		began=$(began_at "$worker")
		[ -n "$oldest" ] && [ "$oldest" -le "$began" ] || oldest=$began
	done
	[ -n "$oldest" ] || return 0
	while read -r file; do
		[ "$(changed "$file")" -le "$oldest" ] || newer="${newer:+$newer, }$file"
	done <"$scratch/files"
}

# began_at PID: the second in which a process began.
began_at()
{
	since_boot=$(sed 's/^.*) //' "/proc/$1/stat" 2>/dev/null | cut -d ' ' -f 20) || :
	boot=$(sed -n 's/^btime //p' /proc/stat)
	say $((boot + ${since_boot:-0} / $(getconf CLK_TCK) + 1))
}

check_snippets()
{
	if [ ! -d "$nginx/$instance" ]; then
		finding skipped snippets "there is no $nginx/$instance" "urlmode setup writes it, for nginx"
		return
	fi
	differing=
	for file in "$nginx_dir"/urlmode/*.conf; do
		name=${file##*/}
		case $name in
		auth-*) [ -e "$nginx/$instance/$name" ] || continue ;;
		pages.conf | monitoring.conf) continue ;;
		esac
		make_text nginx "$file"
		cmp -s -- "$scratch/made" "$nginx/$instance/$name" || differing="$differing $name"
	done
	if [ -n "$differing" ]; then
		finding warning snippets "not as they come with this version:$differing" \
			"${deployment:+urlmode setup --upgrade writes what is older; }diff -r $nginx_dir/urlmode $nginx/$instance shows what is different"
	elif ! ask pages | of_deployment nginx >"$scratch/pages" || ! without_mark "$nginx/$instance/pages.conf" | cmp -s - "$scratch/pages"; then
		finding warning snippets "pages.conf is not what this version makes of $config" \
			"urlmode pages >$nginx/$instance/pages.conf, and reload nginx"
	else
		finding ok snippets "$nginx/$instance is of this version"
	fi
}
