# shellcheck shell=sh disable=SC2154 # of common.sh
# urlmode reconcile: a provider's own list of payments, beside what is here.

help_reconcile()
{
	cat <<'END'
usage: urlmode reconcile PROVIDER --from WHEN [--to WHEN] FILE...

Compares the payments that PROVIDER lists with those that are here, by reference,
amount and currency; and what went back, if a FILE lists refunds: otherwise it says
that it has not. FILE is what the provider exports: its description says of which
kind (reconcile), and whether there is one of refunds. Take the files from a day earlier to a day later: a provider
often lists when a checkout was created. It only reads, and asks nobody: what a
file says proves nothing. Status 1: they differ, or a file cannot be read.

  missing   the provider has it, for an elicitation of this database, and it is not
            here: have the event sent again, or call complete
  differs   both have it, with other amounts
  unlisted  it is here, and in no file
  twice     the files have it twice, with other amounts

  --from WHEN  a time (2026-01-31, '2026-01-31 12:00+01') or an age (2h, 7d, 4w)
  --to WHEN    the same; now by default
END
}

run_reconcile()
{
	provider=
	from=
	to=0s
	files=0
	while [ $# -gt 0 ]; do
		case $1 in
		--from)
			needs_value "$1" $#
			from=$2
			shift
			;;
		--to)
			needs_value "$1" $#
			to=$2
			shift
			;;
		-*) unknown_argument "$1" ;;
		*)
			provider=$1
			shift
			break
			;;
		esac
		shift
	done
	[ -n "$provider" ] || misuse "which provider? reconcile takes its name"
	make_scratch
	: >"$scratch/theirs"
	while [ $# -gt 0 ]; do
		case $1 in
		--from)
			needs_value "$1" $#
			from=$2
			shift
			;;
		--to)
			needs_value "$1" $#
			to=$2
			shift
			;;
		-*) unknown_argument "$1" ;;
		*)
			ask reconcile "$provider" "$1" >>"$scratch/theirs" || exit 1
			files=1
			;;
		esac
		shift
	done
	[ $files -eq 1 ] || misuse "which FILE? reconcile reads what the provider exports"
	[ -n "$from" ] || misuse "--from is required"
	connect_operator
	awk -F '\t' '$6 != ""' "$scratch/theirs" >"$scratch/refunds"
	awk -F '\t' '$6 == ""' "$scratch/theirs" >"$scratch/payments"
	{
		reconcile_begin "$from" "$to"
		reconcile_ours
		reconcile_known
		[ ! -s "$scratch/refunds" ] || reconcile_refunds
	} >"$scratch/sql"
	query operator -A -t -F '	' -v provider="$provider" -v from="$from" -v until="$to" \
		<"$scratch/sql" >"$scratch/ours"
	compare_books >"$scratch/rows"
	without_controls <"$scratch/rows"
	[ ! -e "$scratch/differs" ] || exit 1
}

# Makes times of :'from' and :'until', and prints them in Unix milliseconds.
reconcile_begin()
{
	for name in from until; do
		if is_age "$1"; then
			say "SELECT now() - (:'$name')::interval AS $name \\gset"
		else
			say "SELECT (:'$name')::timestamptz AS $name \\gset"
		fi
		shift
	done
	cat <<'SQL'
SELECT (extract(epoch FROM (:'from')::timestamptz) * 1000)::bigint, (extract(epoch FROM (:'until')::timestamptz) * 1000)::bigint;
SQL
}

# A payment may be proved long after the checkout that a provider lists.
reconcile_ours()
{
	cat <<'SQL'
SELECT l.reference, (extract(epoch FROM l.proven_at) * 1000)::bigint, l.amount, l.currency, l.elicitation
FROM urlmode.list_paid(:'provider', (:'from')::timestamptz - interval '31 days',
	(:'until')::timestamptz + interval '31 days') l
ORDER BY l.proven_at, l.reference;
SQL
}

# The elicitations that the files name, of which those of other applications are not here. The ids are UUIDs.
reconcile_known()
{
	say "SELECT 'known', k FROM urlmode.known_elicitations(:'provider', ARRAY["
	awk -F '\t' '$5 != "" { printf "%s\047%s\047", comma, $5; comma = "," }' "$scratch/payments"
	say "]::uuid[]) AS k;"
}

# What went back, as JSON in a literal of SQL.
reconcile_refunds()
{
	say "SELECT 'refund', r.what, r.reference, r.payment, r.elicitation, r.amount, r.currency, r.their_amount, r.their_currency"
	say "FROM urlmode.reconcile_refunds(:'provider', (:'from')::timestamptz, (:'until')::timestamptz, '["
	awk -F '\t' '
	function text(value) {
		gsub(/\\/, "&&", value)
		gsub(/"/, "\\\\&", value)
		gsub(/\047/, "&&", value)
		return "\"" value "\""
	}
	{
		printf "%s{\"reference\":%s,\"payment\":%s,\"amount\":%s,\"currency\":%s,\"status\":\"paid\"}\n", comma, text($6), text($1), $3, text($4)
		comma = ","
	}' "$scratch/refunds"
	say "]'::jsonb) AS r;"
}

compare_books()
{
	awk -F '\t' -v mark="$scratch/differs" -v refunds="$(wc -l <"$scratch/refunds")" '
	function report(what, text) { print what "\t" text; differs++ }
	function refund() {
		if ($2 == "missing_here") report("missing", "refund " $3 ": " $8 " " $9 " of " $4 ": have its event sent again")
		else if ($2 == "missing_there") report("unlisted", "refund " $3 ": " $6 " " $7 " of " $4 ": look for it at the provider")
		else report("differs", "refund " $3 ": " $8 " " $9 " there, " $6 " " $7 " here, of " $4)
	}
	NR == 1 { bound[1] = $1 + 0; bound[2] = $2 + 0; next }
	FILENAME == ARGV[1] && $1 == "known" && NF == 2 { here[$2]; next }
	FILENAME == ARGV[1] && $1 == "refund" && NF == 9 { refund(); next }
	FILENAME == ARGV[1] { ours[$1] = $3 " " $4; id[$1] = $5; if ($2 >= bound[1] && $2 < bound[2]) due[$1] = ++n; next }
	{
		price = $3 " " $4
		if (($1 in seen) && $3 != "" && seen[$1] != " " && seen[$1] != price) report("twice", $1 ": " seen[$1] ", " price)
		if ($1 in seen) next
		seen[$1] = price
		if ($1 in ours) {
			if ($3 == "") unread++
			else if (ours[$1] == price) same++
			else report("differs", $1 ": " price " there, " ours[$1] " here, of " id[$1])
		} else if ($2 < bound[1] || $2 >= bound[2])
			next
		else if ($5 == "" || !($5 in here))
			foreign++
		else
			report("missing", $1 ": " price ", of " $5 ": have its event sent again, or complete " $5 " with this reference, amount and currency")
	}
	END {
		for (reference in due)
			if (!(reference in seen)) list[due[reference]] = reference
		for (i = 1; i <= n; i++)
			if (i in list) report("unlisted", list[i] ": " ours[list[i]] ", of " id[list[i]] ": look for it at the provider, and at urlmode show " id[list[i]])
		if (!refunds) print "no FILE lists a refund: what went back was not compared"
		if (unread) print unread " of ours name no elicitation there, so that their amounts were not compared"
		printf "%d the same, %d differ, %d name no elicitation of this database\n", same, differs, foreign
		if (differs) print "" >mark
	}' "$scratch/ours" "$scratch/payments"
}
