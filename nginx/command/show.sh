# shellcheck shell=sh
# urlmode show: what became of one elicitation.

help_show()
{
	cat <<'END'
usage: urlmode show [--tenant TENANT] [--json] ID

Says what became of the elicitation ID: what it is for, how far it came, which
clients were asked to open it and did not, what was paid for it and what of it went
back, how the subscriptions stand that it has opened, what the operator decided, and
what its provider has sent. Of an approval, who has decided is an event, and how that
person has signed in for it. It shows whose it is, and never a result, a key or a
secret.
Status 1: there is none of this id.

  --tenant TENANT  only if it is of this tenant, or with - of none
  --json           one JSON object: elicitation, clients, payments, subscriptions,
                   refunds, decisions, events
END
}

run_show()
{
	json=0
	id=
	tenant='*'
	while [ $# -gt 0 ]; do
		case $1 in
		--json) json=1 ;;
		--tenant)
			needs_value "$1" $#
			read_tenant "$2"
			shift
			;;
		-*) unknown_argument "$1" ;;
		*)
			[ -z "$id" ] || unknown_argument "$1"
			id=$1
			;;
		esac
		shift
	done
	case $id in
	'') misuse "which elicitation? show takes its id" ;;
	*[!0-9A-Fa-f-]*) misuse "$(printable "$id") is not the id of an elicitation, a UUID" ;;
	????????-????-????-????-????????????) ;;
	*) misuse "$id is not the id of an elicitation, a UUID" ;;
	esac
	connect_operator
	known=$(query operator -A -t -F ' ' -v id="$id" -v tenant="$tenant" <<'SQL'
SELECT (SELECT count(*) FROM urlmode.show_elicitation(:'id')) * n, (SELECT count(*) FROM urlmode.show_payments(:'id')) * n
FROM (SELECT CASE WHEN urlmode.tenant_of(:'id') <> nullif(:'tenant', '*') THEN 0 ELSE 1 END AS n) t;
SQL
	)
	case $known in
	'0 0') die "there is no elicitation $id, or it was purged" ;;
	'0 '*) warn "elicitation $id was purged; what was paid for it is known" ;;
	esac
	if [ $json -eq 1 ]; then
		show_json
	else
		show_text
	fi
}

show_json()
{
	show_query -A -t -v id="$id" <<'SQL'
SELECT json_build_object(
	'elicitation', (SELECT row_to_json(e) FROM (SELECT s.*, urlmode.show_item(s.elicitation) AS item, urlmode.tenant_of(s.elicitation) AS tenant FROM urlmode.show_elicitation(:'id') s) e),
	'clients', (SELECT coalesce(json_agg(a), '[]') FROM urlmode.show_asks(:'id') a),
	'payments', (SELECT coalesce(json_agg(p), '[]') FROM (
		SELECT s.*, e.claim_end, e.claim_refund FROM urlmode.show_payments(:'id') s JOIN urlmode.show_ends(:'id') e USING (provider, reference)
		ORDER BY s.proven_at, s.reference) p),
	'subscriptions', (SELECT coalesce(json_agg(s), '[]') FROM urlmode.show_subscriptions(:'id') s),
	'refunds', (SELECT coalesce(json_agg(r), '[]') FROM urlmode.show_refunds(:'id') r),
	'decisions', (SELECT coalesce(json_agg(d), '[]') FROM urlmode.show_decisions(:'id') d),
	'events', (SELECT coalesce(json_agg(v), '[]') FROM urlmode.show_events(:'id') v));
SQL
}

# psql itself writes control characters as \x1B where it aligns.
show_text()
{
	show_query -P footer=off -P border=0 -v id="$id" <<'SQL'
\pset tuples_only on
SELECT l.key, l.value
FROM (SELECT s.*, urlmode.show_item(s.elicitation) AS item, urlmode.tenant_of(s.elicitation) AS tenant FROM urlmode.show_elicitation(:'id') s) e, json_each_text(row_to_json(e)) l
WHERE l.value NOT IN ('', '0', '[]');
\pset tuples_only off
SELECT count(*) > 0 AS asked FROM urlmode.show_asks(:'id') \gset
\if :asked
\echo Clients that did not open it:
SELECT * FROM urlmode.show_asks(:'id');
\endif
SELECT count(*) > 0 AS paid FROM urlmode.show_payments(:'id') \gset
\if :paid
\echo Payments, amounts in minor units:
SELECT s.*, e.claim_end, e.claim_refund FROM urlmode.show_payments(:'id') s JOIN urlmode.show_ends(:'id') e USING (provider, reference)
ORDER BY s.proven_at, s.reference;
\endif
SELECT count(*) > 0 AS subscribed FROM urlmode.show_subscriptions(:'id') \gset
\if :subscribed
\echo Subscriptions, amounts in minor units:
SELECT * FROM urlmode.show_subscriptions(:'id');
\endif
SELECT count(*) > 0 AS refunded FROM urlmode.show_refunds(:'id') \gset
\if :refunded
\echo Refunds, amounts in minor units:
SELECT * FROM urlmode.show_refunds(:'id');
\endif
SELECT count(*) > 0 AS decided FROM urlmode.show_decisions(:'id') \gset
\if :decided
\echo Decisions of the operator:
SELECT * FROM urlmode.show_decisions(:'id');
\endif
SELECT count(*) > 0 AS told FROM urlmode.show_events(:'id') \gset
\if :told
\echo Events:
SELECT * FROM urlmode.show_events(:'id');
\endif
SQL
}
