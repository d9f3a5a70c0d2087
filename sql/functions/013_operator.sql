-- What the operator's command asks: what became of an elicitation, what
-- providers sent, what nobody has claimed.
--
-- None of it returns a result, a verifier, a binding, a session or a target
-- URL: they are sealed, or give access to their reader. A subject is
-- personal, and only show_elicitation returns it, and what the console asks
-- (049).

CREATE OR REPLACE FUNCTION urlmode.list_migrations()
RETURNS TABLE (name text, applied_at timestamptz)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
	SELECT m.name, m.applied_at FROM urlmode.migration m ORDER BY m.name
$$;
COMMENT ON FUNCTION urlmode.list_migrations IS 'The migrations that were applied, in their order.';

CREATE OR REPLACE FUNCTION urlmode.migration_digests()
RETURNS TABLE (name text, digest text)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
	SELECT m.name, m.digest FROM urlmode.migration m WHERE m.digest IS NOT NULL ORDER BY m.name
$$;
COMMENT ON FUNCTION urlmode.migration_digests IS
	'SHA-256 of each migration as it was applied, in hexadecimal.';

CREATE OR REPLACE FUNCTION urlmode.show_elicitation(id uuid)
RETURNS TABLE (
	elicitation uuid, provider text, kind text, status text, action text, reason text,
	subject text, requester text, client_id text, traceparent text, resume_key text, expected jsonb,
	created_at timestamptz, opened_at timestamptz, expires_at timestamptz, closes_at timestamptz,
	completed_at timestamptz, completed_from text, claimed_at timestamptz, has_result boolean, exchange text,
	failed_attempts integer, refunds integer,
	event_type text, unproven_references text[], rechecks integer, rechecked integer, recheck_failures integer
)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
	SELECT e.id, e.provider::text, e.kind::text, urlmode.effective_status(e), e.action::text, e.reason::text,
		e.subject::text, e.requester::text, e.client_id::text, e.traceparent::text, e.resume_key::text, e.expected::jsonb,
		e.created_at, e.opened_at, e.expires_at,
		urlmode.closes_at(e.kind, urlmode.effective_status(e), e.expires_at, e.grace),
		e.completed_at, e.completed_from::text, e.claimed_at, e.result IS NOT NULL,
		CASE e.exchange WHEN '' THEN 'connected' ELSE e.exchange::text END,
		e.failed_attempts, e.refunds,
		r.event_type::text, coalesce(r.unproven_references::text[], '{}'), coalesce(r.rechecks, 0), coalesce(r.rechecked, 0),
		coalesce(r.recheck_failures, 0)
	FROM urlmode.elicitation e LEFT JOIN urlmode.recheck r ON r.elicitation = e.id
	WHERE e.id = show_elicitation.id
$$;
COMMENT ON FUNCTION urlmode.show_elicitation IS
	'What an elicitation is for and what became of it; no row: there is none of this id. status: '
	'processing also for a payment that has ended without an accept while an attempt to pay is '
	'under way. closes_at: from then on it may be expired, even if its provider says nothing. '
	'has_result: its sealed result is still kept. exchange, of an account: exchanging, connected, '
	'or why it is not connected; NULL: nobody says.';

CREATE OR REPLACE FUNCTION urlmode.show_payments(id uuid)
RETURNS TABLE (
	provider text, reference text, amount bigint, currency text, matches boolean, late boolean,
	proven_at timestamptz, leased_until timestamptz, fulfilled_at timestamptz, claimed_at timestamptz,
	refunded bigint, refunded_at timestamptz, held boolean
)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
	SELECT p.provider::text, p.reference::text, p.amount, p.currency::text, p.matches, p.late, p.proven_at,
		CASE WHEN l.ends_at < 'infinity' THEN l.ends_at END, l.fulfilled_at, p.claimed_at,
		p.refunded, p.refunded_at, p.held
	FROM urlmode.payment p
	LEFT JOIN urlmode.lease l ON l.elicitation = p.elicitation AND l.reference = p.reference
	WHERE p.elicitation = show_payments.id
	ORDER BY p.proven_at, p.reference
