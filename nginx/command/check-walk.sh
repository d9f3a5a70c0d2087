# shellcheck shell=sh disable=SC2154 # of common.sh, check.sh, check-host.sh and check-outside.sh
# urlmode check does what a user does: it opens the link of an elicitation of its own,
# declines it, and waits for the outcome as an MCP server does. Where the web server asks
# the user to sign in, it goes to the sockets of the programs from there on.

# Seconds for the notification.
notification_seconds=15

# The check that a finding of walk_refused or walk_failed is of.
walking=walk

check_walk()
{
	reach_operator || {
		finding skipped walk "no connection as ${role_prefix}_operator, who creates the elicitation" \
			"set URLMODE_OPERATOR_DATABASE_URL, or be root after urlmode setup"
		return 0
	}
	# They say why no user gets through.
	for name in database migrations units sockets answers sign_in; do
		! has_error $name || return 0
	done
	walk_cookies=''
	if begin_walk; then
		walk_steps || :
		leave_walk
	fi
}

# has_error CHECK
has_error()
{
	case $newline$findings in
	*"${newline}error$tab$1$tab"*) return 0 ;;
	*) return 1 ;;
	esac
}

walk_value()
{
	sed -n "s/^$1 //p" "$scratch/walk"
}

begin_walk()
{
	ask walk-row >"$scratch/walk" 2>"$scratch/said" && ask walk-cookies >"$scratch/cookies" 2>"$scratch/said" || {
		finding error walk "no link can be made: $(said "$scratch/said")" "see the finding on keys"
		return 1
	}
	walk_id=$(walk_value id)
	walk_cookies=$(cat "$scratch/cookies")
	ask_database -v id="$walk_id" -v form="$(walk_value form)" -v kid="$(walk_value kid)" >"$scratch/rows" <<'SQL' || {
SELECT urlmode.begin_walk(:'id', decode(:'form', 'hex'), :kid);
SQL
		walk_failed "an elicitation cannot be created: $(said "$scratch/said")" "does ${role_prefix}_operator have the functions of this version? urlmode migrate"
		return 1
	}
	: >"$scratch/heard"
	"$operate" listen "$walk_id" $notification_seconds >"$scratch/heard" 2>"$scratch/heard-said" &
	walk_listener=$!
	for attempt in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
		! grep -q '^listening' "$scratch/heard" || return 0
		kill -0 $walk_listener 2>/dev/null && [ "$attempt" -lt 20 ] || break
		sleep 0.25
	done
	finding error walk "nobody can listen on the channel urlmode: $(said "$scratch/heard-said")" "the log of PostgreSQL says why"
	leave_walk
	return 1
}

walk_id='' walk_listener=''
leave_walk()
{
	[ -z "$walk_listener" ] || kill "$walk_listener" 2>/dev/null || :
	walk_listener=
	[ -n "$walk_id" ] || return 0
	ask_database -v id="$walk_id" >"$scratch/rows" <<'SQL' || :
SET synchronous_commit = local;
SELECT urlmode.end_walk(:'id');
SQL
}

# Through nginx, but where only somebody who has signed in comes further, or nginx of this host
# does not answer.
walks_through_nginx()
{
	[ "$user_check" != remote-user ] && [ -n "$local_answers" ]
}

