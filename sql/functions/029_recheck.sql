-- A recheck: an event proves nothing, so the MCP server asks the provider's API, and says
-- what there is: payments, whether they match or not, and what went back of them.
--
--   begin_recheck   one instance at a time asks, for the time of its lease. begin_recheck_of
--                   begins one about which nobody waits and no call claims: a refund after
--                   the delivery, say
--   answer_recheck  ends it with payments and refunds. They take the way of signed events
--                   (receive_events), so that nothing is decided twice
--   end_recheck     ends it because it has failed, or because its answer was one outcome,
--                   which settle has recorded (009_wait)
--
-- Each entry of an answer names the elicitation or its checkout, from the provider's own
-- record: a payment that is recorded here for a stranger is lost to its owner.

CREATE OR REPLACE FUNCTION urlmode.is_recheck_due(elicitation uuid, max_age_ms bigint) RETURNS boolean
LANGUAGE plpgsql STABLE AS $$
BEGIN
	RETURN EXISTS (
		SELECT FROM urlmode.recheck r
		WHERE r.elicitation = is_recheck_due.elicitation AND (r.rechecks > r.rechecked OR max_age_ms IS NOT NULL
			AND coalesce(r.answered_at, '-infinity') <= now() - max_age_ms * interval '1 millisecond')
	);
END
$$;
COMMENT ON FUNCTION urlmode.is_recheck_due IS
	'Internal. Whether an event has asked for a recheck that nobody has answered, or whether the '
	'last answer is older than max_age_ms milliseconds. Never, where no event has ever asked.';

CREATE OR REPLACE FUNCTION urlmode.recheck_leased_ms(elicitation uuid) RETURNS bigint
LANGUAGE sql STABLE AS $$
	SELECT greatest(0, ceil(extract(epoch FROM r.recheck_at - now()) * 1000))::bigint
	FROM urlmode.recheck r WHERE r.elicitation = recheck_leased_ms.elicitation
$$;
COMMENT ON FUNCTION urlmode.recheck_leased_ms IS
	'Internal. For how many milliseconds nobody else can begin a recheck, because an instance asks, '
	'or the last one has failed just now. NULL or 0: anybody can.';

CREATE OR REPLACE FUNCTION urlmode.begin_recheck(id uuid, binding bytea, lease_ms bigint, max_age_ms bigint DEFAULT NULL)
RETURNS TABLE (
	lease integer, rechecks integer, event_type text, unproven_references text[], provider text, expected jsonb, checkout text
)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
	SELECT e.provider, e.expected, e.checkout INTO provider, expected, checkout FROM urlmode.elicitation e
	WHERE e.id = begin_recheck.id AND e.binding = begin_recheck.binding
		AND (e.status <> 'completed' OR e.kind = 'payment')
	FOR NO KEY UPDATE;
	IF FOUND AND urlmode.is_recheck_due(id, max_age_ms) THEN
		UPDATE urlmode.recheck r
		SET recheck_at = now() + lease_ms * interval '1 millisecond', recheck_lease = r.recheck_lease + 1
		WHERE r.elicitation = begin_recheck.id AND (r.recheck_at IS NULL OR r.recheck_at <= now())
		RETURNING r.recheck_lease, r.rechecks, r.event_type, r.unproven_references
		INTO lease, rechecks, event_type, unproven_references;
		IF FOUND THEN
			RETURN NEXT;
		END IF;
	END IF;
END
$$;
COMMENT ON FUNCTION urlmode.begin_recheck IS
	'Begins a recheck: for lease_ms milliseconds nobody else can. lease: for answer_recheck or '
	'end_recheck. max_age_ms: before a claim; also without an event that was not answered, if the '
	'last answer is older. No row: there is nothing to recheck, another instance is rechecking, or '
	'the last one has failed just now. A payment that has ended is rechecked as well: it may have '
	'been paid late, or have gone back.';

CREATE OR REPLACE FUNCTION urlmode.begin_recheck_of(tenant text, providers jsonb, lease_ms bigint)
RETURNS TABLE (
	id uuid, binding bytea, lease integer, rechecks integer, event_type text, unproven_references text[], provider text,
	expected jsonb, checkout text
)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
	due record;
