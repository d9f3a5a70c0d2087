# shellcheck shell=sh
# urlmode migrate: brings the database's schema up to date.

help_migrate()
{
	cat <<'END'
usage: urlmode migrate [--frameworks] [--dry-run]

Applies the migrations that the database does not have, in order, each in a
transaction of its own, and names them. Then replaces the functions by those of
this version, but never newer ones. Run it before the programs and MCP servers of
a new version are started.

URLMODE_ADMIN_DATABASE_URL names the database and an administrator of it.
Without it root becomes the user postgres and takes the database urlmode of this
machine.

  --frameworks  also the schema urlmode_frameworks, which MCP servers with FrontMCP or
                mcp-lite need; later runs know that it is there
  --dry-run     name the migrations, and change nothing
END
}

run_migrate()
{
	dry_run=0
	frameworks=
	while [ $# -gt 0 ]; do
		case $1 in
		--dry-run) dry_run=1 ;;
		--frameworks) frameworks=$1 ;;
		*) unknown_argument "$1" ;;
		esac
		shift
	done
	connect_admin
	admin "$database" -c 'SELECT 1' >/dev/null || die "the database $database cannot be reached"
	schema_missing "$database" "$frameworks" >"$scratch/missing"
	if [ $dry_run -eq 1 ]; then
		sed 's/^/would apply /' "$scratch/missing"
	else
		migrate "$database" "$frameworks"
	fi
	[ -s "$scratch/missing" ] || say "The schema is up to date."
}