# walk_ask PROGRAM METHOD PATH [BODY]: sets `status`, `location` and `code`, and keeps cookies as a browser does.
walk_ask()
{
	{
		printf '%s %s HTTP/1.0\r\nHost: %s\r\nUser-Agent: urlmode-check\r\n' "$2" "$3" "${base_url#*://}"
		[ -z "$walk_cookies" ] || printf 'Cookie: %s\r\n' "$walk_cookies"
		[ $# -lt 4 ] || printf 'Content-Type: application/x-www-form-urlencoded\r\nContent-Length: %s\r\n' ${#4}
		printf '\r\n%s' "${4-}"
	} >"$scratch/request"
	: >"$scratch/response"
	walk_user=
	[ "$user_check" != remote-user ] || walk_user=urlmode-check
	if walks_through_nginx; then
		send 127.0.0.1 <"$scratch/request"
	else
		(cd "$sockets" && ask program "$1.sock" "$walk_user") <"$scratch/request" 2>"$scratch/said" | tr -d '\r' >"$scratch/response" || :
	fi
	rm "$scratch/request"
	status=$(statuses | head -n 1)
	location=$(sed -n '/^$/q; s/^Location: //Ip' "$scratch/response")
	code=$(sed -n 's/.*<code>\([a-z_]*\)<\/code>.*/\1/p' "$scratch/response" | head -n 1)
	walk_cookies=$({
		printf '%s\n' "$walk_cookies" | tr ';' '\n'
		sed -n '/^$/q; s/^Set-Cookie: \([^;]*\).*/\1/Ip' "$scratch/response"
	} | awk -F= '
		{ sub(/^ +/, "") }
		$0 != "" && jar[$1] == "" { order[++n] = $1 }
		$0 != "" { jar[$1] = $0 }
		END { for (i = 1; i <= n; i++) printf "%s%s", (i > 1 ? "; " : ""), jar[order[i]] }')
}

# field NAME: of the form in the response.
field()
{
	sed -n "s/.*<input type=\"hidden\" name=\"$1\" value=\"\([^\"]*\)\".*/\1/p" "$scratch/response" | head -n 1
}

walk_steps()
{
	walk_ask connect GET "/connect/urlmode-check?state=$(walk_value state)"
	case $status-$location in
	30?-*/form/urlmode-check\?state=*) ;;
	*) walk_refused connect /connect && return 1 ;;
	esac
	case " $needed " in
	*' form '*) ;;
	*)
		walk_without_form
		return
		;;
	esac
	path=/form/${location#*/form/}
	walk_ask form GET "$path"
	[ "$status" = 200 ] && [ -n "$(field state)" ] || { walk_refused form "the page /form" && return 1; }
	walk_ask form POST /form/urlmode-check "state=$(field state)&reader=$(field reader)&answer=decline"
	case $status-$location in
	30?-*/done) walk_outcome ;;
	*) walk_refused form "the answer to /form" && return 1 ;;
	esac
}

# Without the program form nobody answers; that a transaction commits can be seen all the same.
walk_without_form()
{
	if ask_database -v id="$walk_id" >"$scratch/rows" <<'SQL'
SELECT urlmode.end_walk(:'id');
SQL
	then
		finding ok walk "a user gets to /connect, and a transaction commits; no provider needs the program form"
	else
		walk_failed "a transaction does not commit: $(said "$scratch/said")" "the log of PostgreSQL says why"
	fi
}

walk_outcome()
{
	wait $walk_listener || {
		walk_listener=
		walk_failed "the row was written, but its notification does not come: $(said "$scratch/heard-said")" \
			"MCP servers wait for it: the log of PostgreSQL says why, and whether another server has been promoted"
		return 1
	}
	walk_listener=
	ask_database -v id="$walk_id" >"$scratch/rows" <<'SQL' || {
SELECT status, action, encode(result, 'hex') FROM urlmode.read_walk(:'id');
SQL
		walk_failed "the outcome cannot be read: $(said "$scratch/said")" "urlmode migrate"
		return 1
	}
	IFS=$tab read -r status action result <"$scratch/rows" || :
	if [ "$status-$action" != completed-decline ]; then
		finding error walk "the answer was accepted, and the row is $status ($action)" \
			"urlmode migrate replaces functions that were changed; please report it otherwise"
	elif ! ask walk-result "$walk_id" "$result" >"$scratch/outcome" 2>"$scratch/said" || ! grep -q '"approver":"urlmode-check"' "$scratch/outcome"; then
		finding error walk "the program form has sealed an outcome that $keys_name does not open: $(said "$scratch/said")" \
			"the programs have other keys than this host's file: systemctl try-restart '$instance@*.service'"
	else
		way="through nginx"
		walks_through_nginx || way="at the sockets of the programs"
		finding ok walk "a user gets through, $way: /connect, /form, the commit, its notification and the sealed outcome"
	fi
}

# A delivery of this command's own, which is signed, and ignored: through nginx to the database.
check_webhook()
{
	case " $needed " in
	*' webhook '*) ;;
	*)
		finding ok webhook "no provider needs the program webhook"
		return 0
		;;
	esac
	for name in keys database units sockets local answers; do
		! has_error $name || return 0
	done
	walking=webhook
	ask walk-delivery >"$scratch/walk" 2>"$scratch/said" || {
		finding error webhook "no delivery can be signed: $(said "$scratch/said")" "see the finding on keys"
		return 0
	}
	body=$(walk_value body)
	printf 'POST /webhook/urlmode-check HTTP/1.0\r\nHost: %s\r\nUser-Agent: urlmode-check\r\nUrlmode-Check-Signature: %s\r\nContent-Type: application/json\r\nContent-Length: %s\r\n\r\n%s' \
		"${base_url#*://}" "$(walk_value signature)" ${#body} "$body" >"$scratch/request"
	way="through nginx"
	if [ -n "$local_answers" ]; then
		send 127.0.0.1 <"$scratch/request"
	else
		way="at the socket of the program"
		(cd "$sockets" && ask program webhook.sock '') <"$scratch/request" 2>"$scratch/said" | tr -d '\r' >"$scratch/response" || :
	fi
	status=$(statuses | head -n 1)
	code=$(sed '1,/^$/d' "$scratch/response" | sed -n '1s/^\([a-z_]*\)\(: .*\)\{0,1\}$/\1/p')
	case $status in
	200) finding ok webhook "a signed delivery gets through, $way" ;;
	*) walk_refused webhook /webhook ;;
	esac
}