BEGIN
	FOR due IN
		SELECT e.id, e.binding FROM urlmode.recheck r JOIN urlmode.elicitation e ON e.id = r.elicitation
		WHERE r.rechecks > r.rechecked AND (r.recheck_at IS NULL OR r.recheck_at <= now())
			AND e.tenant = begin_recheck_of.tenant AND providers ? e.provider::text AND (e.status <> 'completed' OR e.kind = 'payment')
		ORDER BY r.recheck_at NULLS FIRST, r.elicitation
	LOOP
		-- Another instance may have begun it since.
		RETURN QUERY
		SELECT due.id, due.binding::bytea, b.* FROM urlmode.begin_recheck(due.id, due.binding, lease_ms) b;
		EXIT WHEN FOUND;
	END LOOP;
END
$$;
COMMENT ON FUNCTION urlmode.begin_recheck_of IS
	'Begins a recheck that an event of one of these providers (an array of names) asks for, of an '
	'elicitation of this tenant, and that nobody has answered or is at: for servers that ask also where nobody waits and no call '
	'claims. First those that were never begun, then what was begun or has failed longest ago. As '
	'begin_recheck returns it, with id and binding, for answer_recheck, settle and end_recheck. No '
	'row: there is none.';

CREATE OR REPLACE FUNCTION urlmode.begin_due_recheck(providers jsonb, lease_ms bigint)
RETURNS TABLE (
	id uuid, binding bytea, lease integer, rechecks integer, event_type text, unproven_references text[], provider text,
	expected jsonb, checkout text
)
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
	SELECT * FROM urlmode.begin_recheck_of('', providers, lease_ms)
$$;
COMMENT ON FUNCTION urlmode.begin_due_recheck IS
	'begin_recheck_of, of what has no tenant, as older packages call it.';

CREATE OR REPLACE FUNCTION urlmode.take_recheck(id uuid, binding bytea, lease_ms bigint)
RETURNS TABLE (lease integer, rechecks integer, event_type text, unproven_references text[], expected jsonb)
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
	SELECT b.lease, b.rechecks, b.event_type, b.unproven_references, b.expected
	FROM urlmode.begin_recheck(id, binding, lease_ms) b
$$;
COMMENT ON FUNCTION urlmode.take_recheck IS
	'As begin_recheck, for packages of before.';

CREATE OR REPLACE FUNCTION urlmode.max_entries() RETURNS integer
LANGUAGE sql IMMUTABLE AS $$
	SELECT 100
$$;
COMMENT ON FUNCTION urlmode.max_entries IS
	'Internal. How many payments, and how many refunds, an answer of a recheck has at most.';

CREATE OR REPLACE FUNCTION urlmode.check_entries(name text, entries jsonb, is_refund boolean, is_sealed boolean, most integer) RETURNS void
LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
	this record;
