# shellcheck shell=sh disable=SC2154 # of common.sh and check.sh
# What urlmode check sees through nginx, here and from outside.

# Sets `host` and `port` of base_url, or is false where it is not https.
split_base_url()
{
	host=${base_url#https://}
	[ "$host" != "$base_url" ] || return 1
	port=443
	case $host in
	\[*\]:*)
		port=${host##*:}
		host=${host%:*}
		;;
	\[*) ;;
	*:*)
		port=${host#*:}
		host=${host%:*}
		;;
	esac
}

# send ADDRESS: the requests on standard input, on one connection. Leaves what comes back
# in scratch. Whether the certificate is good, check_certificate looks at.
send()
{
	server_name=
	case $host in
	\[*) ;;
	*[!0-9.]*) server_name=$host ;;
	esac
	timeout 10 openssl s_client -quiet -verify_quiet -no-CAfile -no-CApath -connect "$1:$port" \
		${server_name:+-servername "$server_name"} 2>"$scratch/said" | tr -d '\r' >"$scratch/response" || :
}

# fetch ADDRESS PATH [CREDENTIALS]: sets `status` and `request_id` of the response, and
# leaves it in scratch. False: there was none.
fetch()
{
	{
		printf 'GET %s HTTP/1.0\r\nHost: %s\r\nUser-Agent: urlmode-check\r\n' "$2" "${base_url#https://}"
		[ $# -lt 3 ] || printf 'Authorization: Basic %s\r\n' "$3"
		printf '\r\n'
	} | send "$1"
	status=$(sed -n '\|^HTTP/1.[01] |{ s|^HTTP/1.[01] \([0-9]*\).*|\1|p; q; }' "$scratch/response")
	request_id=$(sed -n '/^$/q; s/^X-Request-Id: \([0-9a-f]\{32\}\)$/\1/Ip' "$scratch/response")
	[ -n "$status" ]
}

# Of the responses in scratch, one a line.
statuses()
{
	sed -n 's|^HTTP/1.[01] \([0-9]*\).*|\1|p' "$scratch/response"
}

# limited CHECK WHAT: whether nginx refuses more requests from this host, whatever runs behind it.
limited()
{
	[ "$status" = 429 ] || return 1
	finding warning "$1" "$2 answers 429: nginx refuses more requests from this host itself" \
		"somebody on this host sends too many; wait, or see limit_req in $nginx/$instance/http.conf"
}

# --- By the loopback address: nginx of this host -------------------------

check_local()
{
	local_answers=
	if ! split_base_url; then
		finding skipped local "base_url is not https: for this machine alone"
		return
	fi
	fetch 127.0.0.1 /healthz || {
		finding skipped local "nothing answers with TLS on 127.0.0.1:$port" \
			"if nginx of this host has that port, look at its error_log"
		return 0
	}
	local_answers=1
	if limited local /healthz; then
		:
	elif [ "$status" = 200 ]; then
		finding ok local "/healthz says that the programs and their database are well"
		! grep -q '"notification_queue":"filling"' "$scratch/response" || queue_is_filling
	else
		finding error local "/healthz says $status: $(printable "$(sed '1,/^$/d' "$scratch/response" | head -c 300)")" \
			"the log of the programs says why: journalctl -u '$instance@*'"
	fi
	check_answers
	check_sign_in
}

# Each transaction that is open, one a line. Any role may see these columns of any session.
transactions()
{
	in_unit timeout -k 1 "$database_seconds" "$operate" sql 2>"$scratch/said" <<'SQL' || :
SELECT format('process %s (role %s, database %s), transaction %s', a.pid, a.usename, a.datname, l.virtualtransaction)
FROM pg_locks l JOIN pg_stat_activity a USING (pid)
WHERE l.locktype = 'virtualxid' AND a.usename IS NOT NULL AND l.pid <> pg_backend_pid()
ORDER BY a.pid;
SQL
}

# PostgreSQL does not say which session holds the queue until it is half full. But that
# session is in a transaction, which does not end.
queue_is_filling()
{
	transactions >"$scratch/before"
	sleep 1
	holders=$(transactions | grep -Fxf "$scratch/before" | sed 's/, transaction .*//' | head -n 5 | tr '\n' ';' | sed 's/;$//; s/;/, /g') || :
	finding warning local "/healthz says that the database's notification queue is filling. ${holders:+In one transaction all the time: }${holders:-No transaction lasts}" \
		"end the session that listens and does not read, or whose transaction does not end: SELECT pg_terminate_backend(...). At half full, the log of PostgreSQL and of the programs names it"
}

# Asks for a path that each program refuses or answers by itself: all on one connection,
# and then again for what was not answered there.
check_answers()
{
	silent=
	paths=
	for name in $needed; do
		case $name in
		connect) path=/connect/ ;;
		form) path=/form/ ;;
		oauth-return) path=/oauth/ ;;
		payment-return) path=/payment/ ;;
		signin-return) path=/signin/return ;;
		webhook) path=/webhook/ ;;
		status) path=/done ;;
		esac
		paths="$paths $name $path"
	done
	# shellcheck disable=SC2086 # names and paths
	head_requests $paths | send 127.0.0.1
	# shellcheck disable=SC2046 # numbers
	set -- $(statuses)
	for name in $needed; do
		path=${paths#* "$name" }
		path=${path%% *}
		status=${1-}
		[ $# -eq 0 ] || shift
		# 500: nginx could not ask who the user is, which check_sign_in names.
		if [ -z "$status" ] && ! fetch 127.0.0.1 "$path" || [ "$status" -gt 500 ]; then
			silent="$silent $name"
		fi
	done
	if [ -n "$silent" ]; then
		finding error answers "nginx gets no answer from:$silent" \
			"systemctl status '$instance@*'; may nginx's group connect to the sockets?"
	else
		finding ok answers "each program answers through nginx"
	fi
}

# head_requests NAME PATH...: no bodies come back; the last one ends the connection.
head_requests()
{
	while [ $# -gt 1 ]; do
		printf 'HEAD %s HTTP/1.1\r\nHost: %s\r\nUser-Agent: urlmode-check\r\n' "$2" "${base_url#https://}"
		shift 2
		[ $# -gt 0 ] || printf 'Connection: close\r\n'
		printf '\r\n'
	done
}

# Goes to /connect as a browser that has not signed in, with a link that this
# host has sealed, of an elicitation that does not exist.
check_sign_in()
{
	state=$(ask state "$provider")
	fetch 127.0.0.1 "/connect/$provider?state=$state" || {
		finding error sign_in "/connect does not answer" "see the finding on answers"
		return 0
	}
	! limited sign_in /connect || return 0
	text=$(sed '1,/^$/d' "$scratch/response")
	location=$(sed -n '/^$/q; s/^Location: //Ip' "$scratch/response")
	case $status-$text in
	*sign_in_not_set_up*)
		finding error sign_in "every user gets 500 (sign_in_not_set_up): user_check is $user_check, and nginx does not say who the user is" \
			"include urlmode/auth-request.conf or auth-basic.conf in the site behind server.conf, and reload nginx"
		;;
	*state_invalid* | *state_expired*)
		finding error sign_in "the programs refuse a link that was sealed with $keys_name: $(printable "$text" | head -c 100)" \
			"restart them: systemctl try-restart '$instance@*.service'"
		;;
	5*)
		check_proxy
		;;
	*)
		check_way
		;;
	esac
}

