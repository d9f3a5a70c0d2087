-- Payments with two names: an invoice that was paid, and the payment with which it was paid.
-- Refunds and disputes of some providers name the other one than the event that proves the
-- payment. An event of its own says that both are the same (effect named).
--
-- What goes back under the other name is recorded as if it had named the payment. The events
-- come in any order: what has come under the other name before is moved.

CREATE OR REPLACE FUNCTION urlmode.name_payment(provider text, name text, reference text) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
	owner uuid;
BEGIN
	PERFORM urlmode.lock_references(ARRAY[name, reference]);
	-- It is known by that name itself.
	IF name = reference OR EXISTS (
		SELECT FROM urlmode.payment p WHERE p.provider = name_payment.provider AND p.reference = name_payment.name
	) THEN
		RETURN;
	END IF;
	INSERT INTO urlmode.payment_name AS n (provider, name, reference)
	VALUES (name_payment.provider, name_payment.name, name_payment.reference)
	ON CONFLICT ON CONSTRAINT payment_name_pkey DO UPDATE SET reference = EXCLUDED.reference
	WHERE n.reference <> EXCLUDED.reference;
	PERFORM urlmode.rename_payment(provider, name, reference);
	UPDATE urlmode.unknown_event u SET reference = name_payment.reference
	WHERE u.provider = name_payment.provider AND u.reference = name_payment.name AND u.effect = ANY (urlmode.refund_effects());
	SELECT p.elicitation INTO owner FROM urlmode.payment p
	WHERE p.provider = name_payment.provider AND p.reference = name_payment.reference;
	IF FOUND THEN
		UPDATE urlmode.refund r SET elicitations = r.elicitations || owner
		WHERE r.provider = name_payment.provider AND r.payment = name_payment.reference AND NOT r.elicitations @> ARRAY[owner];
		PERFORM urlmode.apply_refunds(ARRAY[owner]);
		PERFORM urlmode.claim_unmatched(NULL, ARRAY[provider], ARRAY[reference]);
	END IF;
END
$$;
COMMENT ON FUNCTION urlmode.name_payment IS
	'Internal. From now on `name` is this payment as well, in refunds and disputes, also in those '
	'that came before.';

CREATE OR REPLACE FUNCTION urlmode.real_names(providers text[], effects text[], refs text[]) RETURNS text[]
LANGUAGE sql STABLE AS $$
	SELECT array_agg(CASE WHEN u.effect = ANY (urlmode.refund_effects()) THEN coalesce((
			SELECT n.reference::text FROM urlmode.payment_name n WHERE n.provider = u.provider AND n.name = u.ref
		), u.ref) ELSE u.ref END ORDER BY u.n)
	FROM unnest(providers, effects, refs) WITH ORDINALITY AS u (provider, effect, ref, n)
$$;
COMMENT ON FUNCTION urlmode.real_names IS
	'Internal. refs, with the reference of the payment where what went back has its other name.';

CREATE OR REPLACE FUNCTION urlmode.receive_names(
	ids uuid[], providers text[], identities text[], types text[], effects text[],
	amounts bigint[], currencies text[], refs text[], results bytea[], outcomes bytea[], refunds text[], checkouts text[],
	requests text[], kinds text[], details jsonb[]
)
RETURNS TABLE (outcome text, mismatch text, elicitation uuid)
LANGUAGE plpgsql AS $$
DECLARE
	is_name CONSTANT boolean[] := ARRAY(SELECT u.effect = 'named' FROM unnest(effects) WITH ORDINALITY AS u (effect, n) ORDER BY u.n);
	n integer := 0;
	row record;
BEGIN
	-- In the order of their names, so that two batches never wait for each other.
	PERFORM urlmode.name_payment(u.provider, u.detail ->> 'also', u.ref)
	FROM (
		SELECT a.provider, a.detail, a.ref FROM unnest(providers, effects, refs, details) AS a (provider, effect, ref, detail)
		WHERE a.effect = 'named' AND a.ref <> '' AND coalesce(a.detail ->> 'also', '') <> ''
		ORDER BY a.provider, a.detail ->> 'also'
	) u;
	FOR row IN
		SELECT r.* FROM urlmode.receive_events(
			ARRAY(SELECT CASE WHEN NOT u.named THEN u.id END FROM unnest(ids, is_name) WITH ORDINALITY AS u (id, named, n) ORDER BY u.n),
			providers, identities, types,
			ARRAY(SELECT CASE WHEN u.named THEN 'ignore' ELSE u.effect END FROM unnest(effects, is_name) WITH ORDINALITY AS u (effect, named, n) ORDER BY u.n),
			amounts, currencies,
			ARRAY(SELECT CASE WHEN NOT u.named THEN u.ref END FROM unnest(refs, is_name) WITH ORDINALITY AS u (ref, named, n) ORDER BY u.n),
			results, outcomes, refunds, checkouts, requests, kinds, details
		) r
	LOOP
		n := n + 1;
		outcome := CASE WHEN is_name[n] THEN 'named' ELSE row.outcome END;
		mismatch := row.mismatch;
		elicitation := row.elicitation;
		RETURN NEXT;
	END LOOP;
END
$$;
COMMENT ON FUNCTION urlmode.receive_names IS
	'Internal. receive_events for a batch in which an event gives a payment another name. Those '
	'move no elicitation; their outcome is named.';

CREATE OR REPLACE FUNCTION urlmode.purge_names(batch integer) RETURNS bigint
LANGUAGE plpgsql AS $$
DECLARE
	taken bigint;
BEGIN
	WITH old AS MATERIALIZED (
		SELECT n.provider, n.name, EXISTS (
			SELECT FROM urlmode.payment p WHERE p.provider = n.provider AND p.reference = n.reference
		) AS is_known
		FROM urlmode.payment_name n
		WHERE n.told_at <= now() - interval '30 days' AND NOT n.is_kept
		ORDER BY n.told_at LIMIT batch FOR UPDATE SKIP LOCKED
	), kept AS (
		UPDATE urlmode.payment_name n SET is_kept = true FROM old o WHERE o.is_known AND n.provider = o.provider AND n.name = o.name
	), deleted AS (
		DELETE FROM urlmode.payment_name n USING old o WHERE NOT o.is_known AND n.provider = o.provider AND n.name = o.name
	)
	SELECT count(*) INTO taken FROM old;
	RETURN taken;
END
$$;
COMMENT ON FUNCTION urlmode.purge_names IS
	'Internal. Deletes the names of payments that are still not known after thirty days. Returns '
	'how many it has looked at, at most `batch`.';