BEGIN
	IF jsonb_typeof(entries) IS DISTINCT FROM 'array' OR jsonb_array_length(entries) > most THEN
		RAISE invalid_parameter_value USING MESSAGE = format('%s must be an array of at most %s entries', name, most);
	END IF;
	FOR this IN
		SELECT x.n - 1 AS n, x.entry, (
			SELECT m.member FROM (VALUES
				('reference', jsonb_typeof(x.entry -> 'reference') = 'string' AND octet_length(x.entry ->> 'reference') BETWEEN 1 AND 800),
				('payment', NOT is_refund
					OR jsonb_typeof(x.entry -> 'payment') = 'string' AND octet_length(x.entry ->> 'payment') BETWEEN 1 AND 800),
				('amount', jsonb_typeof(x.entry -> 'amount') = 'number' AND x.entry ->> 'amount' ~ '^[0-9]{1,16}$'),
				('currency', is_refund AND coalesce(jsonb_typeof(x.entry -> 'currency'), 'null') = 'null'
					OR jsonb_typeof(x.entry -> 'currency') = 'string' AND x.entry ->> 'currency' ~ '^[A-Z]{3}$'),
				('status', x.entry -> 'status' <@ '["paid", "processing", "failed", "cancelled"]'),
				('result', NOT is_sealed
					OR jsonb_typeof(x.entry -> 'result') = 'string' AND x.entry ->> 'result' ~ '^([A-Za-z0-9+/]{4})*([A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$'),
				('elicitation_id', coalesce(jsonb_typeof(x.entry -> 'elicitation_id'), 'null') = 'null'
					OR jsonb_typeof(x.entry -> 'elicitation_id') = 'string'),
				('checkout', coalesce(jsonb_typeof(x.entry -> 'checkout'), 'null') = 'null'
					OR jsonb_typeof(x.entry -> 'checkout') = 'string' AND octet_length(x.entry ->> 'checkout') BETWEEN 1 AND 800)
			) AS m (member, is_good) WHERE m.is_good IS NOT TRUE LIMIT 1
		) AS wrong
		FROM jsonb_array_elements(entries) WITH ORDINALITY AS x (entry, n)
	LOOP
		IF jsonb_typeof(this.entry) <> 'object' OR this.wrong IS NOT NULL THEN
			RAISE invalid_parameter_value USING MESSAGE = format('%s[%s]%s is not valid', name, this.n, '.' || this.wrong);
		END IF;
	END LOOP;
END
$$;
COMMENT ON FUNCTION urlmode.check_entries IS
	'Internal. Refuses an answer with another form, and names the member. is_refund: the entries '
	'are what went back. is_sealed: each has a result.';

CREATE OR REPLACE FUNCTION urlmode.name_return(payment text) RETURNS text
LANGUAGE sql STABLE AS $$
	-- A reference has up to 200 characters, and two long ones may differ in the last.
	SELECT 'failed ' || CASE WHEN length(payment) <= 190 THEN payment ELSE encode(sha256(convert_to(payment, 'UTF8')), 'hex') END
$$;
COMMENT ON FUNCTION urlmode.name_return IS
	'Internal. The reference of what went back because a payment that was paid is not paid any more.';

