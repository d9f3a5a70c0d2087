# shellcheck shell=sh disable=SC2154 # of common.sh and setup.sh
# The database of urlmode setup: it and its schema, the roles' passwords, and
# the files that hold them.
#
# A new password is kept in DIR/.ROLE.password until the file that needs it is
# written. So a setup that was interrupted goes on with the same one.

roles="${role_prefix}_cgi ${role_prefix}_server ${role_prefix}_operator"

# file_of ROLE: where its password goes.
file_of()
{
	case $1 in
	*_cgi) say "$etc/config.json" ;;
	*_server) say "$etc/server.env" ;;
	*_operator) say "$etc/operator.env" ;;
	esac
}

pending_of()
{
	say "$etc/.$1.password"
}

setup_database()
{
	there=1
	if admin "$database" -c 'SELECT 1' >/dev/null 2>"$scratch/error"; then
		keep "database $database"
		check_whose
	else
		there=0
		exists=$(admin postgres -v name="$database" -f - <<'SQL'
SELECT EXISTS (SELECT FROM pg_database WHERE datname = :'name');
SQL
		) || die "PostgreSQL cannot be reached as an administrator"
		[ "$exists" = f ] || die "the database $database: $(printable "$(cat "$scratch/error")")"
		step "create database $database" create_database
	fi
	for role in $roles; do
		new_password "$role"
	done
	setup_schema
	for role in $roles; do
		setup_role "$role"
	done
	setup_others
}

# The logins of another deployment must be able to go on: they get those of this one beside them only when asked to.
check_whose()
{
	whose=$(admin "$database" -v cgi="${role_prefix}_cgi" -f - <<'SQL'
SELECT string_agg(pg_get_userbyid(a.grantee), ', ') FROM pg_namespace n, aclexplode(n.nspacl) a
WHERE n.nspname = 'urlmode' AND a.privilege_type = 'USAGE' AND pg_get_userbyid(a.grantee) ~ '^urlmode(_[a-z][a-z0-9]*)?_cgi$'
HAVING NOT bool_or(pg_get_userbyid(a.grantee) = :'cgi');
SQL
	)
	[ -z "$whose" ] || die "the database $database is another deployment's ($whose): take another one, or see UPGRADING.md"
}

# others FORMAT: a line for each other database of the cluster to which PUBLIC can
# connect. A login of urlmode could connect there, take locks and fill it.
others()
{
	maintenance=$database
	[ $there -eq 1 ] || [ $dry_run -eq 0 ] || maintenance=postgres
	admin "$maintenance" -v name="$database" -v format="$1" -f - <<'SQL'
SELECT format(:'format', d.datname) FROM pg_database d
WHERE d.datname <> :'name' AND d.datallowconn AND EXISTS (
	SELECT FROM aclexplode(coalesce(d.datacl, acldefault('d', d.datdba))) a
	WHERE a.grantee = 0 AND a.privilege_type = 'CONNECT')
ORDER BY d.datname;
SQL
}

# Only where nobody else logs in: other applications rely on PUBLIC.
setup_others()
{
	others '%s' >"$scratch/others"
	[ -s "$scratch/others" ] || return 0
	alone=$(admin postgres -f - <<'SQL'
SELECT (SELECT rolsuper FROM pg_roles WHERE rolname = current_user) AND NOT EXISTS (
	SELECT FROM pg_roles r WHERE r.rolcanlogin AND NOT r.rolsuper
		AND r.rolname !~ '^urlmode(_[a-z][a-z0-9]*)?_(cgi|server|operator)$');
SQL
	)
	names=$(printable "$(cat "$scratch/others")")
	if [ "$alone" = t ]; then
		step "withdraw CONNECT from PUBLIC for $names" withdraw_connect
	else
		say "other roles may need to connect to $names as PUBLIC. Where they do not:" \
			"REVOKE CONNECT ON DATABASE ... FROM PUBLIC"
	fi
}

withdraw_connect()
{
	others 'REVOKE CONNECT ON DATABASE %I FROM PUBLIC;' >"$scratch/revoke"
	admin postgres -f - <"$scratch/revoke"
}

