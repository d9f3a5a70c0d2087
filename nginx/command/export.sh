# shellcheck shell=sh
# urlmode export: all that is here of a user.

help_export()
{
	cat <<'END'
usage: urlmode export [--tenant TENANT] [--note TEXT] SUBJECT

Prints all that is here of the user SUBJECT, as one JSON object: elicitations with
their events, refunds and decisions, payments, accounts, subscriptions, and what the
user has decided for others. What is sealed is not in it: results, what was typed into
forms, tokens, and the calls of tasks, which only MCP servers can read. Who has run
this, when and why, and for how many rows, is kept: urlmode forget lists it. Status 1:
nothing is here of this user.

  --tenant TENANT  the user of this tenant; without it, the one of no tenant
  --note TEXT      why; it is kept
END
}

run_export()
{
	tenant=
	note=
	subject=
	while [ $# -gt 0 ]; do
		case $1 in
		--tenant)
			needs_value "$1" $#
			read_tenant "$2"
			shift
			;;
		--note)
			needs_value "$1" $#
			note=$2
			shift
			;;
		-*) unknown_argument "$1" ;;
		*)
			[ -z "$subject" ] || unknown_argument "$1"
			subject=$1
			;;
		esac
		shift
	done
	[ -n "$subject" ] || misuse "whose data? export takes the subject, as the MCP server names the user"
	connect_operator
	show_query -A -t -v tenant="$tenant" -v subject="$subject" -v by="${SUDO_USER:-$(id -un)}" -v note="$note" >"$scratch/export" <<'SQL'
SELECT jsonb_pretty(urlmode.export_user(:'tenant', :'subject', :'by', :'note'));
SQL
	[ "$(wc -c <"$scratch/export")" -gt 1 ] || die "nothing is here of $(printable "$subject")"
	cat "$scratch/export"
}