$$;
COMMENT ON FUNCTION urlmode.show_payments IS
	'The payments for an elicitation, the oldest first. leased_until: a call holds its lease until '
	'then, unless it has fulfilled its claim or renews its lease. fulfilled_at: a call has done '
	'its work, and its answer was not written yet.';

CREATE OR REPLACE FUNCTION urlmode.show_ends(id uuid)
RETURNS TABLE (provider text, reference text, claim_end text, claim_refund text)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
	SELECT p.provider::text, p.reference::text, p.claim_end, p.claim_refund::text
	FROM urlmode.payment p WHERE p.elicitation = show_ends.id
	ORDER BY p.proven_at, p.reference
$$;
COMMENT ON FUNCTION urlmode.show_ends IS
	'How the claims of the payments for an elicitation have ended: delivered, or refunded, then '
	'with the provider''s reference of the refund. NULL: not yet, or nobody has said.';

CREATE OR REPLACE FUNCTION urlmode.show_refunds(id uuid)
RETURNS TABLE (
	reference text, payment text, amount bigint, currency text, reversed bigint,
	received_at timestamptz, reversed_at timestamptz, unclear text, unclear_at timestamptz
)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
	SELECT r.reference::text, r.payment::text, r.amount, r.currency::text, r.reversed, r.received_at, r.reversed_at,
		CASE WHEN urlmode.has_no_payment(r) THEN 'payment not known' WHEN r.currency <> p.currency THEN 'other currency'
			WHEN r.unclear_at IS NULL THEN NULL WHEN r.reversed_at IS NULL THEN 'other currency'
			ELSE 'total after a reversal' END,
		CASE WHEN urlmode.has_no_payment(r) OR r.currency <> p.currency THEN r.changed_at ELSE r.unclear_at END
	FROM urlmode.refund r
	LEFT JOIN urlmode.payment p ON p.provider = r.provider AND p.reference = r.payment
	WHERE r.elicitations @> ARRAY[show_refunds.id]
	ORDER BY r.received_at, r.reference
$$;
COMMENT ON FUNCTION urlmode.show_refunds IS
	'The refunds of the payments for an elicitation, the oldest first. amount NULL: all of the '
	'payment. payment NULL: the payment is not known. unclear: why nobody can say how much of the '
	'payment it took, and unclear_at since when: it holds the payment, unless the operator has '
	'decided since. NULL: it is clear.';

CREATE OR REPLACE FUNCTION urlmode.show_decisions(id uuid)
RETURNS TABLE (
	decided_at timestamptz, reference text, decision text, refunded bigint, decided_by text, note text
)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
	SELECT d.decided_at, d.reference::text, d.decision, d.refunded, d.decided_by, d.note
	FROM urlmode.payment p
	JOIN urlmode.decision d ON d.provider = p.provider AND d.reference = p.reference
	WHERE p.elicitation = show_decisions.id
	ORDER BY d.decided_at
$$;
COMMENT ON FUNCTION urlmode.show_decisions IS
	'The decisions of the operator about the payments for an elicitation, the oldest first.';

CREATE OR REPLACE FUNCTION urlmode.list_paid(provider text, since timestamptz, until timestamptz)
RETURNS TABLE (reference text, proven_at timestamptz, amount bigint, currency text, elicitation uuid)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
	SELECT p.reference::text, p.proven_at, p.amount, p.currency::text, urlmode.asked_for(p)
	FROM urlmode.payment p
	WHERE p.provider = list_paid.provider AND p.proven_at >= list_paid.since AND p.proven_at < list_paid.until
$$;
COMMENT ON FUNCTION urlmode.list_paid IS
	'The payments of a provider that were proved in this time, also those that were claimed or '
	'refunded: for a comparison with its own books.';

