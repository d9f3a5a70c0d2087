-- One call acts on an outcome: it claims it. Payments that no call has claimed are listed.
--
-- A claim has two ends: the work is done, and the answer was written. claim_at_once takes
-- both at once. A call whose answer may be lost holds a lease meanwhile:
--
--   begin_lease    begins the lease, with a fencing number that is greater than
--                  each one before it
--   renew_lease    makes it longer, while the work goes on
--   continue_lease the same for the next round of a call whose work asks the user for
--                  something: the round before can do nothing more
--   fulfil_lease   the first end: the work is done, and what it has returned is kept.
--                  The next call is given this, and does not do the work again
--   confirm_claim  the second end: the answer was written
--   release_claim  the work was not done: the next call can begin at once
--
-- Who delivers or refunds a payment that unclaimed has listed begins a lease of it as
-- well, and says with fulfil_lease which of both was done: that is both ends at once.
-- Who dies before it is followed by the next one that reads the list.
--
-- When a lease ends without one of them, the next call can begin as well; from
-- then on the earlier call can neither renew nor fulfil its claim. Its fencing
-- number decides that, and not the time: as long as no other call has begun, a
-- call whose lease has ended can still fulfil its claim. A call that has released
-- its claim can not.
--
-- A result whose answer fails twice is of no use: the call that was given it releases
-- the claim, and the next one does the work again for the same payment. So does the
-- next one where the result was purged (005_retention).
--
-- The state of the claim of an outcome is in
--
--   claimed_at     of the payment, or of an elicitation without payments: the last
--                  end. Until then a later call is given the outcome (resume,
--                  is_paid), and neither it nor its result is purged
--   claim_end      of the payment: which end that was
--   urlmode.lease  one row from begin_lease to the last end
--   urlmode.kept_result  what is kept of a lease that is fulfilled
--   is_leased      whether a call holds the lease, or has fulfilled the claim: no
--                  other call can do the work, and unclaimed does not list it. What
--                  is fulfilled is listed by undelivered
--
-- The claim of an account is final when it begins, since a provider revokes the
-- tokens of a code that is sent twice (RFC 6749 section 4.1.2). Its other end,
-- end_exchange, says whether the account is connected: for the user's page, and
-- for the calls that have waited for the one that exchanges the code. A call that was
-- cancelled before it has sent the code gives the account back: release_unsent.

-- STABLE, as the functions that it calls: otherwise PostgreSQL would not inline it.
CREATE OR REPLACE FUNCTION urlmode.is_leased(elicitation uuid, reference text) RETURNS boolean
LANGUAGE sql STABLE AS $$
	SELECT EXISTS (
		SELECT FROM urlmode.lease l
		WHERE l.elicitation = is_leased.elicitation AND l.reference = is_leased.reference AND l.ends_at > now()
	)
$$;
COMMENT ON FUNCTION urlmode.is_leased IS
	'Internal. Whether a call holds the lease of this outcome, or has fulfilled its claim. '
	'reference: of the payment; empty where the outcome is no payment.';

-- PostgreSQL cannot inline it, because of its subquery: who looks for many says beside it what their index is of.
CREATE OR REPLACE FUNCTION urlmode.is_unclaimed(p urlmode.payment) RETURNS boolean
LANGUAGE sql STABLE AS $$
	SELECT p.claimed_at IS NULL AND p.refunded_at IS NULL AND NOT urlmode.is_leased(p.elicitation, p.reference)
		AND EXISTS (SELECT FROM urlmode.elicitation e WHERE e.id = p.elicitation)
$$;
COMMENT ON FUNCTION urlmode.is_unclaimed IS
	'Internal. Whether a payment was not refunded, and no call has claimed it or holds its lease. One '
	'that went back, and has come again after its elicitation was purged (a dispute that was won), '
	'is nobody''s to claim: urlmode.refunds_with_item tells of it, and the operator can void it.';

CREATE OR REPLACE FUNCTION urlmode.has_kept(elicitation uuid, reference text) RETURNS boolean
LANGUAGE sql STABLE AS $$
	SELECT EXISTS (
		SELECT FROM urlmode.kept_result k
		WHERE k.elicitation = has_kept.elicitation AND k.reference = has_kept.reference
	)
$$;
COMMENT ON FUNCTION urlmode.has_kept IS
	'Internal. Whether the result of a call is kept for this outcome.';

CREATE OR REPLACE FUNCTION urlmode.claim_rank(p urlmode.payment) RETURNS integer
LANGUAGE sql STABLE AS $$
	SELECT coalesce((
		SELECT CASE WHEN l.fulfilled_at IS NULL THEN 2 ELSE 1 END FROM urlmode.lease l
		WHERE l.elicitation = p.elicitation AND l.reference = p.reference AND l.ends_at > now()
			AND (l.fulfilled_at IS NULL OR urlmode.has_kept(l.elicitation, l.reference))
	), CASE WHEN p.held THEN 3 ELSE 0 END)
$$;
COMMENT ON FUNCTION urlmode.claim_rank IS
	'Internal. The order in which calls get unclaimed payments. 0: a call can claim it; 1: it is '
	'fulfilled; 2: another call holds its lease; 3: it is held.';

CREATE OR REPLACE FUNCTION urlmode.find_claim(
	id uuid, binding bytea, reference text, action text, held boolean,
	OUT outcome text, OUT kind text, OUT picked text
)
LANGUAGE plpgsql AS $$
DECLARE
	row urlmode.elicitation;