CREATE OR REPLACE FUNCTION urlmode.read_entries(e urlmode.elicitation, payments jsonb, refunds jsonb)
RETURNS TABLE (
	n bigint, type text, is_ours boolean, effect text, amount bigint, currency text, reference text, refund text,
	checkout text, result bytea, identity text
)
LANGUAGE sql STABLE AS $$
	WITH given AS (
		SELECT p.n, p.entry, false AS is_refund FROM jsonb_array_elements(payments) WITH ORDINALITY AS p (entry, n)
		UNION ALL
		SELECT jsonb_array_length(payments) + r.n, r.entry, true FROM jsonb_array_elements(refunds) WITH ORDINALITY AS r (entry, n)
	), named AS (
		SELECT g.n, g.entry, g.is_refund, g.entry ->> 'status' AS status,
			g.entry ->> CASE WHEN g.is_refund THEN 'payment' ELSE 'reference' END AS payment,
			-- true: it names this one; false: another one.
			CASE WHEN lower(g.entry ->> 'elicitation_id') <> e.id::text OR g.entry ->> 'checkout' <> e.checkout THEN false
				WHEN g.entry ->> 'elicitation_id' IS NOT NULL OR g.entry ->> 'checkout' = e.checkout THEN true
				-- The elicitation has no checkout, so this one is of something else.
				WHEN g.entry ->> 'checkout' IS NOT NULL THEN false
			END AS is_named
		FROM given g
	), ours AS (
		SELECT x.*, CASE WHEN x.is_named IS NOT NULL OR NOT x.is_refund THEN coalesce(x.is_named, false)
				-- What went back names its payment, and that names the elicitation.
				ELSE EXISTS (SELECT FROM named y WHERE NOT y.is_refund AND y.is_named AND y.payment = x.payment)
					OR EXISTS (SELECT FROM urlmode.payment p WHERE p.provider = e.provider AND p.elicitation = e.id AND p.reference = x.payment)
			END AND NOT (x.is_refund AND EXISTS (
				SELECT FROM urlmode.payment p WHERE p.provider = e.provider AND p.elicitation <> e.id AND p.reference = x.payment
			)) AND NOT urlmode.is_others(e.provider, e.tenant) AS is_ours,
			-- What was paid before: the money of a bank debit may still return.
			CASE WHEN NOT x.is_refund AND EXISTS (
				SELECT FROM urlmode.payment p WHERE p.provider = e.provider AND p.elicitation = e.id AND p.reference = x.payment
			) THEN urlmode.name_return(x.payment) END AS its_return
		FROM named x
	), told AS (
		SELECT o.*, CASE WHEN o.is_refund THEN CASE WHEN o.status IN ('paid', 'processing') THEN 'refunded' ELSE 'refund_reversed' END
				WHEN o.status = 'paid' AND EXISTS (
					SELECT FROM urlmode.refund r WHERE r.provider = e.provider AND r.reference = o.its_return AND r.reversed_at IS NULL
				) THEN 'refund_reversed'
				WHEN o.status IN ('paid', 'processing') THEN o.status
				WHEN o.its_return IS NOT NULL THEN 'refunded'
				-- Another payment goes on, so this one was an attempt.
				WHEN bool_or(o.is_ours AND NOT o.is_refund AND o.status IN ('paid', 'processing')) OVER () THEN 'attempt_failed'
				ELSE o.status END AS effect
		FROM ours o
	), read AS (
		SELECT t.*, CASE WHEN NOT t.is_refund AND t.effect = ANY (urlmode.refund_effects()) THEN t.effect END AS moves FROM told t
	)
	SELECT r.n, concat_ws(' ', 'recheck', CASE WHEN r.is_refund THEN 'refund' END, r.status), r.is_ours, r.effect,
		-- All of it.
		CASE WHEN r.moves IS NULL THEN (r.entry ->> 'amount')::bigint END, CASE WHEN r.moves IS NULL THEN r.entry ->> 'currency' END, r.payment,
		CASE WHEN r.is_refund THEN r.entry ->> 'reference' WHEN r.moves IS NOT NULL THEN r.its_return END,
		CASE WHEN NOT r.is_refund THEN coalesce(e.checkout, r.entry ->> 'checkout') END,
		CASE WHEN NOT r.is_refund THEN decode(r.entry ->> 'result', 'base64') END,
		'recheck:' || encode(sha256(convert_to(concat_ws(' ', e.id, r.is_refund, r.status, r.entry ->> 'amount', r.entry ->> 'currency',
			r.entry ->> 'reference', r.payment, r.moves), 'UTF8')), 'hex')
	FROM read r
	ORDER BY r.n
$$;
COMMENT ON FUNCTION urlmode.read_entries IS
	'Internal. The events that an answer stands for: payments, then what went back of them. A '
	'refund that is still under way counts as one that is done, and one that failed or was '
	'cancelled has come again. A payment that was recorded as paid, and has failed or was cancelled, went '
	'back, and has come again when it is paid again. is_ours: whether the entry names this elicitation or its checkout, '
	'and no other one; or, where a refund names neither, whether its payment does. Nothing is, where '
	'the provider is another tenant''s. identity: the '
	'same entry is one event.';

CREATE OR REPLACE FUNCTION urlmode.answer_recheck(
	id uuid, binding bytea, lease integer, rechecks integer, payments jsonb, refunds jsonb
)
RETURNS TABLE (outcome text, mismatch text)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
	row urlmode.elicitation;
	events record;
	outcomes text[];
	mismatches text[];
