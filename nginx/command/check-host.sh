# shellcheck shell=sh disable=SC2154 # of common.sh and check.sh
# What urlmode check looks at on this host: database, its storage and what it lists,
# sockets.

# --- Database ---------------------------------------------------------------

# As the programs do: as their user, with their connection string, and with no
# PGPASSWORD or .pgpass of the user who runs the command.
# Seconds for what is asked of the database at once.
database_seconds=15

check_database()
{
	before=$(date +%s)
	in_unit timeout -k 1 "$database_seconds" "$operate" sql \
		>"$scratch/database-says" 2>"$scratch/said" <<'SQL' || :
SELECT current_user, pg_is_in_recovery(), current_setting('transaction_read_only'), current_setting('enable_seqscan'), current_setting('jit'),
	(SELECT rolsuper FROM pg_roles WHERE rolname = current_user), extract(epoch FROM clock_timestamp())::bigint,
	to_regproc('urlmode.ping') IS NOT NULL AND has_schema_privilege('urlmode', 'USAGE'),
	to_regclass('urlmode.elicitation') IS NOT NULL AND has_table_privilege('urlmode.elicitation', 'SELECT');
SQL
	if [ ! -s "$scratch/database-says" ]; then
		finding error database "$(said "$scratch/said")" \
			"check database_url in $config or URLMODE_CGI_DATABASE_URL, PostgreSQL, its pg_hba.conf, and the role's password (psql's \\password)"
		return
	fi
	after=$(date +%s)
	read -r login standby read_only seqscan jit superuser clock schema reads <"$scratch/database-says"
	if [ "$schema" = f ]; then
		finding error database "the schema urlmode is not there, or $login may not use it" "urlmode migrate"
	elif [ "$standby" = t ]; then
		finding error database "this is a standby, where nothing can be written" \
			"name all hosts in database_url, with target_session_attrs=read-write"
	elif [ "$read_only" = on ]; then
		finding error database "nothing can be written: default_transaction_read_only is on for $login, or for the database" \
			"ALTER ROLE $login RESET default_transaction_read_only; or ALTER DATABASE, or ALTER SYSTEM"
	else
		finding ok database "reached as $login"
	fi
	check_role
	check_clock
}

check_role()
{
	if [ "$superuser" = t ] || [ "$reads" = t ]; then
		finding error role "$login may read the tables" "the programs log in as ${role_prefix}_cgi, or a member of it"
	elif [ "$seqscan" = on ] || [ "$jit" = on ]; then
		finding warning role "$login has not the settings of ${role_prefix}_cgi: batches will be slow in a new database" \
			"ALTER ROLE $login IN DATABASE ... SET enable_seqscan = off, and SET jit = off"
	else
		finding ok role "$login, with its settings"
	fi
}

check_clock()
{
	off=0
	[ "$clock" -ge "$before" ] || off=$((before - clock))
	[ "$clock" -le "$after" ] || off=$((clock - after))
	if [ $off -gt $clock_seconds ]; then
		finding warning clock "the database's clock is $off seconds away from this host's" \
			"both decide what has expired: let both follow a time server"
	else
		finding ok clock "the database's clock is this host's"
	fi
}

# Makes the service `operator`, or is false where there is no connection for it.
operator_reached=
reach_operator()
{
	[ -z "$operator_reached" ] || return 0
	[ -n "${URLMODE_OPERATOR_DATABASE_URL-}" ] || [ -r "${config%/*}/operator.env" ] || return 1
	connect_operator
	operator_reached=1
}

# ask_database [ARGUMENT OF PSQL...]: as the operator, the SQL on standard input, within the time limit.
ask_database()
{
	{
		say "SET lock_timeout = '4s'; SET statement_timeout = '10s';"
		cat
	} | timeout -k 1 "$database_seconds" psql -X -q -w -A -t -F "$tab" -v ON_ERROR_STOP=1 -P pager=off "$@" -d service=operator -f - \
		2>"$scratch/said"
}

# Asks once for what the checks of migrations, storage and deliveries look at: a kind and its
# values in a line. False: the database is not reached, or does not list the migrations.
ask_operator()
{
	ask_database >"$scratch/operator" <<'SQL'
SELECT pg_backend_pid() AS backend \gset
\setenv BACKEND :backend
\! printf 'parent\t%s\n' "$(sed -n 's/^PPid:[[:blank:]]*//p' "/proc/$BACKEND/status" 2>/dev/null)"
\! printf 'data\t%s\n' "$(readlink -- "/proc/$BACKEND/cwd" 2>/dev/null)"
SELECT 'port', current_setting('port');
SELECT 'space', spcname, pg_tablespace_location(oid) FROM pg_tablespace WHERE pg_tablespace_location(oid) <> '';
SELECT 'migration', name FROM urlmode.list_migrations();
SELECT 'functions', urlmode.functions_version();
SELECT to_regproc('urlmode.migration_digests') IS NOT NULL AS digests \gset
\if :digests
SELECT 'digest', digest, name FROM urlmode.migration_digests();
\endif
SELECT to_regproc('urlmode.minted_kids') IS NOT NULL AS mints \gset
\if :mints
SELECT 'kid', kid FROM urlmode.minted_kids();
\endif
SELECT to_regproc('urlmode.list_unreadable') IS NOT NULL AS lists \gset
\if :lists
SELECT 'unreadable', string_agg(format('%s of %s', l.number, l.provider_name), ', ' ORDER BY l.provider_name) FROM (
	SELECT u.provider_name, count(*) AS number FROM urlmode.list_unreadable(NULL, now() - interval '1 day', 100000) u GROUP BY 1) l;
\endif
SQL
}

