# shellcheck shell=sh
# urlmode release: a payment that is held is offered to the next call.

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

run_release()
{
	decide released "$@"
}
