# shellcheck shell=sh disable=SC2034,SC2154 # shared with the other files
# What the subcommands share: messages, connections to PostgreSQL, files that are
# never overwritten.
#
# Exit status: 0, 1 for what failed, 64 for a command line that makes no sense
# (EX_USAGE of sysexits.h). `check` also has 2.

# absolute PATH: some steps are taken in another folder.
absolute()
{
	case $1 in
	/*) printf '%s\n' "$1" ;;
	*) printf '%s\n' "$PWD/$1" ;;
	esac
}

PATH=$PATH:/usr/sbin:/sbin
LC_ALL=C.UTF-8
export PATH LC_ALL
umask 077
programs='connect form oauth-return payment-return signin-return status webhook'

# name_deployment NAME: empty for the one without a name. Its name is in that of its user, its units
# and its folders, and in those of its roles.
name_deployment()
{
	deployment=$1
	instance=urlmode${1:+-$1}
	role_prefix=urlmode${1:+_$1}
	etc_dir=${etc_dir%/*}/$instance
	run_dir=${run_dir%/*}/$instance
	state_dir=${state_dir%/*}/$instance
}

# contract: texts
# text_check_changed NAMES
text_check_changed()
{
	printf '%s\n' "not as it was applied: $1"
}
text_check_changed_advice='urlmode migrate says the way out'
text_deployment_name='a deployment has a name of 1 to 16 of a-z and 0-9, which begins with a letter'
text_revoke_needs_deployment='--revoke-others needs --deployment, whose logins stay'
# end

# is_deployment NAME
is_deployment()
{
	case $1 in
	'' | [!a-z]* | *[!a-z0-9]* | api | check | console | jwks | purge) return 1 ;;
	*) [ ${#1} -le 16 ] ;;
	esac
}

if [ -z "$asked_deployment" ] || [ "$asked_deployment" = default ]; then
	name_deployment ''
elif is_deployment "$asked_deployment"; then
	name_deployment "$asked_deployment"
else
	printf '%s\n' "urlmode: $text_deployment_name and is not that of a unit" >&2
	exit 64
fi
config=$(absolute "${URLMODE_CONFIG:-$etc_dir/config.json}")
export URLMODE_CONFIG="$config"
# The api has a folder of its own, unless its configuration is beside that of the programs.
api_config=${config%/*}/api.json
[ -e "$api_config" ] || api_config=${config%/*}-api/api.json
api_config=$(absolute "${URLMODE_API_CONFIG:-$api_config}")
# So has the console.
console_config=${config%/*}/console.json
[ -e "$console_config" ] || console_config=${config%/*}-console/console.json
console_config=$(absolute "${URLMODE_CONSOLE_CONFIG:-$console_config}")

# --- Messages ---------------------------------------------------------------

# without_controls: removes from standard input what a terminal obeys and psql's own escaping
# leaves: in UTF-8 U+0080 to U+009F, and what turns the direction of text around.
without_controls()
{
	LC_ALL=C sed "$(printf 's/\302[\200-\237]//g\ns/\342\200[\252-\256]//g\ns/\342\201[\246-\251]//g')"
}

# printable TEXT: one line without control characters.
printable()
{
	case $* in
	*[!\ -~]*) printf '%s' "$*" | LC_ALL=C tr '\t\r\n' '   ' | LC_ALL=C tr -d '\000-\037\177' | without_controls ;;
	*) printf '%s' "$*" ;;
	esac
}

say()
{
	printf '%s\n' "$*"
}

warn()
{
	printf 'urlmode: %s\n' "$*" >&2
}

die()
{
	warn "$@"
	exit 1
}

misuse()
{
	warn "$@"
	warn "try: urlmode help${subcommand:+ $subcommand}"
	exit 64
}

# unknown_argument ARGUMENT
unknown_argument()
{
	case $1 in
	-*) misuse "there is no option $(printable "$1")" ;;
	*) misuse "$(printable "$1") is one argument too many" ;;
	esac
}

# needs_value OPTION COUNT: the option must not be the last of COUNT arguments.
needs_value()
{
	[ "$2" -gt 1 ] || misuse "$1 needs a value"
}

# days SECONDS: how many these are, rounded up, in words.
days()
{
	number=$((($1 + 86399) / 86400))
	if [ $number -eq 1 ]; then say "1 day"; else say "$number days"; fi
}

user_id=
is_root()
{
	[ "${user_id:=$(id -u)}" -eq 0 ]
}

# --- A folder for what lives as long as the command ------------------------

scratch=
unfinished=
# In memory: it may have passwords, and a full disk must not be in its way.
make_scratch()
{
	[ -z "$scratch" ] || return 0
	scratch=$(mktemp -d -p /dev/shm 2>/dev/null || mktemp -d)
	trap 'rm -rf "$scratch"; [ -z "$unfinished" ] || rm -f "$unfinished"' EXIT
	trap 'exit 129' HUP
	trap 'exit 130' INT
	trap 'exit 143' TERM
}

# --- What a shell cannot read -----------------------------------------------

# ask QUESTION...: what the program behind this command says of the
# configuration, a keys file, a connection string, a socket or a delivery.
ask()
{
	[ -x "$operate" ] || {
		warn "$operate is not there: build urlmode first"
		return 1
	}
	"$operate" "$@"
}

# --- PostgreSQL -------------------------------------------------------------

# A password on a command line is seen by all. So connection strings go through
# a service file, which libpq itself has written.

# add_service NAME CONNECTION_STRING
add_service()
{
	make_scratch
	PGSERVICEFILE=$scratch/services
	PGCONNECT_TIMEOUT=${PGCONNECT_TIMEOUT:-10}
	PGCLIENTENCODING=UTF8
	PGDATESTYLE=ISO
	PGTZ=UTC
	PGAPPNAME="urlmode ${subcommand-}"
	export PGSERVICEFILE PGCONNECT_TIMEOUT PGCLIENTENCODING PGDATESTYLE PGTZ PGAPPNAME
	# printf is a part of the shell: no process has the string as an argument.
	printf '%s\n' "$2" | ask conninfo >"$scratch/conninfo" || return 1
	{
		printf '[%s]\n' "$1"
		cat "$scratch/conninfo"
	} >>"$PGSERVICEFILE"
	rm -f "$scratch/conninfo"
}

# service_value NAME KEY: of a service that add_service has made.
service_value()
{
	sed -n "/^\[$1\]\$/,/^\[/s/^$2=//p" "$PGSERVICEFILE"
}

# query SERVICE [ARGUMENT OF PSQL...]: runs the SQL on standard input. Values
# come as psql's variables, -v name=value and :'name', never as a part of the SQL.
query()
{
	service=$1
	shift
	psql -X -q -w -v ON_ERROR_STOP=1 -P pager=off "$@" -d "service=$service" -f - || return 1
}

# show_query [ARGUMENT OF PSQL...]: the same as the operator, for a terminal.
show_query()
{
	query operator "$@" >"$scratch/rows"
	without_controls <"$scratch/rows"
}

# env_value FILE NAME: the value of a line NAME=value.
env_value()
{
	sed -n "s/^$2=//p" "$1"
}

# Makes the service `operator`, of the environment or of the file that setup has
# written beside the configuration.
connect_operator()
{
	operator_env=${config%/*}/operator.env
	if [ -n "${URLMODE_OPERATOR_DATABASE_URL-}" ]; then
		add_service operator "$URLMODE_OPERATOR_DATABASE_URL" ||
			die "URLMODE_OPERATOR_DATABASE_URL is refused"
	elif [ -r "$operator_env" ]; then
		add_service operator "$(env_value "$operator_env" URLMODE_OPERATOR_DATABASE_URL)" ||
			die "URLMODE_OPERATOR_DATABASE_URL in $operator_env is refused"
	elif [ -e "$operator_env" ]; then
		die "$operator_env cannot be read by $(id -un)"
	else
		die "set URLMODE_OPERATOR_DATABASE_URL; urlmode setup writes it into $operator_env"
	fi
}

# check_tenant TEXT: the word that a row's tenant is.
check_tenant()
{
	case $1 in
	-) misuse "the tenant is a name: leave --tenant out for the rows that have none" ;;
	'' | *[!a-z0-9_-]*) ;;
	*) [ ${#1} -gt 64 ] || return 0 ;;
	esac
	misuse "a tenant has 1 to 64 of a-z, 0-9, _ and -"
}

# read_tenant TEXT: sets `tenant`; - is the rows that have none.
read_tenant()
{
	tenant=
	[ "$1" != - ] || return 0
	check_tenant "$1"
	tenant=$1
}

# is_age TEXT: 90s, 30m, 2h, 7d or 4w, as PostgreSQL takes it for an interval.
is_age()
{
	case $1 in
	*[smhdw]) ;;
	*) return 1 ;;
	esac
	case ${1%?} in
	'' | *[!0-9]* | ???????*) return 1 ;;
	esac
}

# --- Files that hold secrets ------------------------------------------------

# write_beside FILE: a new file beside it, of what is on standard input: in
# `unfinished`, until it has its name.
write_beside()
{
	make_scratch
	unfinished=$(mktemp "$1.XXXXXX")
	cat >"$unfinished"
}

# --- JSON -------------------------------------------------------------------

# json_string TEXT: quoted; what is no UTF-8 is left out.
json_string()
{
	case $1 in
	*[!\ -~]* | *[\\\"]*) printf '"%s"' "$(printable "$1" | iconv -c -f UTF-8 -t UTF-8 | sed 's/[\\"]/\\&/g')" ;;
	*) printf '"%s"' "$1" ;;
	esac
}

# --- The administrator of PostgreSQL ---------------------------------------

# Who may create roles and databases: URLMODE_ADMIN_DATABASE_URL, or the user
# postgres of this machine where the caller is root. Sets `database`, by default that of the deployment.
connect_admin()
{
	make_scratch
	if [ -n "${URLMODE_ADMIN_DATABASE_URL-}" ]; then
		add_service admin "$URLMODE_ADMIN_DATABASE_URL" ||
			die "URLMODE_ADMIN_DATABASE_URL is refused"
		database=$(service_value admin dbname)
	elif ! is_root; then
		die "set URLMODE_ADMIN_DATABASE_URL to an administrator of PostgreSQL, or be root"
	elif ! id postgres >/dev/null 2>&1; then
		die "there is no user postgres here: set URLMODE_ADMIN_DATABASE_URL"
	fi
	database=${database:-$role_prefix}
	case $database in
	*[!A-Za-z0-9_-]*) die "the name of the database may only have letters, digits, _ and -" ;;
	esac
}

# as_admin DATABASE COMMAND...: with URLMODE_ADMIN_DATABASE_URL naming this
# database, and no password.
as_admin()
{
	if [ -n "${URLMODE_ADMIN_DATABASE_URL-}" ]; then
		admin_url="service=admin dbname=$1"
		shift
		env URLMODE_ADMIN_DATABASE_URL="$admin_url" "$@"
	else
		admin_url="dbname=$1"
		shift
		(cd / && runuser -u postgres -- env URLMODE_ADMIN_DATABASE_URL="$admin_url" "$@")
	fi
}

# admin DATABASE [ARGUMENT OF PSQL...]
admin()
{
	admin_database=$1
	shift
	# shellcheck disable=SC2016 # for the shell that as_admin starts
	as_admin "$admin_database" sh -c \
		'exec psql -X -q -w -A -t -v ON_ERROR_STOP=1 -P pager=off -d "$URLMODE_ADMIN_DATABASE_URL" "$@"' \
		psql "$@"
}

# migrations_missing DATABASE [--frameworks]: their names, one a line.
migrations_missing()
{
	admin "$1" -f - >"$scratch/applied" <<'SQL'
SELECT to_regclass('urlmode.migration') IS NOT NULL AS there \gset
\if :there
SELECT name FROM urlmode.migration ORDER BY name;
\endif
SQL
	wanted_migrations "${2-}" | grep -vxF -f "$scratch/applied" || [ $? -eq 1 ]
}

# Of the digests and names that it reads: the files of this version that have others.
changed_migrations()
{
	while read -r digest name; do
		case $name in
		frameworks/*) file=frameworks/tables/${name#*/} ;;
		*) file=tables/$name ;;
		esac
		[ ! -r "$sql_dir/$file" ] || say "$digest  $file"
	done | (cd "$sql_dir" && sha256sum -c 2>/dev/null) | sed -n 's|tables/\(.*\): FAILED.*|\1|p'
}