operator_value()
{
	sed -n "s/^$1	//p" "$scratch/operator"
}

check_migrations()
{
	if ! reach_operator; then
		finding skipped migrations "no connection as ${role_prefix}_operator" \
			"set URLMODE_OPERATOR_DATABASE_URL, or be root after urlmode setup"
		return
	fi
	ask_operator || {
		finding error migrations "$(said "$scratch/said")" "urlmode migrate; or check the connection as ${role_prefix}_operator"
		return 0
	}
	operator_value migration >"$scratch/applied"
	wanted_migrations >"$scratch/all"
	missing=$(grep -vxFf "$scratch/applied" "$scratch/all" | tr '\n' ' ')
	newer=$(wanted_migrations --frameworks | grep -vxFf - "$scratch/applied" | tr '\n' ' ')
	version=$(operator_value functions)
	changed=$(operator_value digest | changed_migrations | tr '\n' ' ')
	if [ -n "$changed" ]; then
		finding error migrations "$(text_check_changed "${changed% }")" "$text_check_changed_advice"
	elif [ -n "$missing" ]; then
		finding error migrations "the database does not have ${missing% }" "urlmode migrate"
	elif [ "$version" -lt "$(functions_version)" ]; then
		finding error migrations "the functions have version $version, and not $(functions_version)" "urlmode migrate"
	elif [ -n "$newer" ]; then
		finding warning migrations "the database has ${newer% }, of a newer version" "upgrade this host"
	elif [ "$version" -gt "$(functions_version)" ]; then
		finding warning migrations "the database has functions of a newer version" "upgrade this host"
	else
		finding ok migrations "all $(wc -l <"$scratch/all") are applied"
	fi
}

# --- The server ---