BEGIN
	SELECT * INTO row FROM urlmode.elicitation e
	WHERE e.id = find_claim.id AND e.binding = find_claim.binding
	FOR UPDATE;
	kind := row.kind;
	IF NOT FOUND THEN
		outcome := 'unknown';
	-- Money for another kind is not its outcome, and does not wait for it.
	ELSIF row.status <> 'completed' AND NOT EXISTS (
		SELECT FROM urlmode.payment p
		WHERE p.elicitation = find_claim.id AND NOT p.matches AND find_claim.reference IN (p.reference, p.checkout)
	) THEN
		outcome := 'open';
	ELSIF EXISTS (
		SELECT FROM urlmode.payment p
		WHERE p.elicitation = find_claim.id AND (p.matches OR find_claim.reference IN (p.reference, p.checkout))
	) THEN
		-- Proved after the caller has read a refusal: it stays for the next call.
		IF find_claim.action <> 'accept' THEN
			outcome := 'changed';
			RETURN;
		END IF;
		SELECT p.reference INTO picked
		FROM urlmode.payment p
		WHERE p.elicitation = find_claim.id AND p.claimed_at IS NULL AND p.refunded_at IS NULL
			AND (find_claim.held OR urlmode.claim_rank(p) < 3)
			AND CASE WHEN find_claim.reference IS NULL THEN p.matches ELSE find_claim.reference IN (p.reference, p.checkout) END
		-- A payment that the caller knows by its checkout may have its own reference by now.
		ORDER BY p.reference IS DISTINCT FROM find_claim.reference, urlmode.claim_rank(p), p.proven_at, p.reference LIMIT 1
		-- A refund that is being recorded may be of it.
		FOR UPDATE OF p;
		outcome := CASE WHEN picked IS NULL THEN 'taken' ELSE 'found' END;
	ELSIF row.action <> find_claim.action THEN
		outcome := 'changed';
	ELSIF row.claimed_at IS NOT NULL THEN
		outcome := 'taken';
	ELSE
		outcome := 'found';
		picked := '';
	END IF;
	-- A call whose lease has ended may fulfil it just now: whoever asks next whether it is leased, sees that.
	PERFORM FROM urlmode.lease l WHERE l.elicitation = find_claim.id AND l.reference = picked FOR UPDATE;
END
$$;
COMMENT ON FUNCTION urlmode.find_claim IS
	'Internal. Locks an elicitation, and finds what of its outcome can be claimed: found, with the '
	'reference of a payment, or empty where the outcome is no payment; otherwise taken, changed, '
	'open or unknown, as claim returns them. Its lease is locked as well. A payment that is held '
	'is found only with held. Of several payments the oldest that no call is at, then one that is '
	'fulfilled.';

CREATE OR REPLACE FUNCTION urlmode.end_claim(
	id uuid, reference text, keep_ms bigint, claim_end text DEFAULT NULL, refund text DEFAULT NULL, fence bigint DEFAULT NULL
)
RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
	DELETE FROM urlmode.lease l WHERE l.elicitation = end_claim.id AND l.reference = end_claim.reference;
	UPDATE urlmode.payment p
	SET claimed_at = now(), claim_end = end_claim.claim_end, claim_refund = end_claim.refund, claim_fence = end_claim.fence
	WHERE p.elicitation = end_claim.id AND p.reference = end_claim.reference AND p.claimed_at IS NULL;
	-- What a user has typed is kept for no longer than it is needed.
	UPDATE urlmode.elicitation e
	SET claimed_at = now(), result = CASE WHEN e.kind <> 'input' THEN e.result END,
		claim_fence = CASE WHEN end_claim.reference = '' AND end_claim.claim_end = 'delivered' THEN end_claim.fence END
	WHERE e.id = end_claim.id AND e.claimed_at IS NULL AND (e.kind = 'payment' AND e.status = 'completed' OR end_claim.reference = '');
	INSERT INTO urlmode.purge_queue (ids, due_at)
	VALUES (ARRAY[end_claim.id], now() + keep_ms * interval '1 millisecond');
END
$$;
COMMENT ON FUNCTION urlmode.end_claim IS
	'Internal. The last end of a claim: no later call is given the outcome, and its result is '
	'purged after keep_ms milliseconds, that of kind input at once. claim_end, refund, fence: for '
	'the payment.';

-- In PL/pgSQL, because is_recheck_due comes later (029_recheck.sql).
CREATE OR REPLACE FUNCTION urlmode.claim_outcome(
	id uuid, binding bytea, reference text, keep_ms bigint, action text, held boolean, recheck_ms bigint
)
RETURNS TABLE (outcome text, claimed_reference text, leased_ms bigint)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
	this record;
BEGIN
	this := urlmode.find_claim(claim_outcome.id, claim_outcome.binding, claim_outcome.reference, claim_outcome.action, claim_outcome.held);
	outcome := this.outcome;
	IF outcome = 'found' AND urlmode.is_leased(claim_outcome.id, this.picked) THEN
		outcome := 'taken';
	ELSIF outcome = 'found' AND this.kind = 'payment' AND this.picked <> '' AND recheck_ms IS NOT NULL
		AND urlmode.is_recheck_due(claim_outcome.id, recheck_ms)
	THEN
		outcome := 'recheck';
		leased_ms := urlmode.recheck_leased_ms(claim_outcome.id);
	ELSIF outcome = 'found' THEN
		PERFORM urlmode.end_claim(claim_outcome.id, this.picked, keep_ms);
		outcome := 'claimed';
		claimed_reference := nullif(this.picked, '');
	END IF;
	RETURN NEXT;