# migrations_changed DATABASE: the names of those that are not as they were applied, one a line.
migrations_changed()
{
	admin "$1" -f - <<'SQL' | changed_migrations
SELECT to_regclass('urlmode.migration') IS NOT NULL AS there \gset
\if :there
-- Before 055_digest.sql there is no column for it.
SELECT to_jsonb(m) ->> 'digest' || ' ' || m.name FROM urlmode.migration m WHERE to_jsonb(m) ->> 'digest' <> '' ORDER BY m.name;
\endif
SQL
}

# Of this version.
all_migrations()
{
	for file in "$sql_dir"/tables/[0-9]*.sql; do
		say "${file##*/}"
	done
}

framework_migrations()
{
	for file in "$sql_dir"/frameworks/tables/[0-9]*.sql; do
		say "frameworks/${file##*/}"
	done
}

# wanted_migrations [--frameworks]: those of this version that a database must have in
# which the ones of the file applied are.
wanted_migrations()
{
	all_migrations
	if [ "${1-}" = --frameworks ] || grep -q '^frameworks/' "$scratch/applied"; then
		framework_migrations
	fi
}

# The version of the functions of this version of urlmode.
functions_version()
{
	sed -n '/functions_version()/,/;$/s/^	SELECT //p' "$sql_dir/functions/000_version.sql"
}

# schema_missing DATABASE [--frameworks]: what is missing in a database: its migrations, and the functions of this version if it
# has older ones; one a line.
schema_missing()
{
	migrations_missing "$@"
	version=$(admin "$1" -f - <<'SQL'
SELECT to_regproc('urlmode.functions_version') IS NOT NULL AS there \gset
\if :there
SELECT urlmode.functions_version();
\endif
SQL
	)
	[ "${version:-0}" -ge "$(functions_version)" ] || say "functions of version $(functions_version)"
}

# migrate DATABASE [OPTION]...
migrate()
{
	as_admin "$1" test -r "$sql_dir/migrate" ||
		die "the user postgres cannot read $sql_dir: set URLMODE_ADMIN_DATABASE_URL instead"
	migrated=$1
	shift
	as_admin "$migrated" "$sql_dir/migrate" ${asked_deployment:+--deployment "$asked_deployment"} "$@"
}