# Why a user gets a 5xx: what auth-request.conf asks may be gone.
check_proxy()
{
	users_get=$status
	if fetch 127.0.0.1 /oauth2/sign_in && [ "$status" -gt 500 ]; then
		finding error sign_in "nobody can sign in: nginx gets no answer from oauth2-proxy, and users get $users_get" \
			"systemctl status oauth2-proxy; does it listen where urlmode/auth-request.conf says?"
	else
		cause='' mend="nginx's error_log and the log of the programs say why"
		find_cause || :
		finding error sign_in "a user gets $users_get at /connect${cause:+: $cause}" "$mend"
	fi
}

# Whether the web server that asks for a password can compare it: it looks at the file only
# when somebody has typed one. Comes with a name that nobody has.
check_passwords()
{
	file=$nginx/$instance.htpasswd
	fetch 127.0.0.1 "/connect/$provider?state=$state" "$(printf 'urlmode-check:%s' "$state" | openssl base64 -A)" || {
		finding warning sign_in "no answer to a request with a password, so that nobody knows whether users can sign in"
		return 0
	}
	if [ "$status" = 403 ]; then
		finding error sign_in "nobody can sign in: nginx asks for a password, and has no file of passwords" \
			"htpasswd -B -c $file NAME"
	elif [ "$status" = 500 ]; then
		finding error sign_in "nobody can sign in: nginx asks for a password, and cannot read its file of passwords" \
			"its workers must be able to: chgrp www-data $file && chmod 640 $file, with their group"
	elif [ -r "$file" ] && ! grep -q '^[^#:]*:' "$file"; then
		finding error sign_in "nobody can sign in: $file has no users" "htpasswd -B $file NAME"
	else
		say_asked
	fi
}

