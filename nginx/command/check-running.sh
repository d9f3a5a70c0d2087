# shellcheck shell=sh disable=SC2154 # of common.sh and check.sh
# What urlmode check sees of what runs: systemd's units, with their environment, and
# their processes.

# Sets what systemd says of a unit. False: systemd does not run here, or has no
# such unit.
look_at_unit()
{
	systemctl show -p LoadState -p UnitFileState -p ActiveState -p SubState -p NRestarts -p MainPID -p ExecMainStartTimestampMonotonic -- "$1" \
		>"$scratch/unit" 2>/dev/null || return 1
	load='' file_state='' state='' sub='' restarts='' pid='' started=''
	while IFS='=' read -r property value; do
		case $property in
		LoadState) load=$value ;;
		UnitFileState) file_state=$value ;;
		ActiveState) state=$value ;;
		SubState) sub=$value ;;
		NRestarts) restarts=$value ;;
		MainPID) pid=$value ;;
		ExecMainStartTimestampMonotonic) started=$value ;;
		esac
	done <"$scratch/unit"
	[ -n "$load" ] && [ "$load" != not-found ]
}

has_units()
{
	command -v systemctl >/dev/null && look_at_unit "$instance@connect.service"
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
	systemctl show -p EnvironmentFiles --value "$instance@connect.service" 2>/dev/null |
		sed '/^$/d; 1!G; h; $!d' >"$scratch/environment-files"
	write_environment
	if [ -s "$scratch/environment-files" ] && ! is_root; then
		finding skipped configuration "only root can read the environment of the programs: $(environment_files)" "run urlmode check as root"
		return 1
	fi
	in_unit env -0 </dev/null >"$scratch/variables" 2>"$scratch/said" || {
		finding error configuration "systemd cannot make the environment of the programs, of $(environment_files): $(said "$scratch/said")" \
			"correct EnvironmentFile= in the drop-in: systemctl cat $instance@connect"
		return 1
	}
	take_from_unit URLMODE_KEYS
	take_from_unit URLMODE_CGI_DATABASE_URL
	rm "$scratch/variables"
}

environment_files()
{
	sed 's/ (ignore_errors=[a-z]*)$//' "$scratch/environment-files"
}

# take_from_unit NAME: the variable, where the unit has it.
take_from_unit()
{
	value=$(sed -z -n "s/^$1=//p" "$scratch/variables" | tr -d '\000')
	[ -z "$value" ] || export "$1=$value"
}

# Writes what Environment= of the units gives, as systemctl shows it, in the form that a
# shell and systemd's EnvironmentFile= have in common. But for the configuration's name.
write_environment()
{
	systemctl show -p Environment --value "$instance@connect.service" 2>/dev/null | awk '
		function put(word, at, value) {
			at = index(word, "=")
			value = substr(word, at + 1)
			gsub(/[\\"$`]/, "\\\\&", value)
			if (at && word !~ /^URLMODE_CONFIG=/) print substr(word, 1, at) "\"" value "\""
		}
		{
			for (i = 1; i <= length($0); i++) {
				c = substr($0, i, 1)
				if (c == "\"") {
					quoted = !quoted
				} else if (c == " " && !quoted) {
					put(word)
					word = ""
				} else if (c == "\\") {
					c = substr($0, ++i, 1)
					word = word (c == "n" ? "\n" : c == "t" ? "\t" : c)
				} else {
					word = word c
				}
			}
			put(word)
		}' >"$scratch/environment" || :
	if can_be_user; then
		chown -- "$user" "$scratch/environment"
	fi
}

# in_unit COMMAND...: as the user of the programs, and with the environment of their
# unit. Nothing of it is an argument of a process.
in_unit()
{
	if [ -z "$units" ]; then
		as_programs "$@"
		return
	fi
	if [ ! -s "$scratch/environment-files" ]; then
		home=$HOME
		! is_root || home=$(getent passwd "$user" | cut -d : -f 6)
		(
			for name in $(env | sed -n 's/^\(PG[A-Z]*\)=.*/\1/p'); do
				unset "$name"
			done
			# shellcheck disable=SC2016 # for the shell of the unit
			as_programs env HOME="$home" URLMODE_CONFIG="$config" sh -c \
				'set -a; . "$1"; set +a; shift; exec "$@"' sh "$scratch/environment" "$@"
		)
		return
	fi
	# systemd itself reads the files. The last one counts most.
	set -- -- "$@"
	while read -r line; do
		file=${line% (ignore_errors=*)}
		case $line in
		*'=yes)') file=-$file ;;
		esac
		set -- -p "EnvironmentFile=$file" "$@"
	done <"$scratch/environment-files"
	# Its --pipe and --wait would need D-Bus, which not every host has.
	cat >"$scratch/unit-in"
	: >"$scratch/unit-out"
	: >"$scratch/unit-err"
	left=0
	systemd-run -q --collect --service-type=oneshot --uid="$user" -p "StandardInput=file:$scratch/unit-in" \
		-p "StandardOutput=file:$scratch/unit-out" -p "StandardError=file:$scratch/unit-err" \
		-p "Environment=URLMODE_CONFIG=$config" -p "EnvironmentFile=$scratch/environment" "$@" || left=$?
	cat "$scratch/unit-out"
	cat "$scratch/unit-err" >&2
	rm "$scratch/unit-out" "$scratch/unit-err"
	return $left
}

# A program that cannot start runs for a moment each time.
restart_seconds=10

# --- Units ------------------------------------------------------------------

check_units()
{
	has_units || {
		finding skipped units "systemd does not run here, or has no units of urlmode" \
			"your supervisor says whether the programs run"
		return 0
	}
	wrong=0 replaced=''
	check_made
	for name in $needed; do
		look_at_unit "$instance@$name.service" && check_unit "$instance@$name.service"
	done
	if [ "$user_check" = openid ]; then
		for unit in "$instance-jwks.timer" "$instance-jwks.path"; do
			look_at_unit "$unit" && check_unit "$unit"
		done
	fi
	check_purge
	if look_at_unit nginx.service; then
		check_unit nginx.service
		check_workers
	fi
	check_boot
	if [ -n "$replaced" ]; then
		finding warning units "an upgrade has replaced libraries that run: $replaced" \
			"systemctl restart these units: until then they have the faults that the upgrade mends"
		wrong=1
	fi
	[ $wrong -eq 1 ] || finding ok units "the programs run as the units of urlmode, and nginx does"
}

# What runs now must also start with the host. A site may have a unit of its own that wants the target.
check_boot()
{
	for unit in "$instance.target" nginx.service; do
		look_at_unit "$unit" && [ "$file_state" = disabled ] || continue
		[ -z "$(systemctl list-dependencies --reverse --plain "$unit" 2>/dev/null | sed 1d)" ] || continue
		finding error units "$unit is not enabled: it does not start when this host does" "systemctl enable $unit"
		wrong=1
	done
}

check_unit()
{
	case $load-$state-$sub in
	masked-*)
		finding error units "$1 is masked, and is needed" "systemctl unmask $1, and start it"
		;;
	*-auto-restart)
		starts_again "$1"
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

