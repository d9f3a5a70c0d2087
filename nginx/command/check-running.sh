# shellcheck shell=sh disable=SC2154 # of common.sh and check.sh
# What urlmode check sees of what runs: systemd's units, with their environment, and
# their processes.

# Sets what systemd says of a unit. False: systemd does not run here, or has no
# such unit.
look_at_unit()
{
	systemctl show -p LoadState -p ActiveState -p SubState -p NRestarts -p MainPID -- "$1" \
		>"$scratch/unit" 2>/dev/null || return 1
	load='' state='' sub='' restarts='' pid=''
	while IFS='=' read -r property value; do
		case $property in
		LoadState) load=$value ;;
		ActiveState) state=$value ;;
		SubState) sub=$value ;;
		NRestarts) restarts=$value ;;
		MainPID) pid=$value ;;
		esac
	done <"$scratch/unit"
	[ -n "$load" ] && [ "$load" != not-found ]
}

has_units()
{
	command -v systemctl >/dev/null && look_at_unit urlmode@connect.service
}

# --- The environment of the programs ----------------------------------------

# The programs have the environment that their units give them, and without units
# that of the caller, as in a container. False: only root may read the units' files.
read_environment()
{
	: >"$scratch/environment-files"
	units=
	has_units || return 0
	units=1
	unset URLMODE_KEYS URLMODE_CGI_DATABASE_URL
	# In reverse: the last file counts most, and in_unit puts each before the others.
	systemctl show -p EnvironmentFiles --value urlmode@connect.service 2>/dev/null |
		sed '/^$/d; 1!G; h; $!d' >"$scratch/environment-files"
	if [ -s "$scratch/environment-files" ] && ! is_root; then
		finding skipped configuration "only root can read the environment of the programs: $(environment_files)" "run urlmode check as root"
		return 1
	fi
	[ ! -s "$scratch/environment-files" ] || in_unit true 2>"$scratch/said" || {
		finding error configuration "systemd cannot make the environment of the programs, of $(environment_files): $(said "$scratch/said")" \
			"correct EnvironmentFile= in the drop-in: systemctl cat urlmode@connect"
		return 1
	}
	take_from_unit URLMODE_KEYS
	take_from_unit URLMODE_CGI_DATABASE_URL
}

environment_files()
{
	sed 's/ (ignore_errors=[a-z]*)$//' "$scratch/environment-files"
}

# take_from_unit NAME: the variable, where the unit has it.
take_from_unit()
{
	# shellcheck disable=SC2016 # for the shell of the unit
	value=$(in_unit sh -c 'eval "printf %s \"\${$1-}\""' sh "$1")
	[ -z "$value" ] || export "$1=$value"
}

# in_unit COMMAND...: as the user of the programs, and with the environment of their
# unit. systemd itself reads the files, so that what they hold is no argument of a process;
# what stands in Environment= is one, as systemctl shows it to everyone anyway.
in_unit()
{
	if [ -z "$units" ]; then
		as_programs "$@"
		return
	fi
	words=$(systemctl show -p Environment --value urlmode@connect.service 2>/dev/null) || words=
	if [ ! -s "$scratch/environment-files" ]; then
		home=$HOME
		! is_root || home=$(getent passwd "$user" | cut -d : -f 6)
		# shellcheck disable=SC2086 # a word for each variable
		(
			for name in $(env | sed -n 's/^\(PG[A-Z]*\)=.*/\1/p'); do
				unset "$name"
			done
			as_programs env HOME="$home" $words URLMODE_CONFIG="$config" "$@"
		)
		return
	fi
	set -- -- "$@"
	while read -r line; do
		file=${line% (ignore_errors=*)}
		case $line in
		*'=yes)') file=-$file ;;
		esac
		set -- -p "EnvironmentFile=$file" "$@"
	done <"$scratch/environment-files"
	set -- -p "Environment=URLMODE_CONFIG=$config" "$@"
	[ -z "$words" ] || set -- -p "Environment=$words" "$@"
	systemd-run -q --pipe --wait --collect --uid="$user" "$@"
}

# --- Units ------------------------------------------------------------------

check_units()
{
	has_units || {
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

# last_line UNIT: why it ended the last time. systemd's own lines of each start and end do
# not say it, and neither do those of requests.
last_line()
{
	line=$(journalctl -q --no-pager -o cat -n 200 -u "$1" 2>/dev/null | awk '
		/^Start(ed|ing) / { reason = ""; next }
		/^[^ ]+: (Main|Control) process exited, / { ended = $0; next }
		/^[^ ]+: Failed with result / {
			last = reason != "" ? reason : ended != "" ? ended : $0
			reason = ended = ""
			next
		}
		/^(Stopped|Stopping|Failed to start) / { next }
		/^[^ ]+: (Failed to run |Scheduled restart job|Start request repeated|Consumed |Deactivated )/ { next }
		/"request":"/ || /^nginx: configuration file .* test failed$/ { next }
		{ reason = $0 }
		END { print last != "" ? last : reason }') || :
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