say_asked()
{
	finding ok sign_in "a user is asked to sign in, with user_check $user_check"
}

# Whether /connect has asked the user to sign in.
check_way()
{
	endpoint=
	! uses_openid || endpoint=$(openid_value authorization_endpoint)
	case $user_check-$status-$location in
	openid-30?-"$endpoint"*)
		finding ok sign_in "a user is sent to the OpenID provider"
		;;
	openid-*)
		finding error sign_in "/connect answers $status, and does not send a user to $endpoint" \
			"restart the programs: systemctl try-restart '$instance@*.service'"
		;;
	*-401-*)
		if grep -qi '^WWW-Authenticate: Basic' "$scratch/response"; then check_passwords; else say_asked; fi
		;;
	*-403-*)
		finding warning sign_in "a user gets 403 at /connect, and is not asked to sign in" \
			"let nginx ask for a name, as urlmode/auth-basic.conf or auth-request.conf do"
		;;
	*-30?-*) say_asked ;;
	*)
		finding ok sign_in "a user gets through, with user_check $user_check"
		;;
	esac
}

# --- By the address that everybody uses -----------------------------------

check_certificate()
{
	split_base_url || {
		finding skipped certificate "base_url is not https"
		return 0
	}
	bare=${host#\[}
	bare=${bare%\]}
	timeout 10 openssl s_client -connect "$host:$port" -servername "$bare" -verify_hostname "$bare" \
		</dev/null >"$scratch/tls" 2>"$scratch/said" || :
	openssl x509 -in "$scratch/tls" -noout -enddate >"$scratch/end" 2>/dev/null || {
		finding error certificate "no TLS at $host:$port: $(said "$scratch/said")" \
			"check the name in the DNS, the firewall, and that the site is enabled"
		return 0
	}
	end=$(date -u -d "$(sed 's/^notAfter=//' "$scratch/end")" +%s)
	certificate_end=$end
	left=$((end - $(date +%s)))
	verified=$(sed -n 's/^ *Verify return code: //p' "$scratch/tls" | head -n 1)
	if [ $left -le 0 ]; then
		finding error certificate "it has expired" "renew it, and reload nginx"
	elif [ "${verified%% *}" != 0 ]; then
		finding error certificate "browsers will refuse it: $verified" \
			"ssl_certificate needs the name $host and the whole chain"
	elif [ $left -lt $((certificate_days * 86400)) ]; then
		finding warning certificate "it ends within $(days $left)" "renew it, and reload nginx"
	else
		finding ok certificate "good for $(days $left)"
	fi
}

# The request id of an answer is in the log of the host that gave it.
check_outside()
{
	split_base_url || {
		finding skipped outside "base_url is not https"
		return 0
	}
	fetch "$host" /done || {
		finding error outside "nothing answers at $base_url/done: $(said "$scratch/said")" \
			"check the name in the DNS, the firewall, and that the site is enabled"
		return 0
	}
	if limited outside "$base_url/done"; then
		:
	elif [ "$status" -ge 500 ]; then
		finding error outside "$base_url/done says $status" "see the finding on answers"
	elif [ -z "$request_id" ] || [ "$status" != 200 ]; then
		finding error outside "what answers at $base_url/done with $status is no urlmode" \
			"check where the name leads, and which site of nginx has it"
	else
		find_request
	fi
}

# Whether this host's log has the request; a log may be a second late.
find_request()
{
	for attempt in 1 2 3 4 5 6; do
		find_in_log && {
			finding ok outside "$base_url leads to this host: its log has the request"
			return
		}
		[ "$attempt" -eq 6 ] || sleep 0.5
	done
	if [ -n "$readable" ]; then
		finding warning outside "a urlmode answers at $base_url, and the request is not in the log of this host" \
			"right if other hosts share the name; otherwise check where it leads"
	else
		finding skipped outside "a urlmode answers at $base_url; without its log it cannot be seen whether it is this host's" \
			"run urlmode check as root"
	fi
}

find_in_log()
{
	readable=
	if [ -n "$log_file" ] && [ -r "$log_file" ]; then
		readable=1
		tail -n 2000 -- "$log_file" | grep -qF "\"request\":\"$request_id\""
	elif [ -z "$log_file" ] && is_root && [ -d /run/systemd/system ]; then
		readable=1
		journalctl -q -o cat --since=-1min -u "$instance@*" | grep -qF "\"request\":\"$request_id\""
	else
		return 1
	fi
}
