# shellcheck shell=sh
# urlmode purge: deletes what has been over for long.

kinds='oauth payment signature input approval result stored'

help_purge()
{
	cat <<'END'
usage: urlmode purge [--older-than AGE] [--kind KIND]

Deletes elicitations that have been over for long, with their events, in small
transactions; also results that are due, and what adapters stored and has
expired. It never deletes a payment that no call has claimed, or what may still
happen. Says how many rows were deleted, and of which kind.

  --older-than AGE  over for this age, such as 90d (the default), 12w; at least 7d
  --kind KIND       only oauth, payment, signature, input, approval, result or stored
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
	case " $kinds " in
	*" ${kind:-result} "*) ;;
	*) misuse "--kind is one of: $kinds" ;;
	esac
	connect_operator
	# One connection. Each turn of the loop is a transaction of its own.
	query operator -A -t -v age="$age" -v kinds="${kind:-$kinds}" <<'SQL'
SELECT set_config('urlmode.keep_ms', (extract(epoch FROM (:'age')::interval) * 1000)::bigint::text, false),
	set_config('urlmode.kinds', :'kinds', false), set_config('urlmode.purged', '', false) \g /dev/null
DO $$
DECLARE
	kind text;
	taken bigint;
	total bigint;
BEGIN
	FOREACH kind IN ARRAY string_to_array(current_setting('urlmode.kinds'), ' ') LOOP
		total := 0;
		LOOP
			taken := urlmode.purge(current_setting('urlmode.keep_ms')::bigint, kind);
			total := total + taken;
			COMMIT;
			EXIT WHEN taken = 0;
		END LOOP;
		PERFORM set_config('urlmode.purged', current_setting('urlmode.purged') || ', ' || total || ' ' || kind, false);
	END LOOP;
END
$$;
SELECT 'purged: ' || substr(current_setting('urlmode.purged'), 3);
SQL
}