CREATE OR REPLACE FUNCTION urlmode.known_elicitations(provider text, ids uuid[]) RETURNS SETOF uuid
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
	SELECT e.id FROM urlmode.elicitation e WHERE e.id = ANY (ids) AND e.provider = known_elicitations.provider
	UNION
	SELECT p.elicitation FROM urlmode.payment p WHERE p.elicitation = ANY (ids) AND p.provider = known_elicitations.provider
$$;
COMMENT ON FUNCTION urlmode.known_elicitations IS
	'Which of these ids are elicitations of this provider here, also those that were paid and '
	'purged: the others are of another application.';

-- In PL/pgSQL, because reconcile comes later (029_reconcile.sql).
CREATE OR REPLACE FUNCTION urlmode.reconcile_refunds(provider text, since timestamptz, until timestamptz, refunds jsonb)
RETURNS TABLE (
	what text, reference text, payment text, elicitation uuid, amount bigint, currency text, their_amount bigint, their_currency text
)
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
	RETURN QUERY
	SELECT r.what, r.reference, r.payment, r.elicitation, r.amount, r.currency, r.their_amount, r.their_currency
	FROM (SELECT DISTINCT p.tenant FROM urlmode.payment p WHERE p.provider = reconcile_refunds.provider) t
	CROSS JOIN LATERAL urlmode.reconcile(reconcile_refunds.provider, since, until, '[]', refunds, t.tenant) r
	WHERE r.kind = 'refund' AND (r.what <> 'missing_there' OR EXISTS (
		SELECT FROM urlmode.refund x
		WHERE x.provider = reconcile_refunds.provider AND x.reference = r.reference AND x.kind = 'refund'
			AND x.received_at >= since AND x.received_at < until
	))
	ORDER BY 1, 2;
END
$$;
COMMENT ON FUNCTION urlmode.reconcile_refunds IS
	'Compares what a provider lists as gone back with what is here, of all tenants: as reconcile, '
	'but of what is not in the list only refunds, and no disputes, that were received in this time.';

CREATE OR REPLACE FUNCTION urlmode.lock_for_decision(provider text, reference text) RETURNS urlmode.payment
LANGUAGE plpgsql AS $$
DECLARE
	row urlmode.payment;
BEGIN
	SELECT * INTO row FROM urlmode.payment p
	WHERE p.provider = lock_for_decision.provider AND p.reference = lock_for_decision.reference;
	IF NOT FOUND THEN
		RETURN NULL;
	END IF;
	-- In the order in which a call that claims it locks them.
	PERFORM FROM urlmode.elicitation e WHERE e.id = row.elicitation FOR UPDATE;
	-- An event about it and another elicitation is recorded before the decision, or after it.
	PERFORM FROM urlmode.refund r WHERE r.elicitations @> ARRAY[row.elicitation]
	ORDER BY r.provider, r.reference FOR UPDATE;
	SELECT * INTO row FROM urlmode.payment p
	WHERE p.provider = lock_for_decision.provider AND p.reference = lock_for_decision.reference FOR UPDATE;
	-- A call whose lease has ended may fulfil it just now.
	PERFORM FROM urlmode.lease l WHERE l.elicitation = row.elicitation AND l.reference = row.reference FOR UPDATE;
	RETURN row;
END
$$;
COMMENT ON FUNCTION urlmode.lock_for_decision IS
	'Internal. Locks a payment, with what decides about it, for the operator. NULL: there is none.';

CREATE OR REPLACE FUNCTION urlmode.last_decision(p urlmode.payment) RETURNS text
LANGUAGE sql STABLE AS $$
	SELECT d.decision FROM urlmode.decision d
	WHERE d.provider = p.provider AND d.reference = p.reference AND d.decided_at >= p.proven_at
	ORDER BY d.decided_at DESC LIMIT 1
