# shellcheck shell=sh disable=SC2154 # of common.sh
# What urlmode release, urlmode void and urlmode refunded share.

# decide DECISION [ARGUMENT...]
decide()
{
	decision=$1
	provider=
	reference=
	refund=
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
			elif [ "$decision" = refunded ] && [ -z "$refund" ]; then
				refund=$1
			else
				unknown_argument "$1"
			fi
			;;
		esac
		shift
	done
	[ -n "$reference" ] || misuse "which payment? $subcommand takes its provider and its reference"
	[ "$decision" != refunded ] || [ -n "$refund" ] || misuse "which refund? refunded takes the provider's reference of it as well"
	connect_operator
	outcome=$(query operator -A -t -v provider="$provider" -v reference="$reference" -v refund="$refund" \
		-v decision="$decision" -v by="${SUDO_USER:-$(id -un)}" -v note="$note" <<'SQL'
SELECT :'decision' = 'refunded' AS refunded \gset
\if :refunded
SELECT urlmode.refund_payment(:'provider', :'reference', :'refund', :'by', :'note');
\else
SELECT urlmode.decide_payment(:'provider', :'reference', :'decision', :'by', :'note');
\endif
SQL
	)
	payment="the payment $(printable "$reference") of $(printable "$provider")"
	case $outcome in
	"$decision") say "$outcome: $payment" ;;
	not_held) die "$payment is not held" ;;
	deleted) die "the elicitation of $payment was deleted, so that no call can be offered it: refund it, and void it" ;;
	already) die "all of $payment went back before" ;;
	claimed) die "$payment was claimed by a call, which may still be at it" ;;
	*) die "there is no payment $(printable "$reference") of $(printable "$provider")" ;;
	esac
}
