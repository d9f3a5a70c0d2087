# shellcheck shell=sh
# urlmode release: a payment that is held, or does not match, is offered to the next call.

help_release()
{
	cat <<'END'
usage: urlmode release [--note TEXT] PROVIDER REFERENCE

Offers a payment that is held, or whose amount is not what was asked for, to the
next call for the same thing: nobody has to pay again. REFERENCE is the
provider's, as urlmode show prints it. A payment that was voided can be released.
If more of it goes back, it is held again. Status 1: there is no such payment, it
is not held, or a call has claimed it; or another amount was the first payment of
a subscription.

  --note TEXT  why; urlmode show tells it, with the time and who has decided
END
}

run_release()
{
	decide released "$@"
}