$$;
COMMENT ON FUNCTION urlmode.last_decision IS
	'Internal. What the operator has decided about a payment last; NULL: nothing.';

CREATE OR REPLACE FUNCTION urlmode.is_at_call(p urlmode.payment) RETURNS boolean
LANGUAGE sql STABLE AS $$
	SELECT urlmode.claim_rank(p) IN (1, 2)
$$;
COMMENT ON FUNCTION urlmode.is_at_call IS
	'Internal. Whether a call works for a payment, or its result is kept for the next call. A result '
	'that was purged before anybody has confirmed it leaves the decision to the operator.';

CREATE OR REPLACE FUNCTION urlmode.decide_payment(
	provider text, reference text, decision text, decided_by text, note text DEFAULT ''
)
RETURNS text
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
	row urlmode.payment;
	is_deleted boolean;
	-- Calls for the same item are held because of it, as long as nobody takes it for what was asked for.
	is_wrong boolean;
BEGIN
	IF decide_payment.decision IS NULL OR decide_payment.decision NOT IN ('released', 'voided') THEN
		RAISE invalid_parameter_value USING MESSAGE = 'decision is released or voided';
	END IF;
	row := urlmode.lock_for_decision(decide_payment.provider, decide_payment.reference);
	IF row.reference IS NULL THEN
		RETURN 'unknown';
	END IF;
	is_deleted := NOT EXISTS (SELECT FROM urlmode.elicitation e WHERE e.id = row.elicitation);
	is_wrong := NOT row.matches AND EXISTS (
		SELECT FROM urlmode.elicitation e
		WHERE e.id = row.elicitation AND e.kind = 'payment' AND e.status = 'completed' AND NOT urlmode.is_of_subscription(e.expected)
	);
	IF row.claimed_at IS NOT NULL OR urlmode.is_at_call(row) THEN
		RETURN 'claimed';
	ELSIF is_deleted AND decide_payment.decision = 'released' THEN
		RETURN 'deleted';
	ELSIF NOT row.held AND NOT ((is_deleted OR is_wrong) AND row.refunded_at IS NULL)
		AND NOT (decide_payment.decision = 'released' AND urlmode.last_decision(row) IS NOT DISTINCT FROM 'voided')
	THEN
		RETURN 'not_held';
	END IF;
	IF is_wrong AND decide_payment.decision = 'released' THEN
		UPDATE urlmode.payment p SET matches = true WHERE p.provider = row.provider AND p.reference = row.reference;
		-- A call may wait for another payment that is under way.
		PERFORM urlmode.notify(ARRAY[urlmode.notification(row.elicitation, 'completed', late => row.late)]);
	END IF;
	INSERT INTO urlmode.decision (provider, reference, decision, refunded, decided_by, note)
	VALUES (row.provider, row.reference, decide_payment.decision, row.refunded, decide_payment.decided_by,
		coalesce(decide_payment.note, ''));
	-- A call whose lease has ended, and that comes back, must not go on.
	IF decide_payment.decision = 'voided' THEN
		DELETE FROM urlmode.lease l WHERE l.elicitation = row.elicitation AND l.reference = row.reference;
	END IF;
	PERFORM urlmode.apply_refunds(ARRAY[row.elicitation]);
	RETURN decide_payment.decision;
END
$$;
COMMENT ON FUNCTION urlmode.decide_payment IS
	'The operator decides about a payment that is held, or that does not match. decision: released '
	'(the next call is offered it, and from then on it matches) or voided (no call is; also where '
	'only a part went back). A payment that was voided can be released. Neither money for what is no '
	'payment nor the first payment of a subscription matches by a decision. One that came '
	'again after its elicitation was deleted can be voided alone, held or not. outcome: the '
	'decision; deleted (the elicitation), not_held, claimed (by a call, which may still do its work, or whose '
	'result the next call is given) or unknown, which change nothing.';