create_database()
{
	admin postgres -v name="$database" -f - <<'SQL'
SELECT format('CREATE DATABASE %I ENCODING ''UTF8'' TEMPLATE template0', :'name') \gexec
SQL
}

setup_schema()
{
	if [ $there -eq 0 ] && [ $dry_run -eq 1 ]; then
		all_migrations >"$scratch/missing"
		say "functions of version $(functions_version)" >>"$scratch/missing"
	else
		schema_missing "$database" >"$scratch/missing"
	fi
	if [ ! -s "$scratch/missing" ]; then
		keep "schema urlmode"
	elif [ $dry_run -eq 1 ]; then
		sed 's/^/would apply /' "$scratch/missing"
	else
		migrate "$database" | sed 's/^/apply /'
		schema_missing "$database" >"$scratch/missing"
		[ ! -s "$scratch/missing" ] || die "not all of the schema was applied"
	fi
}

# password_of ROLE: missing, none, set, or unknown, which only a superuser sees.
password_of()
{
	maintenance=$database
	[ $there -eq 1 ] || maintenance=postgres
	admin "$maintenance" -v role="$1" -f - <<'SQL'
SELECT NOT EXISTS (SELECT FROM pg_roles WHERE rolname = :'role') AS missing,
	has_table_privilege('pg_authid', 'SELECT') AS visible \gset
\if :missing
	\echo missing
\elif :visible
	SELECT CASE WHEN rolpassword IS NULL THEN 'none' ELSE 'set' END FROM pg_authid WHERE rolname = :'role';
\else
	\echo unknown
\endif
SQL
}

# new_password ROLE: makes one for a role that has none, and whose file is missing.
new_password()
{
	if [ -e "$(file_of "$1")" ]; then
		keep "$(file_of "$1"), and the password of $1"
		return
	fi
	[ ! -e "$(pending_of "$1")" ] || return 0
	case $(password_of "$1") in
	missing | none)
		step "make a password for $1" write_password "$1"
		;;
	set)
		problem "$1 has a password, and $(file_of "$1") is not here: copy the file from the host" \
			"that has it. Or give the role another password everywhere, with psql's \\password, and write the file"
		;;
	*)
		problem "it cannot be seen whether $1 has a password, and $(file_of "$1") is not here: write the" \
			"file, with a password that you set with psql's \\password"
		;;
	esac
}

write_password()
{
	password=$(openssl rand -hex 24)
	say "$password" >"$scratch/new"
	write_new "$(pending_of "$1")" 600 root
}

# setup_role ROLE: gives it the password that was made, and writes its file.
setup_role()
{
	if [ $dry_run -eq 1 ]; then
		[ -e "$(file_of "$1")" ] || say "would create $(file_of "$1")"
		return
	fi
	[ -e "$(pending_of "$1")" ] || return 0
	if [ ! -e "$(file_of "$1")" ]; then
		password=$(cat -- "$(pending_of "$1")")
		url=$(url_of "$1")
		add_service "$1" "$url"
		if ! can_log_in "$1"; then
			[ "$(password_of "$1")" != set ] || {
				problem "$1 has a password, and cannot log in with that in $(pending_of "$1"):" \
					"$(printable "$(cat "$scratch/error")")"
				return
			}
			step "set the password of $1" set_password "$1"
			can_log_in "$1" || {
				problem "$1 cannot log in: $(printable "$(cat "$scratch/error")")"
				return
			}
		fi
		step "create $(file_of "$1")" "write_for_${1##*_}"
	fi
	rm -f -- "$(pending_of "$1")"
}

can_log_in()
{
	query "$1" -A -t >/dev/null 2>"$scratch/error" <<'SQL'
SELECT 1;
SQL
}

# psql's \password sends PostgreSQL only what SCRAM keeps of a password. Without
# a terminal it reads standard input. A superuser keeps the statement out of the log.
set_password()
{
	# shellcheck disable=SC2016 # for the shell that as_admin starts
	printf '%s\n%s\n' "$password" "$password" |
		as_admin "$database" sh -c 'exec setsid -w psql -X -q -w -d "$URLMODE_ADMIN_DATABASE_URL" \
			-c "$1" -c "\password $2"' sh \
			"SELECT set_config('log_statement', 'none', false) FROM pg_roles WHERE rolname = current_user AND rolsuper" \
			"$1" >/dev/null 2>"$scratch/error" ||
		die "the password of $1 cannot be set: $(printable "$(cat "$scratch/error")")"
}

