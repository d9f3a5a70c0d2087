# shellcheck shell=sh
# urlmode events: what providers have sent, what nobody has claimed or got, and what cannot be read.

help_events()
{
	cat <<'END'
usage: urlmode events [--late | --unclaimed | --undelivered | --unknown | --unreadable]
                      [--provider NAME] [--tenant TENANT] [--since WHEN] [--limit N] [--json]

Lists the events that providers sent in the last day, the newest last, with what
each did to its elicitation: urlmode show has the rest.

  --late           only those that came after their elicitation was completed
  --unclaimed      instead of events: payments that no call has claimed, and that
                   were not refunded, since ever and the oldest first; those that
                   are held wait for urlmode release or urlmode void
  --undelivered    instead of events: claims whose work was done, and of which nobody
                   knows that the answer was written, since ever and the oldest
                   first; the next call for the same thing is given the result
  --unknown        instead of events: payments and refunds of elicitations that
                   nobody knows, of the last thirty days, the newest last
  --unreadable     instead of events: deliveries with a right signature that could
                   not be read and were refused, of the last thirty days: where,
                   how often each came, and the request id of the last time, which
                   is in the log. Their content is not kept
  --provider NAME  only of this provider
  --tenant TENANT  only of this tenant, or with - of what has none; what is unknown has
                   that of the entry of its provider, and what is unreadable is of
                   nobody
  --since WHEN     since a time (2026-01-31, '2026-01-31 12:00+01') or for an age
                   (90s, 30m, 2h, 7d, 4w)
  --limit N        at most so many, 100 by default
  --json           a JSON array of objects
END
}

run_events()
{
	json=0
	what=events
	late=false
	provider=
	tenant='*'
	since=
	limit=100
	while [ $# -gt 0 ]; do
		case $1 in
		--late) late=true ;;
		--unclaimed) what=unclaimed ;;
		--undelivered) what=undelivered ;;
		--unknown) what=unknown ;;
		--unreadable) what=unreadable ;;
		--json) json=1 ;;
		--provider)
			needs_value "$1" $#
			provider=$2
			shift
			;;
		--tenant)
			needs_value "$1" $#
			read_tenant "$2"
			shift
			;;
		--since)
			needs_value "$1" $#
			since=$2
			shift
			;;
		--limit)
			needs_value "$1" $#
			limit=$2
			shift
			;;
		*) unknown_argument "$1" ;;
		esac
		shift
	done
	case $what-$late in
	unclaimed-true | undelivered-true | unknown-true | unreadable-true) misuse "--late and --$what exclude each other" ;;
	esac
	case $what-$tenant in
	*-'*') ;;
	unreadable-*) misuse "nobody knows whose they are: --tenant and --$what exclude each other" ;;
	esac
	case $limit in
	'' | *[!0-9]* | ????????*) misuse "--limit takes a number" ;;
	esac
	connect_operator
	{
		events_begin
		"list_$what"
	} | if [ $json -eq 1 ]; then
		events_query -A -t
	else
		events_query -P footer=off -P null=
	fi
}

events_query()
{
	show_query -v provider="$provider" -v tenant="$tenant" -v since="$since" -v late="$late" \
		-v most="$limit" -v json="$json" "$@"
}

# Makes :'begin' of :'since': a time, or empty.
events_begin()
{
	if is_age "$since"; then
		say "SELECT now() - (:'since')::interval AS begin \\gset"
	else
		say "SELECT coalesce(nullif(:'since', '')::timestamptz::text, '') AS begin \\gset"
	fi
}

# The statement of a list: a function of urlmode up to the provider among its arguments, what is shown of its rows, its own arguments, and what
# the list knows besides. psql itself writes control characters as \x1B where it aligns.
list_of()
{
	from="(SELECT u.*${4:+, $4} FROM urlmode.$1nullif(:'provider', ''), nullif(:'begin', '')::timestamptz, ${3-}:'most') u) l"
	cat <<SQL
\\if :json
SELECT coalesce(json_agg(l), '[]') FROM $from;
\\else
SELECT $2 FROM $from;
\\endif
SQL
}

list_events()
{
	list_of "tenant_events(nullif(:'tenant', '*'), " "date_trunc('second', l.received_at) AS received_at, l.provider_name AS provider,
	l.type, l.action, l.elicitation, l.reference, l.amount, l.request" ":'late', "
}

list_unknown()
{
	list_of "tenant_unknown(nullif(:'tenant', '*'), " "date_trunc('second', l.received_at) AS received_at, l.provider_name AS provider,
	l.type, l.effect, l.elicitation, l.reference, l.amount, l.currency"
}

list_unreadable()
{
	list_of "list_unreadable(" "date_trunc('second', l.first_seen_at) AS first_seen_at, date_trunc('second', l.last_seen_at) AS last_seen_at,
	l.times, l.provider_name AS provider, l.reason, l.place, l.request"
}

list_unclaimed()
{
	list_of "tenant_unclaimed(nullif(:'tenant', '*'), " "date_trunc('second', l.proven_at) AS proven_at, l.provider_name AS provider,
	l.elicitation, l.reference, l.amount, l.currency, l.matches, l.late, l.refunded, l.held, l.item" "" "urlmode.show_item(u.elicitation) AS item"
}

list_undelivered()
{
	list_of "tenant_undelivered(nullif(:'tenant', '*'), " "date_trunc('second', l.fulfilled_at) AS fulfilled_at, l.provider_name AS provider, l.kind,
	l.elicitation, l.reference, l.amount, l.currency, l.has_result, l.refunded, l.held, l.item" "" "urlmode.show_item(u.elicitation) AS item"
}
