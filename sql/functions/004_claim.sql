-- One call acts on an outcome: it claims it. Payments that no call has claimed are listed.
--
-- A claim has two ends: the work is done, and the answer was written. claim takes
-- both at once. A call whose answer may be lost holds a lease meanwhile:
--
--   begin_claim    begins the lease, with a fencing number that is greater than
--                  each one before it
--   renew_claim    makes it longer, while the work goes on
--   fulfil_claim   the first end: the work is done, and what it has returned is kept.
--                  The next call is given this, and does not do the work again
--   confirm_claim  the second end: the answer was written
--   release_claim  the work was not done: the next call can begin at once
--
-- When a lease ends without one of them, the next call can begin as well; from
-- then on the earlier call can neither renew nor fulfil its claim. Its fencing
-- number decides that, and not the time: as long as no other call has begun, a
-- call whose lease has ended can still fulfil its claim.
--
-- The state of the claim of an outcome is in
--
--   claimed_at     of the payment, or of an elicitation without payments: the last
--                  end. Until then a later call is given the outcome (resume,
--                  is_paid), and neither it nor its result is purged
--   urlmode.lease  one row from begin_claim to the last end
--   is_leased      whether a call holds the lease, or has fulfilled the claim: no
--                  other call can do the work, and unclaimed does not list it
--
-- The claim of an account is final when it begins, since a provider revokes the
-- tokens of a code that is sent twice (RFC 6749 section 4.1.2). Its other end,
-- end_exchange, says whether the account is connected: for the user's page, and
-- for the calls that have waited for the one that exchanges the code.

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

CREATE OR REPLACE FUNCTION urlmode.is_unclaimed(p urlmode.payment) RETURNS boolean
LANGUAGE sql STABLE AS $$
	SELECT p.claimed_at IS NULL AND p.refunded_at IS NULL AND NOT urlmode.is_leased(p.elicitation, p.reference)
$$;
COMMENT ON FUNCTION urlmode.is_unclaimed IS
	'Internal. Whether a payment was not refunded, and no call has claimed it or holds its lease.';