END
$$;
COMMENT ON FUNCTION urlmode.claim_outcome IS
	'Claims the outcome of an elicitation, to act on it, with both ends at once. Where payments '
	'were proved it claims one of them: the oldest that matches, or the one of this reference. '
	'action: of the outcome that the caller has read. Its result is purged after keep_ms '
	'milliseconds. held: also one that is held. outcome: claimed, for one '
	'call, with the reference of the payment, or NULL where the outcome is no payment; taken '
	'(another call has claimed it or does its work; or it was refunded, or is held); '
	'changed (it was paid after the refusal that the caller has read, or what the caller has read '
	'is not there any more); open (it is not completed, which may be so again after a failover '
	'that lost commits); unknown; recheck (only with recheck_ms, as begin_lease returns it, with '
	'leased_ms).';

CREATE OR REPLACE FUNCTION urlmode.claim_at_once(
	id uuid, binding bytea, reference text DEFAULT NULL, keep_ms bigint DEFAULT 600000,
	action text DEFAULT 'accept', held boolean DEFAULT false, recheck_ms bigint DEFAULT NULL
)
RETURNS TABLE (outcome text, leased_ms bigint)
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
	SELECT c.outcome, c.leased_ms FROM urlmode.claim_outcome(id, binding, reference, keep_ms, action, held, recheck_ms) c
$$;
COMMENT ON FUNCTION urlmode.claim_at_once IS
	'claim_outcome of a caller that does not ask which payment it has claimed.';

CREATE OR REPLACE FUNCTION urlmode.claim(
	id uuid, binding bytea, reference text DEFAULT NULL, keep_ms bigint DEFAULT 600000,
	action text DEFAULT 'accept', held boolean DEFAULT false
)
RETURNS text
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
	SELECT c.outcome FROM urlmode.claim_outcome(id, binding, reference, keep_ms, action, held, NULL) c
$$;
COMMENT ON FUNCTION urlmode.claim IS
	'claim_outcome of a caller that cannot ask the provider, and of packages of before.';

CREATE OR REPLACE FUNCTION urlmode.next_fence(elicitation uuid) RETURNS bigint
LANGUAGE sql VOLATILE AS $$
	SELECT greatest((extract(epoch FROM clock_timestamp()) * 1000000)::bigint, (
		SELECT max(l.fence) + 1 FROM urlmode.lease l WHERE l.elicitation = next_fence.elicitation
	))
$$;
COMMENT ON FUNCTION urlmode.next_fence IS
	'Internal. A fencing number. No two leases of an elicitation have had the same one, which '
	'alone names them after they have begun: the payment may get another reference '
	'(urlmode.rename_payment).';

-- In PL/pgSQL, because gone_back comes later (018_refund.sql).
CREATE OR REPLACE FUNCTION urlmode.money_back(elicitation uuid, reference text) RETURNS text
LANGUAGE plpgsql STABLE AS $$
DECLARE
	paid urlmode.payment;
BEGIN
	SELECT * INTO paid FROM urlmode.payment p
	WHERE p.elicitation = money_back.elicitation AND p.reference = money_back.reference;
	RETURN CASE WHEN EXISTS (
		SELECT FROM urlmode.refund r
		WHERE r.provider = paid.provider AND r.payment = paid.reference AND r.kind = 'dispute' AND r.refunded_at IS NOT NULL
			AND urlmode.gone_back(r, paid.amount) > 0
	) THEN 'disputed' WHEN paid.refunded_at IS NOT NULL THEN 'refunded' END;
END
$$;
COMMENT ON FUNCTION urlmode.money_back IS
	'Internal. disputed: this payment is disputed, in part or whole, and the money has not come '
	'again. refunded: all of it went back. NULL: neither, or the outcome is no payment.';

CREATE OR REPLACE FUNCTION urlmode.begin_lease(
	id uuid, binding bytea, reference text, lease_ms bigint, keep_ms bigint DEFAULT 600000,
	claim_id uuid DEFAULT NULL, any_payment boolean DEFAULT false, recheck_ms bigint DEFAULT NULL
)
RETURNS TABLE (outcome text, claimed_reference text, fence bigint, fulfilled bytea, leased_ms bigint)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
	this record;
	own urlmode.lease;
	lease urlmode.lease;
