# shellcheck shell=sh
# urlmode migrate: brings the database's schema up to date.

help_migrate()
{
	cat <<'END'
usage: urlmode migrate [--frameworks] [--revoke-others] [--tries N] [--dry-run]

Applies the migrations that the database does not have, in order, each in a
transaction of its own, and names them. Then replaces the functions by those of
this version, but never newer ones. Run it before the programs and MCP servers of
a new version are started.

A transaction waits half a second for a lock, because reads and writes of the
table wait behind it. Then it gives way, names the processes that hold the lock,
and tries again, 20 times or N.

URLMODE_ADMIN_DATABASE_URL names the database and an administrator of it.
Without it root becomes the user postgres and takes the database urlmode of this
machine, or urlmode_NAME with urlmode --deployment NAME. That also gives a database
that other logins use those of the deployment, beside them.

  --frameworks  also the schema urlmode_frameworks, which MCP servers with FrontMCP or
                mcp-lite need; later runs know that it is there
  --revoke-others
                the logins of this deployment, which --deployment names, are the only
                ones that may use this database from now on
  --tries N     how often it waits for locks
  --dry-run     name the migrations, and change nothing; the status is 1 if one is not
                as it was applied
END
}

run_migrate()
{
	dry_run=0
	frameworks=
	revoke_others=
	unset tries
	while [ $# -gt 0 ]; do
		case $1 in
		--dry-run) dry_run=1 ;;
		--frameworks) frameworks=$1 ;;
		--revoke-others) revoke_others=$1 ;;
		--tries)
			needs_value "$1" $#
			tries=$2
			shift
			;;
		*) unknown_argument "$1" ;;
		esac
		shift
	done
	[ -z "$revoke_others" ] || [ -n "$asked_deployment" ] || misuse "$text_revoke_needs_deployment"
	connect_admin
	admin "$database" -c 'SELECT 1' >/dev/null || die "the database $database cannot be reached"
	schema_missing "$database" "$frameworks" >"$scratch/missing"
	if [ $dry_run -eq 1 ]; then
		migrations_changed "$database" >"$scratch/changed"
		[ ! -s "$scratch/changed" ] ||
			die "not as it was applied, so that migrate would refuse:" $(cat "$scratch/changed")
		sed 's/^/would apply /' "$scratch/missing"
	else
		migrate "$database" ${frameworks:+"$frameworks"} ${revoke_others:+"$revoke_others"} ${tries+--tries "$tries"}
	fi
	[ -s "$scratch/missing" ] || say "The schema is up to date."
}