CREATE OR REPLACE FUNCTION urlmode.claim_rank(p urlmode.payment) RETURNS integer
LANGUAGE sql STABLE AS $$
	SELECT coalesce((
		SELECT CASE WHEN l.fulfilled_at IS NULL THEN 2 ELSE 1 END FROM urlmode.lease l
		WHERE l.elicitation = p.elicitation AND l.reference = p.reference AND l.ends_at > now()
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
END
$$;
COMMENT ON FUNCTION urlmode.find_claim IS
	'Internal. Locks an elicitation, and finds what of its outcome can be claimed: found, with the '
	'reference of a payment, or empty where the outcome is no payment; otherwise taken, changed, '
	'open or unknown, as claim returns them. A payment that is held is found only with held. Of '
	'several payments the oldest that no call is at, then one that is fulfilled.';

CREATE OR REPLACE FUNCTION urlmode.end_claim(id uuid, reference text, keep_ms bigint) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
	DELETE FROM urlmode.lease l WHERE l.elicitation = end_claim.id AND l.reference = end_claim.reference;
	UPDATE urlmode.payment p SET claimed_at = now()
	WHERE p.elicitation = end_claim.id AND p.reference = end_claim.reference AND p.claimed_at IS NULL;
	-- What a user has typed is kept for no longer than it is needed.
	UPDATE urlmode.elicitation e
	SET claimed_at = now(), result = CASE WHEN e.kind <> 'input' THEN e.result END
	WHERE e.id = end_claim.id AND e.claimed_at IS NULL AND (e.kind = 'payment' AND e.status = 'completed' OR end_claim.reference = '');
	INSERT INTO urlmode.purge_queue (ids, due_at)
	VALUES (ARRAY[end_claim.id], now() + keep_ms * interval '1 millisecond');
END
$$;
COMMENT ON FUNCTION urlmode.end_claim IS
	'Internal. The last end of a claim: no later call is given the outcome, and its result is '
	'purged after keep_ms milliseconds, that of kind input at once.';

CREATE OR REPLACE FUNCTION urlmode.claim(
	id uuid, binding bytea, reference text DEFAULT NULL, keep_ms bigint DEFAULT 600000,
	action text DEFAULT 'accept', held boolean DEFAULT false
)
RETURNS text
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
	this record;
BEGIN
	this := urlmode.find_claim(claim.id, claim.binding, claim.reference, claim.action, claim.held);
	IF this.outcome <> 'found' THEN
		RETURN this.outcome;
	ELSIF urlmode.is_leased(claim.id, this.picked) THEN
		RETURN 'taken';
	END IF;
	PERFORM urlmode.end_claim(claim.id, this.picked, keep_ms);
	RETURN 'claimed';
END
$$;
COMMENT ON FUNCTION urlmode.claim IS
	'Claims the outcome of an elicitation, to act on it, with both ends at once. Where payments '
	'were proved it claims one of them: the oldest that matches, or the one of this reference. '
	'action: of the outcome that the caller has read. Its result is purged after keep_ms '
	'milliseconds, ten minutes by default. held: also one that is held. outcome: claimed, for one '
	'call; taken (another call has claimed it or does its work; or it was refunded, or is held); '
	'changed (it was paid after the refusal that the caller has read, or what the caller has read '
	'is not there any more); open (it is not completed, which may be so again after a failover '
	'that lost commits); unknown.';

CREATE OR REPLACE FUNCTION urlmode.begin_claim(
	id uuid, binding bytea, reference text, lease_ms bigint, keep_ms bigint DEFAULT 600000
)
RETURNS TABLE (outcome text, claimed_reference text, fence bigint, fulfilled bytea, leased_ms bigint)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
	this record;
	lease urlmode.lease;
BEGIN
	this := urlmode.find_claim(begin_claim.id, begin_claim.binding, begin_claim.reference, 'accept', false);
	outcome := this.outcome;
	claimed_reference := this.picked;
	IF outcome = 'found' AND EXISTS (
		SELECT FROM urlmode.payment p
		WHERE p.elicitation = begin_claim.id AND p.reference = this.picked AND NOT p.matches
	) THEN
		outcome := 'changed';
	ELSIF outcome = 'found' AND this.kind = 'oauth' THEN
		PERFORM urlmode.end_claim(begin_claim.id, this.picked, keep_ms);
		UPDATE urlmode.elicitation e SET exchange = 'exchanging' WHERE e.id = begin_claim.id;
		outcome := 'claimed';
	ELSIF outcome = 'found' THEN
		SELECT * INTO lease FROM urlmode.lease l
		WHERE l.elicitation = begin_claim.id AND l.reference = this.picked FOR UPDATE;
		fence := lease.fence;
		IF lease.fulfilled_at IS NOT NULL THEN
			outcome := 'fulfilled';
			fulfilled := lease.fulfilled;
		ELSIF lease.ends_at > now() THEN
			outcome := 'leased';
			fence := NULL;
			leased_ms := ceil(extract(epoch FROM lease.ends_at - now()) * 1000);
		ELSE
			outcome := 'begun';
			-- No two leases of an elicitation have had the same number, which alone names them
			-- from here on: the payment may get another reference (urlmode.rename_payment).
			fence := greatest(extract(epoch FROM clock_timestamp()) * 1000000, (
				SELECT max(l.fence) + 1 FROM urlmode.lease l WHERE l.elicitation = begin_claim.id
			));
			INSERT INTO urlmode.lease AS l (elicitation, reference, fence, ends_at)
			VALUES (begin_claim.id, this.picked, begin_claim.fence, now() + lease_ms * interval '1 millisecond')
			ON CONFLICT ON CONSTRAINT lease_pkey DO UPDATE SET fence = EXCLUDED.fence, ends_at = EXCLUDED.ends_at;
		END IF;
	END IF;
	RETURN NEXT;
END
$$;
COMMENT ON FUNCTION urlmode.begin_claim IS
	'Begins the claim of an accept, for lease_ms milliseconds. reference: of the payment, or NULL: '
	'the oldest that matches. outcome: begun (fence is for what follows); fulfilled (another call '
	'has done the work: fulfilled is what it has returned, sealed, and fence is for '
	'confirm_claim); leased (another call does the work, for leased_ms milliseconds at most); '
	'claimed (an account, whose claim has one end); taken, changed, open or unknown, as claim '
	'returns them. claimed_reference: for what follows; empty where the outcome is no payment.';

CREATE OR REPLACE FUNCTION urlmode.renew_claim(id uuid, binding bytea, fence bigint, lease_ms bigint)
RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
	UPDATE urlmode.lease l SET ends_at = now() + lease_ms * interval '1 millisecond'
	FROM urlmode.elicitation e
	WHERE e.id = renew_claim.id AND e.binding = renew_claim.binding
		AND l.elicitation = e.id AND l.fence = renew_claim.fence AND l.fulfilled_at IS NULL
		-- No other call would be offered it either.
		AND (l.ends_at > now() OR NOT EXISTS (
			SELECT FROM urlmode.payment p
			WHERE p.elicitation = l.elicitation AND p.reference = l.reference AND (p.refunded_at IS NOT NULL OR p.held)
		));
	RETURN FOUND;
END
$$;
COMMENT ON FUNCTION urlmode.renew_claim IS
	'The call goes on for lease_ms milliseconds from now. False: the claim has ended, or another '
	'call has begun since, or the lease had ended and what was paid went back, in part or whole.';

CREATE OR REPLACE FUNCTION urlmode.fulfil_claim(id uuid, binding bytea, fence bigint, fulfilled bytea)
RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
	UPDATE urlmode.lease l
	SET ends_at = 'infinity', fulfilled_at = coalesce(l.fulfilled_at, now()),
		fulfilled = coalesce(l.fulfilled, fulfil_claim.fulfilled)
	FROM urlmode.elicitation e
	WHERE e.id = fulfil_claim.id AND e.binding = fulfil_claim.binding
		AND l.elicitation = e.id AND l.fence = fulfil_claim.fence AND fulfil_claim.fulfilled IS NOT NULL;
	RETURN FOUND;
END
$$;
COMMENT ON FUNCTION urlmode.fulfil_claim IS
	'The first end of a claim: the work is done. What the call has returned is kept, sealed, for '
	'the next call, until confirm_claim. Can be repeated. False: the claim has ended, or another '
	'call has begun since.';

CREATE OR REPLACE FUNCTION urlmode.confirm_claim(id uuid, binding bytea, fence bigint, keep_ms bigint DEFAULT 600000)
RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
	named text;
BEGIN
	PERFORM FROM urlmode.elicitation e
	WHERE e.id = confirm_claim.id AND e.binding = confirm_claim.binding FOR UPDATE;
	IF FOUND THEN
		SELECT l.reference INTO named FROM urlmode.lease l
		WHERE l.elicitation = confirm_claim.id AND l.fence = confirm_claim.fence;
	END IF;
	IF named IS NULL THEN
		RETURN false;
	END IF;
	PERFORM urlmode.end_claim(confirm_claim.id, named, keep_ms);
	RETURN true;
END
$$;
COMMENT ON FUNCTION urlmode.confirm_claim IS
	'The last end of a claim: the answer was written. Also without fulfil_claim, for a call whose '
	'result is not kept. The result of the elicitation is purged after keep_ms milliseconds, ten '
	'minutes by default. False: the claim has ended, or another call has begun since.';

CREATE OR REPLACE FUNCTION urlmode.release_claim(id uuid, binding bytea, fence bigint)
RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
	RETURN urlmode.renew_claim(release_claim.id, release_claim.binding, release_claim.fence, 0);
END
$$;
COMMENT ON FUNCTION urlmode.release_claim IS
	'The call has not done the work: the next one can begin at once. False: the claim has ended, '
	'or another call has begun since.';

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

CREATE OR REPLACE FUNCTION urlmode.read_exchange(id uuid, binding bytea)
RETURNS text
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
	SELECT e.exchange::text FROM urlmode.elicitation e
	WHERE e.id = read_exchange.id AND e.binding = read_exchange.binding
$$;
COMMENT ON FUNCTION urlmode.read_exchange IS
	'The exchange of the code of an account: exchanging, or how it has ended, as end_exchange was '
	'told; NULL: no call has begun it.';

CREATE OR REPLACE FUNCTION urlmode.unclaimed(
	provider text DEFAULT NULL, since timestamptz DEFAULT NULL, id uuid DEFAULT NULL
)
RETURNS TABLE (
	elicitation uuid, provider_name text, reference text, amount bigint, currency text,
	matches boolean, late boolean, proven_at timestamptz, refunded bigint, held boolean,
	subject text, session text, binding bytea, resume_key text, action text, reason text, result bytea
)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
	SELECT p.elicitation, p.provider::text, p.reference::text, p.amount, p.currency::text,
		p.matches, p.late, p.proven_at, p.refunded, p.held,
		e.subject::text, e.session::text, e.binding::bytea, e.resume_key::text,
		e.action::text, e.reason::text, p.result::bytea
	FROM urlmode.payment p
	JOIN urlmode.elicitation e ON e.id = p.elicitation
	WHERE urlmode.is_unclaimed(p)
		AND (unclaimed.provider IS NULL OR p.provider = unclaimed.provider)
		AND (since IS NULL OR p.proven_at >= since)
		AND (unclaimed.id IS NULL OR p.elicitation = unclaimed.id)
	ORDER BY p.proven_at, p.reference
$$;
COMMENT ON FUNCTION urlmode.unclaimed IS
	'The payments that were not refunded, and that no call has claimed or holds the lease of, the '
	'oldest first, with the data that is needed to deliver or to refund them. It lists the '
	'payments of all owners, for the operator of the MCP server.';

CREATE OR REPLACE FUNCTION urlmode.refunds(
	provider text DEFAULT NULL, since timestamptz DEFAULT NULL, id uuid DEFAULT NULL
)
RETURNS TABLE (
	elicitation uuid, provider_name text, reference text, amount bigint, currency text, reversed bigint,
	received_at timestamptz, changed_at timestamptz,
	payment text, paid bigint, refunded bigint, held boolean, claimed boolean,
	subject text, session text, resume_key text
)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
	SELECT told.elicitation, r.provider::text, r.reference::text, coalesce(r.amount, p.amount),
		coalesce(r.currency, p.currency)::text,
		CASE WHEN r.reversed_at IS NOT NULL THEN coalesce(r.reversed, r.amount, p.amount) ELSE 0 END,
		r.received_at, r.changed_at,
		p.reference::text, p.amount, p.refunded, p.held,
		p.claimed_at IS NOT NULL OR urlmode.is_leased(p.elicitation, p.reference),
		e.subject::text, e.session::text, e.resume_key::text
	FROM urlmode.refund r
	LEFT JOIN urlmode.payment p ON p.provider = r.provider AND p.reference = r.payment
	CROSS JOIN LATERAL unnest(CASE WHEN p.reference IS NULL THEN r.elicitations ELSE ARRAY[p.elicitation] END) AS told (elicitation)
	LEFT JOIN urlmode.elicitation e ON e.id = told.elicitation
	-- A refund of a payment that was never proved is the end of an attempt that failed.
	WHERE (p.reference IS NOT NULL OR urlmode.has_no_payment(r))
		AND (refunds.provider IS NULL OR r.provider = refunds.provider)
		AND (since IS NULL OR r.changed_at >= since)
		AND (refunds.id IS NULL OR (r.elicitations @> ARRAY[refunds.id] AND told.elicitation = refunds.id))
	ORDER BY r.changed_at, r.reference
$$;
COMMENT ON FUNCTION urlmode.refunds IS
	'What went back and what of it came again, since a time, the last change last: also of '
	'payments that were claimed, and of elicitations that were purged (then without subject, '
	'session and resume_key). amount: of this refund. reversed: how much of it came again. '
	'payment: the reference of its payment, or NULL if that is not known, with a row for each '
	'elicitation that it may be of; paid, refunded, held, claimed: of that payment. For all '
	'owners: for the operator of the MCP server.';

CREATE OR REPLACE FUNCTION urlmode.measure(OUT unclaimed bigint, OUT oldest_unclaimed_s bigint,
	OUT database_ms bigint, OUT queue_usage double precision)
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
	SELECT count(*), coalesce(extract(epoch FROM clock_timestamp() - min(p.proven_at))::bigint, 0),
		(extract(epoch FROM clock_timestamp()) * 1000)::bigint, pg_notification_queue_usage()
	FROM urlmode.payment p WHERE urlmode.is_unclaimed(p)
$$;
COMMENT ON FUNCTION urlmode.measure IS
	'For the metrics: how many payments urlmode.unclaimed lists, for how many seconds the oldest '
	'of them has been proved (0: there is none), Unix time in milliseconds, and the part of the '
	'notification queue that is in use (0 to 1). PostgreSQL frees the queue only when somebody '
	'notifies or asks for that part, so the status program calls this on a timer.';

GRANT EXECUTE ON FUNCTION
	urlmode.claim, urlmode.begin_claim, urlmode.renew_claim, urlmode.fulfil_claim,
	urlmode.confirm_claim, urlmode.release_claim, urlmode.end_exchange, urlmode.read_exchange,
	urlmode.unclaimed, urlmode.refunds
TO :"server";
GRANT EXECUTE ON FUNCTION urlmode.measure TO :"cgi";