BEGIN
	-- The same call asks again, perhaps at the same time, because it got no answer.
	IF claim_id IS NOT NULL THEN
		PERFORM FROM urlmode.elicitation e WHERE e.id = begin_lease.id AND e.binding = begin_lease.binding FOR UPDATE;
		SELECT * INTO own FROM urlmode.lease l WHERE l.elicitation = begin_lease.id AND l.claim_id = begin_lease.claim_id;
	END IF;
	this := urlmode.find_claim(begin_lease.id, begin_lease.binding, coalesce(nullif(own.reference::text, ''), begin_lease.reference),
		'accept', any_payment OR own.fence IS NOT NULL);
	outcome := this.outcome;
	claimed_reference := this.picked;
	IF outcome = 'found' AND NOT any_payment AND own.fence IS NULL AND EXISTS (
		SELECT FROM urlmode.payment p
		WHERE p.elicitation = begin_lease.id AND p.reference = this.picked AND NOT p.matches
	) THEN
		outcome := 'changed';
	ELSIF outcome = 'taken' AND this.kind = 'oauth' AND own.fence IS NOT NULL AND EXISTS (
		SELECT FROM urlmode.elicitation e WHERE e.id = begin_lease.id AND e.exchange = 'exchanging'
	) THEN
		outcome := 'claimed';
		claimed_reference := '';
	ELSIF outcome = 'found' AND this.kind = 'oauth' AND this.picked = '' THEN
		PERFORM urlmode.end_claim(begin_lease.id, this.picked, keep_ms);
		UPDATE urlmode.elicitation e SET exchange = 'exchanging' WHERE e.id = begin_lease.id;
		IF begin_lease.claim_id IS NOT NULL THEN
			INSERT INTO urlmode.lease (elicitation, reference, fence, ends_at, claim_id)
			VALUES (begin_lease.id, '', urlmode.next_fence(begin_lease.id), now(), begin_lease.claim_id);
		END IF;
		outcome := 'claimed';
	ELSIF outcome = 'found' THEN
		SELECT * INTO lease FROM urlmode.lease l WHERE l.elicitation = begin_lease.id AND l.reference = this.picked;
		fence := lease.fence;
		SELECT k.result INTO fulfilled FROM urlmode.kept_result k
		WHERE k.elicitation = begin_lease.id AND k.reference = this.picked;
		IF fulfilled IS NOT NULL THEN
			outcome := 'fulfilled';
			UPDATE urlmode.lease l SET given_at = now() WHERE l.elicitation = begin_lease.id AND l.reference = this.picked;
		ELSIF own.fence IS NOT NULL AND lease.fulfilled_at IS NULL THEN
			outcome := 'begun';
			UPDATE urlmode.lease l SET ends_at = greatest(l.ends_at, now() + lease_ms * interval '1 millisecond')
			WHERE l.elicitation = begin_lease.id AND l.reference = this.picked;
		ELSIF lease.fulfilled_at IS NULL AND lease.ends_at > now() THEN
			outcome := 'leased';
			fence := NULL;
			leased_ms := ceil(extract(epoch FROM lease.ends_at - now()) * 1000);
		ELSIF this.kind = 'payment' AND urlmode.is_recheck_due(begin_lease.id, recheck_ms) AND recheck_ms IS NOT NULL THEN
			outcome := 'recheck';
			fence := NULL;
			leased_ms := urlmode.recheck_leased_ms(begin_lease.id);
		ELSE
			outcome := 'begun';
			fence := urlmode.next_fence(begin_lease.id);
			INSERT INTO urlmode.lease AS l (elicitation, reference, fence, ends_at, claim_id)
			VALUES (begin_lease.id, this.picked, begin_lease.fence, now() + lease_ms * interval '1 millisecond', begin_lease.claim_id)
			ON CONFLICT ON CONSTRAINT lease_pkey DO UPDATE
			SET fence = EXCLUDED.fence, ends_at = EXCLUDED.ends_at, claim_id = EXCLUDED.claim_id, fulfilled_at = NULL, given_at = NULL;
		END IF;
	END IF;
	RETURN NEXT;
END
$$;
COMMENT ON FUNCTION urlmode.begin_lease IS
	'Begins the claim of an accept, for lease_ms milliseconds. reference: of the payment, or '
	'NULL: the oldest that matches. claim_id: a name for this claim, chosen by the caller. Who '
	'asks again with the same one is given the same fence. any_payment: also a payment that does '
	'not match, or is held, to deliver or refund what urlmode.unclaimed_of or urlmode.undelivered_of '
	'lists. outcome: begun (fence is for what follows); fulfilled (another call has done the '
	'work: fulfilled is what it has returned, sealed, and fence is for confirm_claim, or for '
	'release_claim where this answer fails as well); leased (another call does the work, for '
	'leased_ms milliseconds at most); recheck (only with recheck_ms: an event has asked the '
	'server to ask the provider, and the last answer is older than that, or than the event: '
	'begin_recheck first; it can be begun after leased_ms milliseconds, NULL or 0: now); claimed '
	'(an account, whose claim has one end); taken, changed, open or unknown, as claim returns '
	'them. claimed_reference: for what follows; empty where the outcome is no payment.';

CREATE OR REPLACE FUNCTION urlmode.renew_lease(id uuid, binding bytea, fence bigint, lease_ms bigint)
RETURNS text
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
	named text;
BEGIN
	PERFORM FROM urlmode.elicitation e WHERE e.id = renew_lease.id AND e.binding = renew_lease.binding;
	IF NOT FOUND THEN
		RETURN 'lost';
	END IF;
	-- A renewal that was under way shortens no longer one, such as that of a call between its rounds.
	UPDATE urlmode.lease l SET ends_at = greatest(l.ends_at, now() + lease_ms * interval '1 millisecond')
	WHERE l.elicitation = renew_lease.id AND l.fence = renew_lease.fence AND l.fulfilled_at IS NULL
		-- No other call would be offered it either.
		AND (l.ends_at > now() OR NOT EXISTS (
			SELECT FROM urlmode.payment p
			WHERE p.elicitation = l.elicitation AND p.reference = l.reference AND (p.refunded_at IS NOT NULL OR p.held)
		))
	RETURNING l.reference INTO named;
	RETURN CASE WHEN named IS NULL THEN 'lost' ELSE coalesce(urlmode.money_back(renew_lease.id, named), 'renewed') END;