CREATE OR REPLACE FUNCTION urlmode.refund_payment(
	provider text, reference text, refund text, decided_by text, note text DEFAULT ''
)
RETURNS text
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
	row urlmode.payment;
BEGIN
	IF refund_payment.refund IS NULL OR octet_length(refund_payment.refund) NOT BETWEEN 1 AND 800 THEN
		RAISE invalid_parameter_value USING MESSAGE = 'refund has 1 to 800 bytes';
	END IF;
	row := urlmode.lock_for_decision(refund_payment.provider, refund_payment.reference);
	IF row.reference IS NULL THEN
		RETURN 'unknown';
	ELSIF row.claim_end = 'refunded' OR row.refunded_at IS NOT NULL AND urlmode.last_decision(row) IS DISTINCT FROM 'voided' THEN
		RETURN 'already';
	ELSIF row.claimed_at IS NOT NULL OR urlmode.is_at_call(row) THEN
		RETURN 'claimed';
	END IF;
	INSERT INTO urlmode.decision (provider, reference, decision, refunded, decided_by, note)
	VALUES (row.provider, row.reference, 'refunded', row.refunded, refund_payment.decided_by, coalesce(refund_payment.note, ''));
	PERFORM urlmode.end_claim(row.elicitation, row.reference, 600000, 'refunded', refund_payment.refund);
	RETURN 'refunded';
END
$$;
COMMENT ON FUNCTION urlmode.refund_payment IS
	'The operator has refunded a payment at its provider. refund: the provider''s reference of that, 1 '
	'to 800 bytes. It moves no money: the claim of the payment ends as refunded, as where a server '
	'has refunded what urlmode.unclaimed_of lists, and the next call for the same thing has to be '
	'paid. Of any payment that no call has claimed, held or not, also of one that was voided. '
	'outcome: refunded; already (all of it went back, or this was said before), claimed (by a call, '
	'which may still do its work, or whose result the next call is given) or unknown, which change nothing.';

CREATE OR REPLACE FUNCTION urlmode.state_to_decide(p urlmode.payment) RETURNS text
LANGUAGE sql STABLE AS $$
	SELECT format('%s %s %s %s %s %s', p.amount, p.currency, p.refunded, p.held, extract(epoch FROM p.refunded_at), (
		SELECT format('%s %s', d.decision, extract(epoch FROM d.decided_at)) FROM urlmode.decision d
		WHERE d.provider = p.provider AND d.reference = p.reference ORDER BY d.decided_at DESC LIMIT 1
	))
$$;
COMMENT ON FUNCTION urlmode.state_to_decide IS
	'Internal. What the operator looks at before a decision: the amount, how much went back, whether '
	'the payment is held, and the last decision. Without claims, which no decision overrides.';

CREATE OR REPLACE FUNCTION urlmode.show_state(provider text, reference text) RETURNS text
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
	SELECT urlmode.state_to_decide(p) FROM urlmode.payment p
	WHERE p.provider = show_state.provider AND p.reference = show_state.reference
$$;
COMMENT ON FUNCTION urlmode.show_state IS
	'The state of a payment on which a decision depends, for decide_shown. It is text only to be '
	'compared. NULL: there is none.';

-- Whose answer was lost, or whose page was sent twice.
CREATE OR REPLACE FUNCTION urlmode.is_decided_so(
	p urlmode.payment, decision text, refund text, decided_by text, note text, shown text
)
RETURNS boolean
LANGUAGE sql STABLE AS $$
	SELECT coalesce((
		SELECT (d.decision, d.decided_by, d.note, d.refunded) = (is_decided_so.decision, is_decided_so.decided_by, coalesce(is_decided_so.note, ''), p.refunded)
			AND is_decided_so.shown LIKE '% ' || coalesce(lag(format('%s %s', d.decision, extract(epoch FROM d.decided_at))) OVER (ORDER BY d.decided_at), '')
		FROM urlmode.decision d WHERE d.provider = p.provider AND d.reference = p.reference ORDER BY d.decided_at DESC LIMIT 1
	), false) AND CASE is_decided_so.decision
		WHEN 'released' THEN NOT p.held AND p.refunded_at IS NULL
		WHEN 'voided' THEN p.refunded_at IS NOT NULL
		ELSE p.claim_end = 'refunded' AND p.claim_refund = is_decided_so.refund
	END
