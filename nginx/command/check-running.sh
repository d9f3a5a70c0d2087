# shellcheck shell=sh disable=SC2154 # of common.sh and check.sh
# What urlmode check sees of what runs: systemd's units and their processes.

# Sets what systemd says of a unit. False: systemd does not run here, or has no
# such unit.
look_at_unit()
{
	systemctl show -p LoadState -p ActiveState -p SubState -p NRestarts -p MainPID -- "$1" \
		>"$scratch/unit" 2>/dev/null || return 1
	load=$(sed -n 's/^LoadState=//p' "$scratch/unit")
	state=$(sed -n 's/^ActiveState=//p' "$scratch/unit")
	sub=$(sed -n 's/^SubState=//p' "$scratch/unit")
	restarts=$(sed -n 's/^NRestarts=//p' "$scratch/unit")
	pid=$(sed -n 's/^MainPID=//p' "$scratch/unit")
	[ -n "$load" ] && [ "$load" != not-found ]
}

check_units()
{
	command -v systemctl >/dev/null && look_at_unit urlmode@connect.service || {
		finding skipped units "systemd does not run here, or has no units of urlmode" \
			"your supervisor says whether the programs run"
		return 0
	}
	wrong=0
	for name in $needed; do
		look_at_unit "urlmode@$name.service" && check_unit "urlmode@$name.service"
	done
	if [ "$user_check" = openid ]; then
		for unit in urlmode-jwks.timer urlmode-jwks.path; do
			look_at_unit $unit && check_unit $unit
		done
	fi
	if look_at_unit nginx.service; then
		check_unit nginx.service
		check_workers
	fi
	[ $wrong -eq 1 ] || finding ok units "the programs run as the units of urlmode, and nginx does"
}

check_unit()
{
	case $load-$state-$sub in
	masked-*)
		finding error units "$1 is masked, and is needed" "systemctl unmask $1, and start it"
		;;
	*-auto-restart)
		finding error units "$1 starts again and again: $(last_line "$1")" "correct what the line says; then systemctl restart $1"
		;;
	*-active-* | *-activating-*)
		check_process "$1"
		return
		;;
	*-failed-*)
		finding error units "$1 has failed: $(last_line "$1")" "correct what the line says; then systemctl start $1"
		;;
	*)
		finding error units "$1 does not run" "systemctl start $1; journalctl -u $1 says why it ended"
		;;
	esac
	wrong=1
}

last_line()
{
	line=$(journalctl -q --no-pager -o cat -n 1 -u "$1" 2>/dev/null) || :
	printable "${line:-its log says nothing}"
}

# Of the unit that was looked at.
check_process()
{
	case $(readlink "/proc/$pid/exe" 2>/dev/null) in
	*' (deleted)')
		finding warning units "$1 runs a program that has been replaced since it started" "systemctl restart $1"
		wrong=1
		;;
	esac
	if [ "${restarts:-0}" -ge 3 ]; then
		finding warning units "$1 has been started again $restarts times: $(last_line "$1")" "journalctl -u $1 says why it ended"
		wrong=1
	fi
}

# Whether nginx's workers are in the group that may connect to the sockets.
check_workers()
{
	worker=$(head -n 1 "/proc/$pid/task/$pid/children" 2>/dev/null | sed 's/ .*//')
	[ -n "$worker" ] && [ -S "$sockets/connect.sock" ] || return 0
	group=$(stat -c %g -- "$sockets/connect.sock")
	if ! sed -n 's/^\(Groups\|Gid\):[[:blank:]]*//p' "/proc/$worker/status" | tr '\t ' '\n\n' | grep -qx -- "$group" &&
		[ "$(stat -c %U "/proc/$worker")" != root ]; then
		finding error units "nginx's workers are $(stat -c %U "/proc/$worker"), who is not in the group $(stat -c %G -- "$sockets/connect.sock") of the sockets" \
			"SocketGroup= in a drop-in of urlmode@.socket, with nginx's group; then restart the sockets"
		wrong=1
	fi
}