END
$$;
COMMENT ON FUNCTION urlmode.renew_lease IS
	'The call goes on for lease_ms milliseconds from now, or for as long as it had before. outcome: renewed; refunded (it goes on, '
	'and all that was paid went back meanwhile); disputed (the same, also of a part); lost (the claim has ended, or another call has '
	'begun since, or the lease had ended and what was paid went back, in part or whole).';

-- Between two rounds of a call, its client has nothing but what the first one has told it, which may come twice, and to any instance.
CREATE OR REPLACE FUNCTION urlmode.continue_lease(id uuid, binding bytea, fence bigint, lease_ms bigint)
RETURNS TABLE (outcome text, claimed_reference text, next_fence bigint)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
	-- As release_claim, so that no two leases of an elicitation take the same number.
	PERFORM FROM urlmode.elicitation e WHERE e.id = continue_lease.id AND e.binding = continue_lease.binding FOR UPDATE;
	outcome := urlmode.renew_lease(continue_lease.id, continue_lease.binding, continue_lease.fence, continue_lease.lease_ms);
	IF outcome <> 'lost' THEN
		UPDATE urlmode.lease l SET fence = urlmode.next_fence(l.elicitation), ends_at = now() + lease_ms * interval '1 millisecond'
		WHERE l.elicitation = continue_lease.id AND l.fence = continue_lease.fence
		RETURNING l.reference::text, l.fence INTO claimed_reference, continue_lease.next_fence;
	END IF;
	RETURN NEXT;
END
$$;
COMMENT ON FUNCTION urlmode.continue_lease IS
	'renew_lease of the next round of a call, on any instance: from now on only next_fence is valid, so '
	'that one round follows another, once. outcome: as renew_lease. claimed_reference: for what '
	'follows; empty where the outcome is no payment.';

CREATE OR REPLACE FUNCTION urlmode.fulfil_lease(
	id uuid, binding bytea, fence bigint, fulfilled bytea, claim_end text DEFAULT NULL, refund text DEFAULT NULL,
	keep_ms bigint DEFAULT 600000
)
RETURNS text
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
	named text;
BEGIN
	IF claim_end IS NULL AND fulfilled IS NULL THEN
		RETURN 'lost';
	ELSIF claim_end IS NULL THEN
		PERFORM FROM urlmode.elicitation e WHERE e.id = fulfil_lease.id AND e.binding = fulfil_lease.binding;
		IF NOT FOUND THEN
			RETURN 'lost';
		END IF;
		UPDATE urlmode.lease l SET ends_at = 'infinity', fulfilled_at = coalesce(l.fulfilled_at, now())
		WHERE l.elicitation = fulfil_lease.id AND l.fence = fulfil_lease.fence
		RETURNING l.reference INTO named;
		IF FOUND THEN
			INSERT INTO urlmode.kept_result (elicitation, reference, result) VALUES (fulfil_lease.id, named, fulfil_lease.fulfilled)
			ON CONFLICT ON CONSTRAINT kept_result_pkey DO NOTHING;
		END IF;
	ELSE
		PERFORM FROM urlmode.elicitation e WHERE e.id = fulfil_lease.id AND e.binding = fulfil_lease.binding FOR UPDATE;
		IF NOT FOUND THEN
			RETURN 'lost';
		END IF;
		SELECT l.reference INTO named FROM urlmode.lease l WHERE l.elicitation = fulfil_lease.id AND l.fence = fulfil_lease.fence;
		IF FOUND THEN
			PERFORM urlmode.end_claim(fulfil_lease.id, named, keep_ms, claim_end, refund, fulfil_lease.fence);
		ELSE
			SELECT p.reference INTO named FROM urlmode.payment p
			WHERE p.elicitation = fulfil_lease.id AND p.claim_fence = fulfil_lease.fence AND p.claim_end = fulfil_lease.claim_end;
		END IF;
	END IF;
	RETURN CASE WHEN named IS NULL THEN 'lost' ELSE coalesce(urlmode.money_back(fulfil_lease.id, named), 'fulfilled') END;
END
$$;
COMMENT ON FUNCTION urlmode.fulfil_lease IS
	'The first end of a claim: the work is done. What the call has returned is kept, sealed, for '
	'the next call, until confirm_claim. claim_end: both ends at once, for who has delivered or '
	'refunded a payment that urlmode.unclaimed_of lists: delivered, or refunded, with the provider''s '
	'reference of the refund if there is one; nothing is kept. Can be repeated. outcome: '
	'fulfilled; refunded (done, and all that was paid went back meanwhile); disputed (the same, '
	'also of a part); lost (the claim has '
	'ended, or another call has begun since).';

CREATE OR REPLACE FUNCTION urlmode.begin_claim(
	id uuid, binding bytea, reference text, lease_ms bigint, keep_ms bigint DEFAULT 600000
)
RETURNS TABLE (outcome text, claimed_reference text, fence bigint, fulfilled bytea, leased_ms bigint)
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
	SELECT * FROM urlmode.begin_lease(id, binding, reference, lease_ms, keep_ms)