# The login of which setup has written the password.
check_server()
{
	server_env=${config%/*}/server.env
	[ -r "$server_env" ] || return 0
	add_service server "$(env_value "$server_env" URLMODE_DATABASE_URL)" 2>"$scratch/said" || {
		finding error server "URLMODE_DATABASE_URL in $server_env is refused" "correct it"
		return 0
	}
	if say 'SELECT 1;' | timeout -k 1 "$database_seconds" psql -X -q -w -A -t -d service=server -f - >/dev/null 2>"$scratch/said"; then
		finding ok server "what $server_env has for MCP servers reaches the database"
	else
		finding error server "MCP servers do not reach the database with what $server_env has: $(said "$scratch/said")" \
			"check pg_hba.conf for the role, and its password (psql's \\password); then copy the file to the servers"
	fi
}

# --- The schema -------------------------------------------------------------

# What the last migrate has made, and what is there now. `login` is who the programs are.
check_schema()
{
	reach_operator || return 0
	! has_error migrations || return 0
	ask_database -v login="${login-}" >"$scratch/objects" <<'SQL' || {
SELECT CASE kind WHEN 'grant' THEN 'rights' ELSE 'objects' END,
	CASE WHEN kind = 'grant' THEN format(CASE what WHEN 'missing' THEN '%s may not execute %s' ELSE '%s may execute %s' END,
		CASE holder WHEN 'PUBLIC' THEN 'everybody' ELSE holder END, split_part(name, '(', 1))
		ELSE format('the %s %s %s', kind, name, CASE what WHEN 'missing' THEN 'is missing' ELSE 'was replaced' END) END
FROM urlmode.changed_objects(:'login')
UNION ALL
-- Everybody, and the logins of other deployments: migrate takes it away.
SELECT DISTINCT 'rights', format('%s may connect', CASE a.grantee WHEN 0 THEN 'everybody' ELSE pg_get_userbyid(a.grantee)::text END)
FROM pg_database d, aclexplode(coalesce(d.datacl, acldefault('d', d.datdba))) a
WHERE d.datname = current_database() AND a.privilege_type = 'CONNECT' AND (a.grantee = 0
	OR pg_get_userbyid(a.grantee) ~ '^urlmode(_[a-z][a-z0-9]*)?_(cgi|server|operator)$' AND NOT has_schema_privilege(a.grantee, 'urlmode', 'USAGE'));
SQL
		cause=$(said "$scratch/said") mend="urlmode migrate; or check the connection as ${role_prefix}_operator"
		find_lock || :
		finding error schema "it cannot be compared: $cause" "$mend"
		return 0
	}
	if grep -q "^objects$tab" "$scratch/objects"; then
		finding error schema "it is not as the last migrate has left it: $(some_objects objects)" "urlmode migrate replaces functions; a column, an index or a constraint is made again as sql/tables/ says"
	fi
	if grep -q "^rights$tab" "$scratch/objects"; then
		finding error schema "the rights are not those of the last migrate: $(some_objects rights)" \
			"urlmode migrate grants what is missing, and closes the database; REVOKE what else is too much, also the membership in a role"
	fi
	[ -s "$scratch/objects" ] || finding ok schema "as the last migrate has left it"
}

# some_objects KIND: the first five, in one line.
some_objects()
{
	sed -n "s/^$1$tab//p" "$scratch/objects" | sort -u >"$scratch/some"
	head -n 5 "$scratch/some" | tr '\n' ';' | sed 's/;$//; s/;/; /g'
	more=$(($(wc -l <"$scratch/some") - 5))
	[ $more -le 0 ] || printf '; and %s more' $more
}

# --- Storage ----------------------------------------------------------------

# A warning comes before PostgreSQL stops: when both are less than these.
storage_percent=10
storage_kib=$((10 * 1024 * 1024))
# A few files of the write-ahead log.
storage_kib_left=$((64 * 1024))

# Sets `data` to the directory of the database's server. False: the server is on another host or in a container, or only root may look.
find_storage()
{
	data=$(operator_value data)
	# The process of this number may be another one, and a copy of the directory
	# has the file as well.
	[ -n "$data" ] && [ -r "$data/postmaster.pid" ] &&
		[ "$(sed -n '1p; 4p' "$data/postmaster.pid")" = "$(operator_value '\(parent\|port\)')" ]
}

check_storage()
{
	if ! reach_operator; then
		finding skipped storage "no connection as ${role_prefix}_operator" \
			"set URLMODE_OPERATOR_DATABASE_URL, or be root after urlmode setup"
		return
	fi
	if ! find_storage; then
		finding skipped storage "the files of the database cannot be seen from here" \
			"watch the free space on its host; root sees a database of this host"
		return
	fi
	wrong=0
	: >"$scratch/mounts"
	check_free "the data directory" "$data"
	check_free "the write-ahead log" "$data/pg_wal"
	while IFS=$tab read -r kind name place; do
		[ "$kind" != space ] || check_free "the table space $name" "$place"
	done <"$scratch/operator"
	[ $wrong -eq 1 ] || finding ok storage "the file systems of $data and of the table spaces have room"
}

# --- Deliveries -------------------------------------------------------------

check_deliveries()
{
	if ! reach_operator || ! grep -q "^unreadable$tab" "$scratch/operator"; then
		finding skipped deliveries "no connection as ${role_prefix}_operator, or its list of deliveries is missing" \
			"set URLMODE_OPERATOR_DATABASE_URL, or be root after urlmode setup"
		return
	fi
	unreadable=$(operator_value unreadable)
	if [ -n "$unreadable" ]; then
		finding warning deliveries "the last day brought deliveries with a right signature that could not be read and were refused: $unreadable" \
			"urlmode events --unreadable says where; correct the description or the configuration, and have the provider send them again"
	else
		finding ok deliveries "each delivery of the last day with a right signature could be read"
	fi
}

# check_free WHAT DIRECTORY: each file system once.
check_free()
{
	df -P -k -- "$2" 2>/dev/null |
		sed -n '2s|.* \([0-9][0-9]*\)  *\([0-9][0-9]*\)% \(/.*\)$|\1 \2 \3|p' >"$scratch/df" || :
	read -r room used mount <"$scratch/df" || {
		finding warning storage "it cannot be seen how much room $1 has, $2" "df $2 says why"
		wrong=1
		return 0
	}
	! grep -qxF -- "$mount" "$scratch/mounts" || return 0
	say "$mount" >>"$scratch/mounts"
	if [ "$room" -lt $storage_kib_left ]; then
		severity=error
	elif [ "$room" -lt $storage_kib ] && [ $((100 - used)) -lt $storage_percent ]; then
		severity=warning
	else
		return 0
	fi
	finding $severity storage "the file system of $1, $2, has $((room / 1024)) MB left, $((100 - used)) %" \
		"make room at $mount: PostgreSQL accepts no payment when it is full"
	wrong=1
}

# --- Sockets ----------------------------------------------------------------

check_sockets()
{
	wrong=0
	for name in $needed; do
		socket=$sockets/$name.sock
		if [ ! -S "$socket" ]; then
			finding error sockets "there is no socket $socket" "start it: systemctl enable --now $instance@$name.socket"
		elif ! (cd "$sockets" && ask socket "$name.sock") 2>"$scratch/said" &&
			! grep -q 'Permission denied' "$scratch/said"; then
			finding error sockets "nobody listens on $socket" "start it: systemctl restart $instance@$name.socket"
		elif mode=$(stat -c %a -- "$socket" 2>/dev/null) && [ $((mode % 10)) -ne 0 ]; then
			finding error sockets "every user can connect to $socket" "its mode is 0660, and its group that of nginx"
		else
			continue
		fi
		wrong=1
	done
	[ $wrong -eq 1 ] || finding ok sockets "$sockets, for the group $(stat -c %G -- "$socket" 2>/dev/null || say '?')"
}
