# shellcheck shell=sh
# urlmode forget: all data of a user are deleted, and what operators did with the data of users.

help_forget()
{
	cat <<'END'
usage: urlmode forget [--tenant TENANT] [--note TEXT] [--dry-run] SUBJECT
       urlmode forget --list [--tenant TENANT] [--limit N] [SUBJECT]

Deletes all data of the user SUBJECT: accounts with their tokens, elicitations with
their events, results, forms and tasks, and subscriptions. Some things stay, for the
books and for others: references, amounts, items and times of payments and refunds,
without the user, and the user's name where the user has decided an approval of
somebody else. Who has deleted the rest, when and why, and how many rows, is kept
with a digest of the user. Nothing is revoked at a provider: let the MCP server
disconnect the accounts first. Logs and backups are not touched. Status 1: nothing is
here of this user; or a payment is unclaimed, and nothing was deleted: let a call claim
it, or refund it.

  --tenant TENANT  the user of this tenant; without it, the one of no tenant
  --note TEXT      why; it is kept
  --dry-run        print how many rows there are, and change nothing
  --list           instead: what was exported and forgotten, by whom and when, the
                   newest last; of this user, or of all
  --limit N        at most so many, 100 by default
END
}

run_forget()
{
	tenant=
	note=
	dry_run=0
	list=0
	limit=100
	subject=
	while [ $# -gt 0 ]; do
		case $1 in
		--dry-run) dry_run=1 ;;
		--list) list=1 ;;
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
		--limit)
			needs_value "$1" $#
			limit=$2
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
	case $limit in
	'' | *[!0-9]* | ????????*) misuse "--limit takes a number" ;;
	esac
	[ $list -eq 1 ] || [ -n "$subject" ] || misuse "whose data? forget takes the subject, as the MCP server names the user"
	connect_operator
	if [ $list -eq 1 ]; then
		list_forgotten
	else
		forget_user
	fi
}

list_forgotten()
{
	show_query -P footer=off -v tenant="$tenant" -v subject="$subject" -v most="$limit" <<'SQL'
SELECT date_trunc('second', l.done_at) AS done_at, l.action, l.of_tenant AS tenant, left(encode(l.owner, 'hex'), 16) AS "user", l.done_by, l.note,
	(SELECT string_agg(format('%s %s', r.value, r.key), ', ' ORDER BY r.key) FROM jsonb_each(l.rows) r WHERE r.value <> '0') AS rows
FROM urlmode.list_audit(:'tenant', nullif(:'subject', ''), :'most') l ORDER BY l.number;
SQL
}

# Prints a line for each thing, with its kind first.
forget_user()
{
	show_query -A -t -F ' ' -v tenant="$tenant" -v subject="$subject" -v by="${SUDO_USER:-$(id -un)}" -v note="$note" -v dry="$dry_run" >"$scratch/done" <<'SQL'
\if :dry
SELECT jsonb_build_object('forgotten', urlmode.user_rows(:'tenant', :'subject'))::text AS said \gset
\else
SELECT coalesce(urlmode.forget_user(:'tenant', :'subject', :'by', :'note')::text, '') AS said \gset
\endif
SELECT 'unclaimed', u ->> 'elicitation', u ->> 'provider', u ->> 'reference', u ->> 'amount', u ->> 'currency'
FROM jsonb_array_elements(nullif(:'said', '')::jsonb -> 'unclaimed') u;
SELECT 'rows', r.value, r.key FROM jsonb_each(nullif(:'said', '')::jsonb -> 'forgotten') r WHERE r.value <> '0' ORDER BY r.key;
SQL
	if grep -q '^unclaimed ' "$scratch/done"; then
		sed -n 's/^unclaimed /unclaimed: elicitation /p' "$scratch/done" >&2
		die "nothing was deleted: let a call claim these payments, or refund them"
	fi
	[ -s "$scratch/done" ] || die "nothing is here of $(printable "$subject")"
	verb=forgotten
	revoked="not revoked at their providers: \1 accounts; their tokens are gone, and what the user granted stays until it ends or the user ends it there"
	if [ "$dry_run" -eq 1 ]; then
		verb="would be forgotten"
		revoked="would not be revoked at their providers: \1 accounts; let the MCP server disconnect them first"
	fi
	sed -n "s/^rows \([0-9]*\) \(payments\)\$/kept without the user: \1 \2/p; s/^rows \([0-9]*\) \(approvals\)\$/kept with the user's name: \1 \2 of others/p
		s/^rows \([0-9]* [a-z]*\)\$/$verb: \1/p" "$scratch/done"
	sed -n "s/^rows \([0-9]*\) accounts\$/$revoked/p" "$scratch/done"
}