starts_again()
{
	finding error units "$1 starts again and again: $(last_line "$1")" "correct what the line says; then systemctl restart $1"
}

# Of several hosts one purges, and the others have its timer masked.
check_purge()
{
	look_at_unit "$instance-purge.timer" && [ "$load" != masked ] || return 0
	if [ "$state" != active ]; then
		finding warning units "$instance-purge.timer does not run: no old rows are deleted from here" \
			"systemctl start $instance-purge.timer, or mask it where another host purges"
		wrong=1
	fi
	if look_at_unit "$instance-purge.service" && [ "$state" = failed ]; then
		finding error units "$instance-purge.service has failed: $(last_line "$instance-purge.service")" \
			"correct what the line says; then systemctl start $instance-purge.service"
		wrong=1
	fi
}

# last_line UNIT: why it ended the last time. systemd's own lines of each start and end do
# not say it, and neither do those of requests. The journal keeps no order between the lines
# of systemd and those of the process: what a process has said may stand before the line of
# its start, or behind that of its end. Only what is more than a second older than a start is
# certainly of the run before.
last_line()
{
	line=$(journalctl -q -a --no-pager --no-hostname -o short-unix -n 200 -u "$1" 2>/dev/null | awk '
		function end() {
			if (failed != "") last = reason != "" ? reason : ended != "" ? ended : failed
			ended = failed = ""
		}
		match($0, /^[0-9]+\.[0-9]+ [^ ]+: /) { time = $1 + 0; $0 = substr($0, RLENGTH + 1) }
		/^Start(ed|ing) / {
			end()
			if (time - said > 1 || starting && /^Started /) reason = ""
			starting = /^Starting /
			next
		}
		# What it said long before is not why.
		/^[^ ]+: ((Main|Control) process exited, |Failed with result )/ && time - said > 30 { reason = "" }
		/^[^ ]+: (Main|Control) process exited, / { ended = $0; next }
		/^[^ ]+: Failed with result / {
			if (failed == "") failed = $0
			starting = 0
			next
		}
		/^(Stopped|Stopping|Reloaded|Reloading|Failed to start) / { next }
		/^[^ ]+: (Failed to run |Scheduled restart job|Start request repeated|Consumed |Deactivated )/ { next }
		/"request":"/ || /^nginx: (configuration file .* test failed|\[emerg\] still could not bind\(\))$/ { next }
		{ reason = $0; said = time }
		END { end(); print last != "" ? last : reason }') || :
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
	libraries=$(replaced_libraries "$pid")
	[ -z "$libraries" ] || replaced="${replaced:+$replaced; }$1 ($libraries)"
	if [ "${restarts:-0}" -ge 3 ] && [ $(($(cut -d . -f 1 /proc/uptime) - ${started:-0} / 1000000)) -lt $restart_seconds ]; then
		starts_again "$1"
		wrong=1
	elif [ "${restarts:-0}" -ge 3 ]; then
		finding warning units "$1 has been started again $restarts times: $(last_line "$1")" "journalctl -u $1 says why it ended"
		wrong=1
	fi
}

# replaced_libraries PID: those that a process has loaded, and whose files are gone.
replaced_libraries()
{
	sed -n 's|^.* /[^ ]*/\([^ /]*\.so[^ /]*\) (deleted)$|\1|p' "/proc/$1/maps" 2>/dev/null | sort -u | tr '\n' ' ' | sed 's/ $//; s/ /, /g'
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
			"SocketGroup= in a drop-in of $instance@.socket, with nginx's group; then restart the sockets"
		wrong=1
	fi
}