$$;
COMMENT ON FUNCTION urlmode.begin_claim IS
	'As begin_lease, for packages of before.';

CREATE OR REPLACE FUNCTION urlmode.renew_claim(id uuid, binding bytea, fence bigint, lease_ms bigint)
RETURNS boolean
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
	SELECT urlmode.renew_lease(id, binding, fence, lease_ms) <> 'lost'
$$;
COMMENT ON FUNCTION urlmode.renew_claim IS 'As renew_lease, for packages of before. False: lost.';

CREATE OR REPLACE FUNCTION urlmode.fulfil_claim(id uuid, binding bytea, fence bigint, fulfilled bytea)
RETURNS boolean
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
	SELECT urlmode.fulfil_lease(id, binding, fence, fulfilled) <> 'lost'
$$;
COMMENT ON FUNCTION urlmode.fulfil_claim IS 'As fulfil_lease, for packages of before. False: lost.';

CREATE OR REPLACE FUNCTION urlmode.confirm_claim(id uuid, binding bytea, fence bigint, keep_ms bigint DEFAULT 600000)
RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
	named text;
BEGIN
	PERFORM FROM urlmode.elicitation e
	WHERE e.id = confirm_claim.id AND e.binding = confirm_claim.binding FOR UPDATE;
	IF NOT FOUND THEN
		RETURN false;
	END IF;
	SELECT l.reference INTO named FROM urlmode.lease l
	WHERE l.elicitation = confirm_claim.id AND l.fence = confirm_claim.fence;
	IF FOUND THEN
		PERFORM urlmode.end_claim(confirm_claim.id, named, keep_ms, 'delivered', NULL, confirm_claim.fence);
		RETURN true;
	END IF;
	-- The answer to the first time may have been lost.
	RETURN EXISTS (
		SELECT FROM urlmode.payment p
		WHERE p.elicitation = confirm_claim.id AND p.claim_fence = confirm_claim.fence AND p.claim_end = 'delivered'
	) OR EXISTS (
		SELECT FROM urlmode.elicitation e WHERE e.id = confirm_claim.id AND e.claim_fence = confirm_claim.fence
	);
END
$$;
COMMENT ON FUNCTION urlmode.confirm_claim IS
	'The last end of a claim: the answer was written. Also without fulfil_lease, for a call whose '
	'result is not kept. The result of the elicitation is purged after keep_ms milliseconds, ten '
	'minutes by default. Can be repeated. False: the claim has ended otherwise or was released, or '
	'another call has begun since.';

CREATE OR REPLACE FUNCTION urlmode.release_claim(id uuid, binding bytea, fence bigint)
RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
	named text;
BEGIN
	-- So that no two releases and beginnings of the elicitation take the same number.
	PERFORM FROM urlmode.elicitation e
	WHERE e.id = release_claim.id AND e.binding = release_claim.binding FOR UPDATE;
	IF FOUND THEN
		UPDATE urlmode.lease l
		SET ends_at = now(), fence = urlmode.next_fence(l.elicitation), claim_id = NULL, fulfilled_at = NULL, given_at = NULL
		-- What was fulfilled is done. It is of no use only if its next answer has failed, too.
		WHERE l.elicitation = release_claim.id AND l.fence = release_claim.fence AND (l.fulfilled_at IS NULL OR l.given_at IS NOT NULL)
			-- A task has it for its client.
			AND NOT EXISTS (
				SELECT FROM urlmode.task t
				WHERE t.claimed @> ARRAY[l.elicitation] AND t.state = 'ended' AND t.read_at IS NULL AND l.fence = ANY (t.fences)
			)
		RETURNING l.reference INTO named;
		DELETE FROM urlmode.kept_result k WHERE k.elicitation = release_claim.id AND k.reference = named;
	END IF;
	RETURN named IS NOT NULL;
END
$$;
COMMENT ON FUNCTION urlmode.release_claim IS
	'The call has not done the work, or could not give the result that was kept: the next one can '
	'begin at once, and this one can do nothing more. False: the claim has ended, or another call '
	'has begun since; or it is fulfilled, and no other call was given its result yet, or a task has that which was never read.';

CREATE OR REPLACE FUNCTION urlmode.end_exchange(id uuid, binding bytea, reason text DEFAULT '')
RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
	UPDATE urlmode.elicitation e SET exchange = end_exchange.reason
	WHERE e.id = end_exchange.id AND e.binding = end_exchange.binding
		AND e.exchange = 'exchanging';
	RETURN FOUND;
END
$$;
COMMENT ON FUNCTION urlmode.end_exchange IS
	'The other end of the claim of an account. reason: empty, the account is connected; otherwise '
	'why it is not. False: no call has begun it, or its end was told before.';

CREATE OR REPLACE FUNCTION urlmode.release_unsent(id uuid, binding bytea, claim_id uuid)
RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
	PERFORM FROM urlmode.elicitation e
	WHERE e.id = release_unsent.id AND e.binding = release_unsent.binding AND e.exchange = 'exchanging' FOR UPDATE;
	IF NOT FOUND THEN
		RETURN false;
	END IF;
	DELETE FROM urlmode.lease l
	WHERE l.elicitation = release_unsent.id AND l.reference = '' AND l.claim_id = release_unsent.claim_id;
	IF NOT FOUND THEN
		RETURN false;
	END IF;
	UPDATE urlmode.elicitation e SET claimed_at = NULL, exchange = NULL WHERE e.id = release_unsent.id;
	RETURN true;