# url_of ROLE: its connection URI, with `password`. Where the administrator comes
# by a socket of this machine, the roles come by TCP, where a password counts.
url_of()
{
	hosts=
	ports=
	more=
	if [ -n "${URLMODE_ADMIN_DATABASE_URL-}" ]; then
		hosts=$(service_value admin host)
		ports=$(service_value admin port)
		for key in sslmode sslrootcert target_session_attrs; do
			value=$(service_value admin $key)
			case $value in
			'' | *[!A-Za-z0-9/._-]*) ;;
			*) more="$more${more:+&}$key=$value" ;;
			esac
		done
	fi
	case $hosts in
	'' | /*)
		hosts=127.0.0.1
		ports=$(admin "$database" -c 'SHOW port')
		;;
	esac
	[ -z "$database_host" ] || {
		hosts=${database_host%:*}
		ports=
		case $database_host in *:*) ports=${database_host##*:} ;; esac
	}
	say "postgresql://$1:$password@$(host_list)/$database${more:+?$more}"
}

# HOST:PORT,HOST:PORT of libpq's two lists; one port counts for all hosts.
host_list()
{
	awk -v hosts="$hosts" -v ports="$ports" 'BEGIN {
		n = split(hosts, host, ",")
		m = split(ports, port, ",")
		for (i = 1; i <= n; i++) {
			p = m == 1 ? port[1] : port[i]
			h = host[i] ~ /:/ ? "[" host[i] "]" : host[i]
			printf "%s%s%s", (i == 1 ? "" : ","), h, (p == "" ? "" : ":" p)
		}
	}'
}

check_of_users()
{
	case $user_check in
	oauth2-proxy | basic) say remote-user ;;
	*) say "$user_check" ;;
	esac
}

# The subject of Entra is another one for each application.
openid_entry()
{
	printf '\t"openid": {\n'
	json_line issuer "$issuer"
	json_line client_id "$client_id"
	json_line authorization_endpoint "$(discovery_value authorization_endpoint)"
	out=$(discovery_value end_session_endpoint)
	[ -z "$out" ] || json_line end_session_endpoint "$out"
	case $issuer in
	https://login.microsoftonline.com/*)
		json_line claim oid
		json_line scope "openid profile"
		;;
	esac
	json_line refresh_file "$run_dir/metrics/jwks-refresh"
	printf '\t\t"jwks_file": "%s"\n\t},\n' "$state_dir/jwks.json"
}

json_line()
{
	printf '\t\t"%s": "%s",\n' "$1" "$2"
}

write_for_cgi()
{
	{
		cat <<END
{
	"base_url": "$base_url",
	"keys_file": "keys",
	"database_url": "$url",
	"user_check": "$(check_of_users)",
END
		[ -z "$deployment" ] || printf '\t"metrics_file": "%s",\n' "$run_dir/metrics/counters"
		[ "$user_check" != openid ] || openid_entry
		printf '\t"providers": {\n'
		comma=
		for name in $oauth; do
			printf '%s\t\t"%s": { "kind": "oauth" }' "$comma" "$name"
			comma=',
'
		done
		printf '%s\t}\n}\n' "${comma:+
}"
	} >"$scratch/new"
	write_new "$etc/config.json" 640 "$(group_of "$user")"
}

write_for_server()
{
	{
		say "# For the MCP server, with URLMODE_KEYS_FILE, which names its copy of the keys."
		say "URLMODE_BASE_URL=$base_url"
		say "URLMODE_DATABASE_URL=$url"
	} >"$scratch/new"
	write_new "$etc/server.env" 600 root
}

write_for_operator()
{
	{
		say "# For the command urlmode."
		say "URLMODE_OPERATOR_DATABASE_URL=$url"
	} >"$scratch/new"
	write_new "$etc/operator.env" 600 root
}
