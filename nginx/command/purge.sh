# shellcheck shell=sh
# urlmode purge: deletes what has been over for long.

help_purge()
{
	cat <<'END'
usage: urlmode purge [--older-than AGE] [--kind KIND]

Deletes elicitations that have been over for long, with their events, in small
transactions; also results that are due, and what adapters stored and has
expired. It never deletes a payment that no call has claimed, or what may still
happen. Says how many rows were deleted.

  --older-than AGE  over for this age, such as 90d (the default), 12w; at least 7d
  --kind KIND       only oauth, payment, signature, result or stored
END
}

run_purge()
{
	age=90d
	kind=
	while [ $# -gt 0 ]; do
		case $1 in
		--older-than)
			needs_value "$1" $#
			age=$2
			shift
			;;
		--kind)
			needs_value "$1" $#
			kind=$2
			shift
			;;
		*) unknown_argument "$1" ;;
		esac
		shift
	done
	is_age "$age" || misuse "--older-than takes an age such as 90d"
	case $kind in
	'' | oauth | payment | signature | result | stored) ;;
	*) misuse "--kind is oauth, payment, signature, result or stored" ;;
	esac
	connect_operator
	# One connection. Each turn of the loop is a transaction of its own.
	query operator -A -t -v age="$age" -v kind="$kind" <<'SQL'
SELECT set_config('urlmode.keep_ms', (extract(epoch FROM (:'age')::interval) * 1000)::bigint::text, false),
	set_config('urlmode.kind', :'kind', false) \g /dev/null
DO $$
DECLARE
	taken bigint;
	total bigint := 0;
BEGIN
	LOOP
		taken := urlmode.purge(current_setting('urlmode.keep_ms')::bigint,
			nullif(current_setting('urlmode.kind'), ''));
		total := total + taken;
		PERFORM set_config('urlmode.total', total::text, false);
		COMMIT;
		EXIT WHEN taken = 0;
	END LOOP;
END
$$;
SELECT current_setting('urlmode.total') || ' purged';
SQL
}