$$;
COMMENT ON FUNCTION urlmode.is_decided_so IS
	'Internal. Whether the one decision about a payment since it was shown so is this one, of the same '
	'operator for the same reason, and nothing has changed since.';

CREATE OR REPLACE FUNCTION urlmode.decide_shown(
	provider text, reference text, decision text, refund text, decided_by text, note text, shown text
)
RETURNS text
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
	row urlmode.payment;
BEGIN
	IF shown IS NULL THEN
		RAISE invalid_parameter_value USING MESSAGE = 'shown is what show_state returns';
	END IF;
	row := urlmode.lock_for_decision(decide_shown.provider, decide_shown.reference);
	IF row.reference IS NULL THEN
		RETURN 'unknown';
	ELSIF urlmode.state_to_decide(row) <> shown THEN
		RETURN CASE WHEN urlmode.is_decided_so(row, decide_shown.decision, refund, decided_by, note, shown) THEN decide_shown.decision ELSE 'changed' END;
	ELSIF decide_shown.decision = 'refunded' THEN
		RETURN urlmode.refund_payment(row.provider, row.reference, refund, decided_by, note);
	END IF;
	RETURN urlmode.decide_payment(row.provider, row.reference, decide_shown.decision, decided_by, note);
END
$$;
COMMENT ON FUNCTION urlmode.decide_shown IS
	'The operator decides about a payment as a page has shown it. decision: released or voided, as '
	'decide_payment, or refunded, with the provider''s reference of the refund, as refund_payment. '
	'shown: what show_state said then. outcome: as these two, or changed, which changes nothing: '
	'somebody else has decided since, or more or less of it went back. The same once more has the same '
	'outcome, and is written once.';

CREATE OR REPLACE FUNCTION urlmode.show_events(id uuid)
RETURNS TABLE (
	received_at timestamptz, type text, action text, reference text, amount bigint, request text, identity text
)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
	SELECT v.received_at, v.type, v.action, v.reference::text, v.amount, v.request, v.identity
	FROM urlmode.event v WHERE v.elicitation = show_events.id
	ORDER BY v.received_at, v.identity
$$;
COMMENT ON FUNCTION urlmode.show_events IS
	'The events that were kept for an elicitation, the oldest first.';

CREATE OR REPLACE FUNCTION urlmode.tenant_of(id uuid) RETURNS text
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
	SELECT t.tenant FROM (
		SELECT e.tenant::text FROM urlmode.elicitation e WHERE e.id = tenant_of.id
		UNION ALL
		SELECT p.tenant::text FROM urlmode.payment p WHERE p.elicitation = tenant_of.id
	) t (tenant) LIMIT 1
$$;
COMMENT ON FUNCTION urlmode.tenant_of IS
	'The tenant of an elicitation, also of one that was paid and purged; empty: it has none. NULL: '
	'there is none of this id.';

CREATE OR REPLACE FUNCTION urlmode.tenant_events(tenant text, provider text, since timestamptz, late boolean, most integer)
RETURNS TABLE (
	received_at timestamptz, provider_name text, type text, action text,
	elicitation uuid, reference text, amount bigint, request text
)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
	SELECT l.* FROM (
		SELECT v.received_at, v.provider, v.type, v.action, v.elicitation, v.reference::text, v.amount, v.request
		FROM urlmode.event v
		WHERE v.received_at >= coalesce(since, now() - interval '1 day')
			AND (tenant_events.provider IS NULL OR v.provider = tenant_events.provider)
			AND (NOT tenant_events.late OR v.action = 'late')
			AND (tenant_events.tenant IS NULL OR urlmode.tenant_of(v.elicitation) = tenant_events.tenant)
		ORDER BY v.received_at DESC LIMIT most
	) l
	ORDER BY l.received_at