BEGIN
	PERFORM urlmode.check_entries('payments', payments, false, true, urlmode.max_entries());
	PERFORM urlmode.check_entries('refunds', refunds, true, false, urlmode.max_entries());
	PERFORM urlmode.lock_references(ARRAY(
		SELECT x ->> 'reference' FROM jsonb_array_elements(payments) AS x UNION ALL SELECT x ->> 'payment' FROM jsonb_array_elements(refunds) AS x
	));
	SELECT * INTO row FROM urlmode.elicitation e
	WHERE e.id = answer_recheck.id AND e.binding = answer_recheck.binding FOR NO KEY UPDATE;
	IF NOT FOUND THEN
		RETURN;
	END IF;
	-- One that is there twice is one event, also if only the second one names it. What is paid counts before what has failed.
	SELECT array_agg(x.n) AS ns, array_agg(x.type) AS types, array_agg(x.effect) AS effects, array_agg(x.amount) AS amounts,
		array_agg(x.currency) AS currencies, array_agg(x.reference) AS refs, array_agg(x.refund) AS refunds,
		array_agg(x.checkout) AS checkouts, array_agg(x.result) AS results, array_agg(x.identity) AS identities, count(*)::integer AS number
	INTO events
	FROM (
		SELECT y.* FROM (
			SELECT z.*, row_number() OVER (PARTITION BY z.identity, z.is_ours ORDER BY z.n) AS time FROM urlmode.read_entries(row, payments, refunds) z
		) y
		WHERE y.is_ours AND y.time = 1 ORDER BY y.effect NOT IN ('paid', 'processing'), y.n
	) x;
	IF events.number > 0 THEN
		FOR turn IN 1 .. 50 LOOP
			BEGIN
				SELECT array_agg(r.outcome ORDER BY r.n), array_agg(r.mismatch ORDER BY r.n) INTO outcomes, mismatches
				FROM ROWS FROM (urlmode.receive_events(
					ids => array_fill(row.id, ARRAY[events.number]), providers => array_fill(row.provider::text, ARRAY[events.number]),
					identities => events.identities, types => events.types, effects => events.effects, amounts => events.amounts,
					currencies => events.currencies, refs => events.refs, results => events.results,
					refunds => events.refunds, checkouts => events.checkouts,
					-- The server knows what it asked for, as where it settles: it is all of a checkout, and of a subscription.
					details => array_fill('{"checkout_paid": true, "of_subscription": true}'::jsonb, ARRAY[events.number])
				)) WITH ORDINALITY AS r (outcome, mismatch, elicitation, n);
				EXIT;
			EXCEPTION WHEN lock_not_available OR serialization_failure THEN
				-- It gives up soon, so that a provider is answered in time. The server has more time.
				IF turn = 50 THEN
					RAISE;
				END IF;
			END;
		END LOOP;
	END IF;
	PERFORM urlmode.end_recheck(id, binding, lease, rechecks, false);
	RETURN QUERY
	SELECT coalesce(outcomes[array_position(events.ns, x.n)], CASE WHEN x.is_ours THEN 'seen' ELSE 'foreign' END),
		mismatches[array_position(events.ns, x.n)]
	FROM urlmode.read_entries(row, payments, refunds) x ORDER BY x.n;
END
$$;
COMMENT ON FUNCTION urlmode.answer_recheck IS
	'Ends a recheck with what the provider has: payments, objects with reference, amount (in minor '
	'units), currency, status (paid, processing, failed, cancelled), result (sealed, in base64), '
	'elicitation_id and checkout; and refunds, with reference, payment, amount, currency or not, '
	'status, and the last two. They take the way of signed events (receive_events): what '
	'is paid is a payment whether it matches or not, failed and cancelled end the elicitation as '
	'an event does, but where another payment of the answer goes on, it was an attempt, and where this one was recorded as paid, it '
	'went back. A refund '
	'that is under way counts; one that failed or was cancelled has come again. outcome, for each '
	'payment and then for each refund: as receive_events returns it; seen: it was recorded before; '
	'foreign: it names neither this elicitation nor its checkout, or another one, and was not '
	'recorded. No row: there is no such elicitation. A form that is not valid is an '
	'invalid_parameter_value that names the member.';

GRANT EXECUTE ON FUNCTION urlmode.begin_recheck, urlmode.begin_recheck_of, urlmode.begin_due_recheck, urlmode.take_recheck, urlmode.answer_recheck TO :"server";