END
$$;
COMMENT ON FUNCTION urlmode.release_unsent IS
	'The call that has claimed an account under this claim_id was cancelled before it has sent the '
	'code to the provider: the next call can claim it, and the user need not authorise again. Never '
	'call it after the code was sent. False: it is not claimed under this claim_id, or its end was '
	'told (end_exchange).';

CREATE OR REPLACE FUNCTION urlmode.read_exchange(id uuid, binding bytea)
RETURNS text
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
	SELECT e.exchange::text FROM urlmode.elicitation e
	WHERE e.id = read_exchange.id AND e.binding = read_exchange.binding
$$;
COMMENT ON FUNCTION urlmode.read_exchange IS
	'The exchange of the code of an account: exchanging, or how it has ended, as end_exchange was '
	'told; NULL: no call has begun it, or the one that had has given the account back (release_unsent).';

CREATE OR REPLACE FUNCTION urlmode.unclaimed_of(tenant text, provider text, since timestamptz, id uuid)
RETURNS TABLE (
	elicitation uuid, provider_name text, reference text, amount bigint, currency text,
	matches boolean, late boolean, proven_at timestamptz, refunded bigint, held boolean,
	subject text, session text, binding bytea, resume_key text, result bytea, item text
)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
	SELECT p.elicitation, p.provider::text, p.reference::text, p.amount, p.currency::text,
		p.matches, p.late, p.proven_at, p.refunded, p.held,
		e.subject::text, e.session::text, e.binding::bytea, e.resume_key::text, p.result::bytea, e.item::text
	FROM urlmode.payment p
	JOIN urlmode.elicitation e ON e.id = p.elicitation
	WHERE p.claimed_at IS NULL AND p.refunded_at IS NULL AND urlmode.is_unclaimed(p) AND e.tenant = unclaimed_of.tenant
		AND (unclaimed_of.provider IS NULL OR p.provider = unclaimed_of.provider)
		AND (since IS NULL OR p.proven_at >= since)
		AND (unclaimed_of.id IS NULL OR p.elicitation = unclaimed_of.id)
	ORDER BY p.proven_at, p.reference
$$;
COMMENT ON FUNCTION urlmode.unclaimed_of IS
	'The payments of a tenant that were not refunded, and that no call has claimed or holds the '
	'lease of, the oldest first, with the data that is needed to deliver or to refund them. It '
	'lists the payments of all owners, for the operator of the MCP server. item: NULL: the server '
	'did not say what it was for.';

-- As is_unclaimed: not inlined.
CREATE OR REPLACE FUNCTION urlmode.is_undelivered(l urlmode.lease) RETURNS boolean
LANGUAGE sql STABLE AS $$
	SELECT l.fulfilled_at IS NOT NULL AND NOT EXISTS (
		SELECT FROM urlmode.payment p
		WHERE p.elicitation = l.elicitation AND p.reference = l.reference AND p.refunded_at IS NOT NULL
	)
$$;
COMMENT ON FUNCTION urlmode.is_undelivered IS
	'Internal. Whether the work was done and nobody has confirmed that its answer was written, of '
	'what did not go back.';

CREATE OR REPLACE FUNCTION urlmode.undelivered_of(tenant text, provider text, since timestamptz, id uuid)
RETURNS TABLE (
	elicitation uuid, provider_name text, kind text, reference text, amount bigint, currency text,
	fulfilled_at timestamptz, given_at timestamptz, has_result boolean, refunded bigint, held boolean,
	subject text, session text, resume_key text, item text
)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
	SELECT l.elicitation, e.provider::text, e.kind::text, l.reference::text, p.amount, p.currency::text,
		l.fulfilled_at, l.given_at, urlmode.has_kept(l.elicitation, l.reference), coalesce(p.refunded, 0), coalesce(p.held, false),
		e.subject::text, e.session::text, e.resume_key::text, e.item::text
	FROM urlmode.lease l
	JOIN urlmode.elicitation e ON e.id = l.elicitation
	LEFT JOIN urlmode.payment p ON p.elicitation = l.elicitation AND p.reference = l.reference
	WHERE l.fulfilled_at IS NOT NULL AND urlmode.is_undelivered(l)
		AND (undelivered_of.tenant IS NULL OR e.tenant = undelivered_of.tenant)
		AND (undelivered_of.provider IS NULL OR e.provider = undelivered_of.provider)
		AND (since IS NULL OR l.fulfilled_at >= since)
		AND (undelivered_of.id IS NULL OR l.elicitation = undelivered_of.id)
	ORDER BY l.fulfilled_at, l.elicitation, l.reference
$$;
COMMENT ON FUNCTION urlmode.undelivered_of IS
	'The claims of a tenant (NULL: of all) that were fulfilled and never confirmed, the oldest first: the work is '
	'done, and nobody knows that its answer was written. Among them are those whose answers are '
	'just on their way. The next call for the same thing is given the result, or does the work '
	'again where has_result is false. begin_lease takes each of them. given_at: when another call '
	'was last given the result. For all owners: for the operator of the MCP server.';