$$;
COMMENT ON FUNCTION urlmode.tenant_events IS
	'The events since a time (NULL: of the last day), of all tenants and providers (NULL) or of one; '
	'the last ones, the oldest of them first. late: only those that came after their elicitation was completed.';

CREATE OR REPLACE FUNCTION urlmode.tenant_unclaimed(tenant text, provider text, since timestamptz, most integer)
RETURNS TABLE (
	proven_at timestamptz, provider_name text, elicitation uuid, reference text,
	amount bigint, currency text, matches boolean, late boolean, refunded bigint, held boolean
)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
	SELECT p.proven_at, p.provider::text, p.elicitation, p.reference::text,
		p.amount, p.currency::text, p.matches, p.late, p.refunded, p.held
	FROM urlmode.payment p
	WHERE p.claimed_at IS NULL AND p.refunded_at IS NULL AND urlmode.is_unclaimed(p)
		AND (tenant_unclaimed.tenant IS NULL OR p.tenant = tenant_unclaimed.tenant)
		AND (tenant_unclaimed.provider IS NULL OR p.provider = tenant_unclaimed.provider)
		AND (since IS NULL OR p.proven_at >= since)
	ORDER BY p.proven_at, p.reference LIMIT most
$$;
COMMENT ON FUNCTION urlmode.tenant_unclaimed IS
	'The payments that urlmode.unclaimed_of returns to MCP servers, without their owners, the oldest '
	'first; of all tenants (NULL) or of one.';

CREATE OR REPLACE FUNCTION urlmode.tenant_undelivered(tenant text, provider text, since timestamptz, most integer)
RETURNS TABLE (
	fulfilled_at timestamptz, provider_name text, kind text, elicitation uuid, reference text,
	amount bigint, currency text, has_result boolean, refunded bigint, held boolean
)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
	SELECT u.fulfilled_at, u.provider_name, u.kind, u.elicitation, u.reference,
		u.amount, u.currency, u.has_result, u.refunded, u.held
	FROM urlmode.undelivered_of(tenant_undelivered.tenant, tenant_undelivered.provider, tenant_undelivered.since, NULL) u
	ORDER BY u.fulfilled_at, u.elicitation, u.reference LIMIT most
$$;
COMMENT ON FUNCTION urlmode.tenant_undelivered IS
	'The claims that urlmode.undelivered_of returns to MCP servers, without their owners, the oldest '
	'first; of all tenants (NULL) or of one.';

-- The command of before 1.0.0 calls these.
CREATE OR REPLACE FUNCTION urlmode.list_events(
	provider text DEFAULT NULL, since timestamptz DEFAULT NULL,
	late boolean DEFAULT false, most integer DEFAULT 100
)
RETURNS TABLE (
	received_at timestamptz, provider_name text, type text, action text,
	elicitation uuid, reference text, amount bigint, request text
)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
	SELECT * FROM urlmode.tenant_events(NULL, provider, since, late, most)
$$;
COMMENT ON FUNCTION urlmode.list_events IS 'urlmode.tenant_events of all tenants.';

CREATE OR REPLACE FUNCTION urlmode.list_unclaimed(
	provider text DEFAULT NULL, since timestamptz DEFAULT NULL, most integer DEFAULT 100
)
RETURNS TABLE (
	proven_at timestamptz, provider_name text, elicitation uuid, reference text,
	amount bigint, currency text, matches boolean, late boolean, refunded bigint, held boolean
)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
	SELECT * FROM urlmode.tenant_unclaimed(NULL, provider, since, most)
$$;
COMMENT ON FUNCTION urlmode.list_unclaimed IS 'urlmode.tenant_unclaimed of all tenants.';

