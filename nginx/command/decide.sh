# shellcheck shell=sh
# urlmode release, urlmode void: the operator decides about a payment that is held.

help_release()
{
	cat <<'END'
usage: urlmode release [--note TEXT] PROVIDER REFERENCE

Offers a payment that is held to the next call for the same thing: nobody has to
pay again. REFERENCE is the provider's, as urlmode show prints it. A payment that
was voided can be released. If more of it goes back, it is held again. Status 1:
there is no such payment, it is not held, or a call has claimed it.

  --note TEXT  why; urlmode show tells it, with the time and who has decided
END
}

help_void()
{
	cat <<'END'
usage: urlmode void [--note TEXT] PROVIDER REFERENCE

Offers a payment that is held to no call any more, also where only a part of it
went back: the next call for the same thing has to be paid. REFERENCE is the
provider's, as urlmode show prints it. It moves no money: refund the rest at the
provider. urlmode release takes it back. Status 1: there is no such payment, it
is not held, or a call has claimed it.

  --note TEXT  why; urlmode show tells it, with the time and who has decided
END
}

run_release()
{
	decide released "$@"
}

run_void()
{
	decide voided "$@"
}

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
	claimed) die "$payment was claimed by a call, which may still be at it" ;;
	*) die "there is no payment $(printable "$reference") of $(printable "$provider")" ;;
	esac
}