# walk_refused PROGRAM WHAT: what was asked for has answered otherwise. True.
walk_refused()
{
	case $status-$code in
	429-*)
		limited "$walking" "$2"
		;;
	-*)
		walk_failed "$2 does not answer: $(said "$scratch/said")" "systemctl status $instance@$1; nginx's error_log"
		;;
	5*)
		walk_failed "$2 answers $status${code:+ ($code)}" "journalctl -u $instance@$1 says what PostgreSQL answers"
		;;
	*-state_invalid | *-unknown_signing_key | *-sign_in_required | *-signature_invalid | 30?-*)
		finding error "$walking" "$2 refuses what this host's keys have sealed: $status${code:+ ($code)}" \
			"the programs have other keys than $keys_name: systemctl try-restart '$instance@*.service'"
		;;
	*-unknown_elicitation)
		finding error "$walking" "$2 does not know the elicitation that ${role_prefix}_operator has created" \
			"the programs use another database than operator.env names: compare database_url in $config"
		;;
	*-unknown_provider)
		finding error "$walking" "$2 does not know the built-in provider: the programs are of another version" \
			"systemctl try-restart '$instance@*.service'"
		;;
	*)
		finding error "$walking" "$2 answers $status${code:+ ($code)}" "journalctl -u $instance@$1 says more"
		;;
	esac
}

# walk_failed WHAT ADVICE: a finding with the cause, where it can be seen.
walk_failed()
{
	if find_cause; then
		finding error "$walking" "$1: $cause" "$mend"
	else
		finding error "$walking" "$1" "$2"
	fi
}

# Sets `cause` and `mend` to why a program does not get its answer from the database.
# False: it cannot be seen.
find_cause()
{
	reach_operator || return 1
	find_lock || find_waiting_commit || find_blocked_address
}

find_lock()
{
	ask_database >"$scratch/rows" <<'SQL' || return 1
SELECT format('the table %s is locked (%s) by process %s', c.relname, l.mode, l.pid)
	|| coalesce(format(' (role %s, application %s)', a.usename, a.application_name), '')
FROM pg_locks l JOIN pg_class c ON c.oid = l.relation LEFT JOIN pg_stat_activity a USING (pid)
WHERE l.granted AND l.database = (SELECT d.oid FROM pg_database d WHERE d.datname = current_database())
	AND c.relnamespace = (SELECT n.oid FROM pg_namespace n WHERE n.nspname = 'urlmode') AND c.relkind = 'r'
	AND l.mode IN ('ShareLock', 'ShareRowExclusiveLock', 'ExclusiveLock', 'AccessExclusiveLock')
ORDER BY l.mode, c.relname LIMIT 1;
SQL
	[ -s "$scratch/rows" ] || return 1
	cause=$(cat "$scratch/rows")
	mend="let that session end its transaction, or SELECT pg_terminate_backend(...)"
}

# A transaction that writes, and waits for what the programs wait for.
find_waiting_commit()
{
	standbys=$(say "SELECT current_setting('synchronous_standby_names');" | ask_database) || return 1
	# It writes nothing but itself.
	! say "SELECT pg_logical_emit_message(true, 'urlmode', 'check');" | ask_database >"$scratch/rows" || return 1
	if [ -n "$standbys" ]; then
		cause="commits hang: PostgreSQL waits for a synchronous standby of synchronous_standby_names ($standbys)"
		mend="start that standby, or take it out of synchronous_standby_names and SELECT pg_reload_conf()"
	else
		cause="nothing can be committed: $(said "$scratch/said")"
		mend="the log of PostgreSQL says why"
	fi
}

# The units may send to few addresses alone. What this command reaches they may not.
find_blocked_address()
{
	[ -n "$units" ] || return 1
	address=$(in_unit "$operate" database-address 2>/dev/null) || return 1
	allowed=$(systemctl show -p IPAddressAllow --value "$instance@connect.service")
	denied=$(systemctl show -p IPAddressDeny --value "$instance@connect.service")
	[ -n "$denied" ] && [ -n "$address" ] || return 1
	# shellcheck disable=SC2086 # prefixes
	! ask address "$address" $allowed 2>/dev/null || return 1
	cause="the units may not send to $address, where the database is (IPAddressDeny=)"
	mend="IPAddressAllow=$address in a drop-in of $instance@.service: urlmode setup --database-host writes it; for a name whose address changes, its network"
}
