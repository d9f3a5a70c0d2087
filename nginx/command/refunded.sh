# shellcheck shell=sh
# urlmode refunded: a payment was refunded at its provider, and is offered to no call any more.

help_refunded()
{
	cat <<'END'
usage: urlmode refunded [--note TEXT] PROVIDER REFERENCE REFUND

Says that you have refunded a payment at its provider: no call is offered it any
more, and the next call for the same thing has to be paid. It ends as one that an
MCP server has refunded. REFERENCE is the provider's of the payment, as urlmode
show prints it, and REFUND the provider's of the refund. It moves no money, and
cannot be taken back. Any payment that no call has claimed can be refunded, held
or not. Status 1: there is no such payment, all of it went back before, or a call
has claimed it.

  --note TEXT  why; urlmode show tells it, with the time and who has decided
END
}

run_refunded()
{
	decide refunded "$@"
}
