"""The methods of UrlMode with which one call alone acts on an outcome."""

from __future__ import annotations

from . import arguments
from .claims import Claim, Claims
from .contract_calls import RowKey
from .contract_limits import CLAIM_LEASE_MAX_S, CLAIM_LEASE_MIN_S, CLAIM_LEASE_S, RECHECK_AFTER_S, TTL_MAX_S
from .contract_words import ACTIONS
from .types import Action, Duration, Id, RecheckFunction


class ClaimMethods:
    _claims: Claims

    def _row_key(self, elicitation_id: object, subject: object, session: object) -> RowKey:
        raise NotImplementedError

    async def claim(
        self,
        elicitation_id: Id,
        *,
        subject: str,
        session: str = "",
        action: Action = "accept",
        reference: str | None = None,
        held: bool = False,
        recheck: RecheckFunction | None = None,
        recheck_after: Duration = RECHECK_AFTER_S,
    ) -> bool:
        """Claims the outcome of a completed elicitation. Only the first call gets True, and delivers.

        `reference`: the payment to claim, also one that does not match; by default the oldest one that matches. `recheck`,
        `recheck_after`: as those of `begin_claim`. Raises ElicitationOpenError.

        `elicitation_id`, `subject`, `session`: of the elicitation and its owner, as at `create`. `action`: of the outcome
        that was read. `held`: also a payment that is held.
        """
        key = self._row_key(elicitation_id, subject, session)
        action = arguments.check_choice("action", action, ACTIONS)
        reference = arguments.check_reference(reference)
        asking = arguments.check_recheck(recheck, recheck_after)
        return await self._claims.claim_at_once(key, action, reference, arguments.check_flag("held", held), *asking)

    async def begin_claim(
        self,
        elicitation_id: Id,
        *,
        subject: str,
        session: str = "",
        reference: str | None = None,
        lease: Duration = CLAIM_LEASE_S,
        timeout: Duration = 0,
        claim_id: Id | None = None,
        any_payment: bool = False,
        recheck: RecheckFunction | None = None,
        recheck_after: Duration = RECHECK_AFTER_S,
        fence: int | None = None,
    ) -> Claim:
        """Claims an accept under a lease, for a call whose answer may be lost.

        The work is done once, and its result is given to the next call until an answer was written. `timeout`: how
        long to wait while another call holds the lease. `claim_id`: a UUID that names this claim. Who begins again with the
        same one has the same claim. `any_payment`: also a payment that does not match or is held, by its `reference`, to
        deliver or refund what `unclaimed` or `undelivered` lists. `recheck` asks the provider before the claim begins, if
        an event has ever asked for that, and its last answer is older than `recheck_after`; what it raises is raised, and
        the claim does not begin. `fence`: that of a claim that `hold` has kept, to go on with it; if another call has begun
        since, this one begins as any other. Raises ElicitationOpenError, ElicitationNotFoundError and ElicitationSealError.

        `elicitation_id`, `subject`, `session`: of the elicitation and its owner, as at `create`. `lease`: how long other
        calls wait for this one after it has died.
        """
        key = self._row_key(elicitation_id, subject, session)
        lease_ms = arguments.check_duration("lease", lease, CLAIM_LEASE_MIN_S, CLAIM_LEASE_MAX_S)
        seconds = arguments.check_duration("timeout", timeout, 0, TTL_MAX_S) / 1000
        name = None if claim_id is None else arguments.check_id(claim_id, "claim_id")
        arguments.check_flag("any_payment", any_payment)
        asking = arguments.check_recheck(recheck, recheck_after)
        return await self._claims.begin(
            key, arguments.check_reference(reference), lease_ms, seconds, name, any_payment, *asking, fence
        )
