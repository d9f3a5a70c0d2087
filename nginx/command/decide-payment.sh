# shellcheck shell=sh disable=SC2154 # of common.sh
# What urlmode release and urlmode void share.

# decide DECISION [ARGUMENT...]
decide()
{
	decision=$1
	provider=
	reference=
	note=
	shift
	while [ $# -gt 0 ]; do
		case $1 in
		--note)
			needs_value "$1" $#
			note=$2
			shift
			;;
		-*) unknown_argument "$1" ;;
		*)
			if [ -z "$provider" ]; then
				provider=$1
			elif [ -z "$reference" ]; then
				reference=$1
			else
				unknown_argument "$1"
			fi
			;;
		esac
		shift
	done
	[ -n "$reference" ] || misuse "which payment? $subcommand takes its provider and its reference"
	connect_operator
	outcome=$(query operator -A -t -v provider="$provider" -v reference="$reference" \
		-v decision="$decision" -v by="${SUDO_USER:-$(id -un)}" -v note="$note" <<'SQL'
SELECT urlmode.decide_payment(:'provider', :'reference', :'decision', :'by', :'note');
SQL
	)
	payment="the payment $(printable "$reference") of $(printable "$provider")"
	case $outcome in
	"$decision") say "$outcome: $payment" ;;
	not_held) die "$payment is not held" ;;
	deleted) die "the elicitation of $payment was deleted, so that no call can be offered it: refund it, and void it" ;;
	claimed) die "$payment was claimed by a call, which may still be at it" ;;
	*) die "there is no payment $(printable "$reference") of $(printable "$provider")" ;;
	esac
}
