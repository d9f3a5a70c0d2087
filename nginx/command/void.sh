# shellcheck shell=sh
# urlmode void: a payment that is held is offered to no call any more.

help_void()
{
	cat <<'END'
usage: urlmode void [--note TEXT] PROVIDER REFERENCE

Offers a payment that is held, or whose amount is not what was asked for, to no
call any more, also where only a part of it went back: the next call for the same
thing has to be paid. REFERENCE is the provider's, as urlmode show prints it. It
moves no money: refund the rest at the provider. urlmode release takes it back.
Status 1: there is no such payment, it is not held, or a call has claimed it.

  --note TEXT  why; urlmode show tells it, with the time and who has decided
END
}

run_void()
{
	decide voided "$@"
}