CREATE OR REPLACE FUNCTION urlmode.list_undelivered(
	provider text DEFAULT NULL, since timestamptz DEFAULT NULL, most integer DEFAULT 100
)
RETURNS TABLE (
	fulfilled_at timestamptz, provider_name text, kind text, elicitation uuid, reference text,
	amount bigint, currency text, has_result boolean, refunded bigint, held boolean
)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
	SELECT * FROM urlmode.tenant_undelivered(NULL, provider, since, most)
$$;
COMMENT ON FUNCTION urlmode.list_undelivered IS 'urlmode.tenant_undelivered of all tenants.';

-- PL/pgSQL, because unknown_event is created later (015).
CREATE OR REPLACE FUNCTION urlmode.show_key(kid integer, sealed_until timestamptz)
RETURNS TABLE (open bigint, open_until timestamptz, sealed bigint)
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
	RETURN QUERY
	WITH rows AS (
		SELECT urlmode.closes_at(e.kind, CASE e.kind WHEN 'payment' THEN 'processing' ELSE e.status END, e.expires_at, e.grace) AS closes_at
		FROM urlmode.elicitation e
		-- A payment that has ended may be paid late.
		WHERE (e.status <> 'completed' OR e.kind = 'payment')
			AND (e.link_kid = show_key.kid OR e.link_kid IS NULL AND e.created_at <= sealed_until
				-- /connect has minted the state with which the browser returns, or which the page of a form has.
				OR e.kind IN ('oauth', 'input', 'approval') AND e.opened_at <= sealed_until)
	), kept (id, value) AS (
		SELECT e.id::text, v.value FROM urlmode.elicitation e, unnest(ARRAY[e.result::bytea, e.verifier::bytea]) AS v (value)
		UNION ALL
		SELECT f.elicitation::text, v.value
		FROM urlmode.form f, unnest(ARRAY[f.definition::bytea, f.problem::bytea, f.typed::bytea]) AS v (value)
		UNION ALL SELECT p.elicitation::text, p.result::bytea FROM urlmode.payment p
		UNION ALL SELECT r.elicitation::text, r.result::bytea FROM urlmode.kept_result r
		UNION ALL SELECT t.elicitation::text, v.value FROM urlmode.task t, unnest(ARRAY[t.call::bytea, t.result::bytea] || t.answers) AS v (value)
		UNION ALL SELECT coalesce(u.elicitation::text, u.identity), u.result::bytea FROM urlmode.unknown_event u
	)
	SELECT count(*), max(r.closes_at),
		(SELECT count(DISTINCT k.id) FROM kept k WHERE substring(k.value FROM 2 FOR 1) = set_byte('\x00', 0, show_key.kid))
	FROM rows r WHERE r.closes_at > now();
END
$$;
COMMENT ON FUNCTION urlmode.show_key IS
	'What still needs a key of the keys file that sealed until then. open: elicitations for which '
	'a link or a token of this key may still come; open_until: the end of the last one. sealed: '
	'elicitations of which a value is kept that only this key opens. Reads whole tables.';

GRANT EXECUTE ON FUNCTION
	urlmode.list_migrations, urlmode.migration_digests, urlmode.show_elicitation, urlmode.show_payments, urlmode.show_ends, urlmode.show_refunds,
	urlmode.show_decisions, urlmode.decide_payment, urlmode.refund_payment, urlmode.show_state, urlmode.decide_shown,
	urlmode.show_events, urlmode.list_events,
	urlmode.list_unclaimed, urlmode.list_undelivered, urlmode.list_paid, urlmode.known_elicitations,
	urlmode.reconcile_refunds, urlmode.show_key, urlmode.tenant_of, urlmode.tenant_events, urlmode.tenant_unclaimed, urlmode.tenant_undelivered
TO :"operator";
GRANT EXECUTE ON FUNCTION urlmode.list_migrations, urlmode.migration_digests TO :"server";