CREATE OR REPLACE FUNCTION urlmode.refunds_with_item(tenant text, provider text, since timestamptz, id uuid)
RETURNS TABLE (
	elicitation uuid, provider_name text, reference text, amount bigint, currency text, reversed bigint,
	received_at timestamptz, changed_at timestamptz,
	payment text, paid bigint, refunded bigint, held boolean, claimed boolean,
	subject text, session text, resume_key text, item text
)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
	SELECT told.elicitation, r.provider::text, r.reference::text, coalesce(r.amount, p.amount),
		coalesce(r.currency, p.currency)::text,
		CASE WHEN r.reversed_at IS NOT NULL THEN coalesce(r.reversed, r.amount, p.amount) ELSE 0 END,
		r.received_at, r.changed_at,
		p.reference::text, p.amount, p.refunded, p.held,
		p.claimed_at IS NOT NULL OR urlmode.is_leased(p.elicitation, p.reference),
		e.subject::text, e.session::text, e.resume_key::text, coalesce(p.item, e.item)::text
	FROM urlmode.refund r
	LEFT JOIN urlmode.payment p ON p.provider = r.provider AND p.reference = r.payment
	CROSS JOIN LATERAL unnest(CASE WHEN p.reference IS NULL THEN r.elicitations ELSE ARRAY[p.elicitation] END) AS told (elicitation)
	LEFT JOIN urlmode.elicitation e ON e.id = told.elicitation
	-- A refund of a payment that was never proved is the end of an attempt that failed.
	WHERE (p.reference IS NOT NULL OR urlmode.has_no_payment(r))
		-- Of a dispute, no money may have moved yet.
		AND NOT (r.kind = 'dispute' AND r.amount IS NOT DISTINCT FROM 0 AND r.reversed_at IS NULL)
		AND coalesce(p.tenant, e.tenant, r.tenant) = refunds_with_item.tenant
		AND (refunds_with_item.provider IS NULL OR r.provider = refunds_with_item.provider)
		AND (since IS NULL OR r.changed_at >= since)
		AND (refunds_with_item.id IS NULL OR (r.elicitations @> ARRAY[refunds_with_item.id] AND told.elicitation = refunds_with_item.id))
	ORDER BY r.changed_at, r.reference
$$;
COMMENT ON FUNCTION urlmode.refunds_with_item IS
	'What went back from a tenant and what of it came again, since a time, the last change last: '
	'also of payments that were claimed, and of elicitations that were purged (then without subject, '
	'session and resume_key). amount: of this refund. reversed: how much of it came again. '
	'payment: the reference of its payment, or NULL if that is not known, with a row for each '
	'elicitation that it may be of; paid, refunded, held, claimed: of that payment. item: NULL: '
	'the server did not say what it was for. For all owners: for the operator of the MCP server. '
	'What names neither a payment nor an elicitation of a tenant is nobody''s.';

CREATE OR REPLACE FUNCTION urlmode.measure(OUT unclaimed bigint, OUT oldest_unclaimed_s bigint,
	OUT database_ms bigint, OUT queue_usage double precision)
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
	SELECT count(*), coalesce(extract(epoch FROM clock_timestamp() - min(p.proven_at))::bigint, 0),
		(extract(epoch FROM clock_timestamp()) * 1000)::bigint, pg_notification_queue_usage()
	FROM urlmode.payment p WHERE p.claimed_at IS NULL AND p.refunded_at IS NULL AND urlmode.is_unclaimed(p)
$$;
COMMENT ON FUNCTION urlmode.measure IS
	'For the metrics: how many payments urlmode.unclaimed_of lists, of all tenants, for how many seconds the oldest '
	'of them has been proved (0: there is none), Unix time in milliseconds, and the part of the '
	'notification queue that is in use (0 to 1). PostgreSQL frees the queue only when somebody '
	'notifies or asks for that part, so the status program calls readings on a timer.';

CREATE OR REPLACE FUNCTION urlmode.gauges(
	OUT unclaimed bigint, OUT oldest_unclaimed_s bigint, OUT undelivered bigint, OUT oldest_undelivered_s bigint,
	OUT database_ms bigint, OUT queue_usage double precision
)
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
	SELECT m.unclaimed, m.oldest_unclaimed_s, u.undelivered, u.oldest_s, m.database_ms, m.queue_usage
	FROM urlmode.measure() m CROSS JOIN (
		SELECT count(*) AS undelivered, coalesce(extract(epoch FROM clock_timestamp() - min(l.fulfilled_at))::bigint, 0) AS oldest_s
		FROM urlmode.lease l WHERE l.fulfilled_at IS NOT NULL AND urlmode.is_undelivered(l)
	) u
$$;
COMMENT ON FUNCTION urlmode.gauges IS
	'For the metrics: what measure says, how many claims urlmode.undelivered_of lists, and for how many '
	'seconds the oldest of them has been fulfilled (0: there is none).';

GRANT EXECUTE ON FUNCTION
	urlmode.claim, urlmode.claim_at_once, urlmode.claim_outcome, urlmode.begin_lease, urlmode.renew_lease, urlmode.continue_lease, urlmode.fulfil_lease,
	urlmode.begin_claim, urlmode.renew_claim, urlmode.fulfil_claim,
	urlmode.confirm_claim, urlmode.release_claim, urlmode.end_exchange, urlmode.release_unsent, urlmode.read_exchange,
	urlmode.unclaimed_of, urlmode.undelivered_of, urlmode.refunds_with_item
TO :"server";
GRANT EXECUTE ON FUNCTION urlmode.measure, urlmode.gauges TO :"cgi";
