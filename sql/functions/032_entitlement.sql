-- Subscriptions become entitlements: what a user has paid for, and may use until a time.
--
-- A payment that was asked for with `subscription: true` in `expected` opens one for its
-- (tenant, subject, item), and is claimed by it, as is each renewal: so no call and no list
-- of unclaimed payments is offered them. All else is what the provider's signed events say
-- of the subscription. There is one row for each subscription, by (provider, account, id):
--
--   receive_subscriptions  events that name a subscription: first what they are without
--                          it (008_event), then
--   keep_subscription      writes down what one event says: of each fact what the provider
--                          has said last, by its own time. So events come in any order,
--                          and again
--   open_entitlements      a first payment was proved (003_payment): the row gets its
--                          owner, or is made where no event has named the subscription yet
--   entitlement_status     what a call is told, from the row, the clock, and the last
--                          payment
--   entitlements           the same for a user: the best of each item
--   is_subscribed          whether there is one that is not over: then create_elicitation
--                          (006_create) and open (007_callback) ask for no second one
--
--   status       means                                until
--   trialing     may use it, nothing was charged yet  the end of the trial
--   active       may use it                           the end of the period, and then for
--                                                     the time in which a renewal is late
--   cancelled    may use it, and it is not renewed    the end of what was paid
--   past_due     may not, a renewal was not paid      the provider gives up, or it is paid
--   ended        may not: it is over, or paused, or
--                its last payment went back
--
-- An event that comes before the first payment makes a row that is nobody's. Also foreign
-- subscriptions have events, so that such rows are kept for thirty days, and at most
-- urlmode.max_unknown() of a provider. Those that name neither an elicitation nor the payment
-- go first.

CREATE OR REPLACE FUNCTION urlmode.is_of_subscription(expected jsonb) RETURNS boolean
LANGUAGE sql IMMUTABLE AS $$
	SELECT coalesce(expected -> 'subscription' = 'true', false)
$$;
COMMENT ON FUNCTION urlmode.is_of_subscription IS
	'Internal. Whether a payment that is expected must be the first one of a subscription.';

CREATE OR REPLACE FUNCTION urlmode.status_rank(status text) RETURNS integer
LANGUAGE sql IMMUTABLE AS $$
	SELECT array_position('{trialing,past_due,active,cancelled,paused,ended}'::text[], status)
$$;
COMMENT ON FUNCTION urlmode.status_rank IS
	'Internal. Of two statuses that a provider has said at the same time, the greater counts.';

-- In PL/pgSQL, which keeps its plan: each call of a tool that requires a subscription asks this.
CREATE OR REPLACE FUNCTION urlmode.is_last_back(entitlement uuid) RETURNS boolean
LANGUAGE plpgsql STABLE AS $$
BEGIN
	RETURN (
		SELECT p.refunded_at IS NOT NULL FROM urlmode.payment p
		WHERE p.entitlement = is_last_back.entitlement AND p.amount > 0 AND NOT p.extra
		ORDER BY p.paid_at DESC NULLS LAST, p.reference DESC LIMIT 1
	);
END
$$;
COMMENT ON FUNCTION urlmode.is_last_back IS
	'Internal. Whether what was paid last for a subscription has gone back: a refund, or a dispute.';

-- These are STABLE, as now(), and have no subquery: otherwise PostgreSQL would not inline them, and plan each in each call.
CREATE OR REPLACE FUNCTION urlmode.has_ended(e urlmode.entitlement) RETURNS boolean
LANGUAGE sql STABLE AS $$
	SELECT coalesce(e.status = 'ended' OR e.cancel_at <= now()
		OR e.status = 'cancelled' AND coalesce(e.cancel_at, e.until, e.trial_until, e.opened_at) <= now(), false)
$$;
COMMENT ON FUNCTION urlmode.has_ended IS
	'Internal. Whether a subscription is over, and cannot be resumed.';

CREATE OR REPLACE FUNCTION urlmode.is_paused(e urlmode.entitlement) RETURNS boolean
LANGUAGE sql STABLE AS $$
	SELECT (e.paused OR e.status IS NOT DISTINCT FROM 'paused') AND NOT urlmode.has_ended(e)
$$;
COMMENT ON FUNCTION urlmode.is_paused IS
	'Internal. Whether a subscription has ended until it is resumed.';

CREATE OR REPLACE FUNCTION urlmode.entitlement_status(e urlmode.entitlement) RETURNS text
LANGUAGE sql STABLE AS $$
	SELECT CASE
		WHEN urlmode.has_ended(e) OR e.status = 'paused' OR e.paused OR urlmode.is_last_back(e.id) THEN 'ended'
		WHEN e.status = 'past_due' THEN 'past_due'
		-- One that ends later than what is paid is renewed until then.
		WHEN e.status = 'cancelled' OR e.cancel_at <= coalesce(e.until, e.cancel_at) + e.late THEN 'cancelled'
		WHEN coalesce(e.until, e.trial_until, e.opened_at) + e.late <= now() THEN 'past_due'
		WHEN e.status = 'trialing' OR e.status IS NULL AND e.trial_until > now() THEN 'trialing'
		ELSE 'active'
	END
$$;
COMMENT ON FUNCTION urlmode.entitlement_status IS
	'Internal. What a call is told of a subscription: trialing, active, cancelled, past_due or '
	'ended.';

CREATE OR REPLACE FUNCTION urlmode.is_subscribed(tenant text, subject text, item text) RETURNS boolean
LANGUAGE sql STABLE AS $$
	SELECT EXISTS (
		SELECT FROM urlmode.entitlement e
		WHERE e.subject = is_subscribed.subject AND e.tenant = is_subscribed.tenant AND e.item = is_subscribed.item
			AND (urlmode.entitlement_status(e) <> 'ended' OR urlmode.is_paused(e))
	)
$$;
COMMENT ON FUNCTION urlmode.is_subscribed IS
	'Internal. Whether a user has a subscription for an item that is not over: also one that is '
	'past_due or paused, which can be settled. Nobody is asked for a second one.';

CREATE OR REPLACE FUNCTION urlmode.keep_renewal(entitlement uuid, provider text, renewal text, told jsonb) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
	its_time timestamptz := to_timestamp((told ->> 'at_ms')::numeric / 1000);
BEGIN
	-- The event that tells of it may have come long before, and its batch does not name it.
	PERFORM urlmode.lock_references(ARRAY[renewal]);
	-- Several events tell of one, in any order: the first of them, by the provider's time, is when it was paid.
	UPDATE urlmode.payment p SET paid_at = its_time
	WHERE p.provider = keep_renewal.provider AND p.reference = renewal AND p.entitlement = keep_renewal.entitlement AND p.paid_at > its_time;
	-- It may be the first payment, told again.
	IF EXISTS (
		SELECT FROM urlmode.payment p WHERE p.provider = keep_renewal.provider AND renewal IN (p.reference, p.checkout)
	) THEN
		RETURN;
	END IF;
	PERFORM urlmode.prove_payments(ARRAY[e.id], ARRAY[keep_renewal.provider], ARRAY[renewal], ARRAY[(told ->> 'amount')::bigint],
		ARRAY[told ->> 'currency'], ARRAY[true], ARRAY[false], ARRAY[NULL::bytea],
		subjects => ARRAY[e.subject::text], items => ARRAY[e.item::text], tenants => ARRAY[e.tenant::text])
	FROM urlmode.entitlement e WHERE e.id = keep_renewal.entitlement;
	UPDATE urlmode.payment p
	SET entitlement = keep_renewal.entitlement, claimed_at = coalesce(p.claimed_at, now()), paid_at = its_time,
		extra = coalesce((told ->> 'extra')::boolean, false)
	WHERE p.provider = keep_renewal.provider AND p.reference = renewal;
	PERFORM urlmode.claim_unmatched(NULL, ARRAY[provider], ARRAY[renewal]);
END
$$;
COMMENT ON FUNCTION urlmode.keep_renewal IS
	'Internal. Writes down a renewal: a payment of the subscription, and of no elicitation. told: '
	'its amount, currency and time (at_ms), and whether it was charged beside the periods (extra).';

CREATE OR REPLACE FUNCTION urlmode.take_waiting(id uuid) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
	this record;
	renewal record;
BEGIN
	SELECT e.provider, e.waiting INTO this FROM urlmode.entitlement e WHERE e.id = take_waiting.id AND e.waiting <> '{}';
	IF FOUND THEN
		UPDATE urlmode.entitlement e SET waiting = '{}' WHERE e.id = take_waiting.id;
		FOR renewal IN SELECT w.key, w.value FROM jsonb_each(this.waiting) w ORDER BY w.key LOOP
			PERFORM urlmode.keep_renewal(take_waiting.id, this.provider, renewal.key, renewal.value);
		END LOOP;
	END IF;
END
$$;
COMMENT ON FUNCTION urlmode.take_waiting IS
	'Internal. Writes down the renewals that were told before the first payment was proved.';

CREATE OR REPLACE FUNCTION urlmode.open_entitlements(ids uuid[]) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
	this record;
	opened uuid;
BEGIN
	FOR this IN
		SELECT p.provider, p.reference, p.checkout, e.id, e.tenant, e.subject, e.item
		FROM urlmode.elicitation e JOIN urlmode.payment p ON p.elicitation = e.id AND p.provider = e.provider
		WHERE e.id = ANY (ids) AND urlmode.is_of_subscription(e.expected) AND p.matches AND p.entitlement IS NULL
		ORDER BY p.provider, p.reference
	LOOP
		UPDATE urlmode.entitlement e
		SET elicitation = this.id, tenant = this.tenant, subject = this.subject, item = this.item, opened_at = now()
		WHERE e.id = (
			SELECT x.id FROM urlmode.entitlement x
			WHERE x.provider = this.provider AND x.first_payment IN (this.reference, this.checkout) AND x.subject IS NULL
			ORDER BY x.id LIMIT 1 FOR UPDATE
		)
		RETURNING e.id INTO opened;
		IF NOT FOUND THEN
			INSERT INTO urlmode.entitlement (provider, first_payment, elicitation, tenant, subject, item, opened_at)
			VALUES (this.provider, this.reference, this.id, this.tenant, this.subject, this.item, now())
			RETURNING id INTO opened;
		END IF;
		UPDATE urlmode.payment p SET entitlement = opened, claimed_at = coalesce(p.claimed_at, now())
		WHERE p.provider = this.provider AND p.reference = this.reference;
		INSERT INTO urlmode.purge_queue (ids) VALUES (ARRAY[this.id]);
		PERFORM urlmode.take_waiting(opened);
	END LOOP;
END
$$;
COMMENT ON FUNCTION urlmode.open_entitlements IS
	'Internal. Opens the entitlements of those of these elicitations whose first payment was '
	'proved, and claims the payments for them. Their results are purged a day later.';

CREATE OR REPLACE FUNCTION urlmode.find_subscription(
	provider text, account text, subscription text, first_payment text, elicitation uuid
)
RETURNS uuid
LANGUAGE plpgsql AS $$
DECLARE
	named urlmode.entitlement;
	paid urlmode.entitlement;
	made uuid;
BEGIN
	SELECT * INTO named FROM urlmode.entitlement e
	WHERE e.provider = find_subscription.provider AND e.account = find_subscription.account
		AND e.subscription = find_subscription.subscription
	FOR UPDATE;
	IF first_payment IS NOT NULL THEN
		-- One that its first payment has opened, before an event has named it.
		SELECT e.* INTO paid FROM urlmode.entitlement e
		WHERE e.subscription IS NULL AND e.id = ANY (ARRAY(
			SELECT x.id FROM urlmode.entitlement x
			WHERE x.provider = find_subscription.provider AND x.first_payment = find_subscription.first_payment
			UNION ALL
			SELECT p.entitlement FROM urlmode.payment p
			WHERE p.provider = find_subscription.provider AND p.reference = find_subscription.first_payment
			UNION ALL
			SELECT p.entitlement FROM urlmode.payment p
			WHERE p.provider = find_subscription.provider AND p.checkout = find_subscription.first_payment
		))
		ORDER BY e.id LIMIT 1 FOR UPDATE;
	END IF;
	IF paid.id IS NOT NULL AND named.id IS NULL THEN
		UPDATE urlmode.entitlement e SET account = find_subscription.account, subscription = find_subscription.subscription
		WHERE e.id = paid.id;
		RETURN paid.id;
	-- One of another user stays what it is.
	ELSIF (paid.tenant, paid.subject, paid.item) = (coalesce(named.tenant, paid.tenant), coalesce(named.subject, paid.subject), coalesce(named.item, paid.item)) THEN
		DELETE FROM urlmode.entitlement e WHERE e.id = paid.id;
		UPDATE urlmode.payment p SET entitlement = named.id WHERE p.entitlement = paid.id;
		UPDATE urlmode.entitlement e
		SET first_payment = paid.first_payment, elicitation = paid.elicitation, tenant = paid.tenant, subject = paid.subject,
			item = paid.item, opened_at = paid.opened_at
		WHERE e.id = named.id AND e.subject IS NULL;
		PERFORM urlmode.take_waiting(named.id);
	ELSIF named.id IS NOT NULL THEN
		UPDATE urlmode.entitlement e SET first_payment = find_subscription.first_payment
		WHERE e.id = named.id AND e.first_payment IS NULL AND find_subscription.first_payment IS NOT NULL;
	ELSIF NOT EXISTS (
		SELECT FROM urlmode.elicitation e WHERE e.id = find_subscription.elicitation AND NOT urlmode.is_of_subscription(e.expected)
	) THEN
		INSERT INTO urlmode.entitlement (provider, account, subscription, first_payment, named)
		VALUES (find_subscription.provider, find_subscription.account, find_subscription.subscription, find_subscription.first_payment,
			first_payment IS NOT NULL OR elicitation IS NOT NULL)
		RETURNING id INTO made;
		-- None that its first payment opens just now.
		DELETE FROM urlmode.entitlement e WHERE e.id = ANY (ARRAY(
			SELECT o.id FROM urlmode.entitlement o
			WHERE o.subject IS NULL AND o.id = ANY (ARRAY(
				SELECT x.id FROM urlmode.entitlement x
				WHERE x.provider = find_subscription.provider AND x.subject IS NULL AND x.id <> made
				ORDER BY x.named DESC, x.changed_at DESC OFFSET urlmode.max_unknown() - 1
			))
			FOR UPDATE SKIP LOCKED
		));
	END IF;
	RETURN coalesce(named.id, made);
END
$$;
COMMENT ON FUNCTION urlmode.find_subscription IS
	'Internal. The row of a subscription, which is made if there is none; NULL: what names it is of '
	'an elicitation that asks for no subscription. What the first payment has opened without its '
	'name becomes one with it.';

CREATE OR REPLACE FUNCTION urlmode.keep_subscription(
	id uuid, provider text, effect text, amount bigint, currency text, ref text, checkout text, told jsonb
)
RETURNS boolean
LANGUAGE plpgsql AS $$
<<said>>
DECLARE
	at CONSTANT timestamptz := coalesce(to_timestamp((told ->> 'at_ms')::numeric / 1000), clock_timestamp());
	until CONSTANT timestamptz := to_timestamp((told ->> 'until_ms')::numeric / 1000);
	trial_until CONSTANT timestamptz := to_timestamp((told ->> 'trial_until_ms')::numeric / 1000);
	cancel_at CONSTANT timestamptz := to_timestamp((told ->> 'cancel_at_ms')::numeric / 1000);
	status CONSTANT text := told ->> 'status';
	paused CONSTANT boolean := told -> 'paused' = 'true';
	first_payment text := nullif(told ->> 'payment', '');
	this uuid;
	is_open boolean;
	is_known boolean;
	renewal jsonb;
BEGIN
	IF effect = 'paid' AND first_payment IS NULL THEN
		first_payment := coalesce((
			SELECT p.reference::text FROM urlmode.payment p
			WHERE p.provider = keep_subscription.provider AND p.elicitation = keep_subscription.id
				AND (p.reference IN (ref, keep_subscription.checkout) OR p.checkout IN (ref, keep_subscription.checkout))
			ORDER BY p.reference IS DISTINCT FROM ref, p.entitlement IS NULL, p.reference LIMIT 1
		), nullif(ref, ''), id::text);
	END IF;
	this := urlmode.find_subscription(provider, coalesce(told ->> 'account', ''), told ->> 'id', first_payment, id);
	IF this IS NULL THEN
		RETURN false;
	END IF;
	UPDATE urlmode.entitlement e
	SET status = CASE WHEN n.status THEN said.status ELSE e.status END,
		status_at = CASE WHEN n.status THEN at ELSE e.status_at END,
		until = CASE WHEN n.until THEN said.until ELSE e.until END,
		until_at = CASE WHEN n.until THEN at ELSE e.until_at END,
		trial_until = CASE WHEN n.trial THEN said.trial_until ELSE e.trial_until END,
		trial_at = CASE WHEN n.trial THEN at ELSE e.trial_at END,
		cancel_at = CASE WHEN n.cancel THEN said.cancel_at ELSE e.cancel_at END,
		cancel_known_at = CASE WHEN n.cancel THEN at ELSE e.cancel_known_at END,
		paused = CASE WHEN n.paused THEN said.paused ELSE e.paused END,
		paused_at = CASE WHEN n.paused THEN at ELSE e.paused_at END,
		late = coalesce((told ->> 'late_ms')::bigint * interval '1 millisecond', e.late), changed_at = clock_timestamp(),
		named = e.named OR said.first_payment IS NOT NULL OR keep_subscription.id IS NOT NULL
	FROM (
		-- What the event says, and nothing later has said otherwise. At the same time the greater counts.
		SELECT x.id, said.status IS NOT NULL
				AND (at, urlmode.status_rank(said.status)) > (x.status_at, coalesce(urlmode.status_rank(x.status), 0)) AS status,
			told ? 'until_ms' AND (at, coalesce(said.until, '-infinity')) > (x.until_at, coalesce(x.until, '-infinity')) AS until,
			told ? 'trial_until_ms' AND (at, coalesce(said.trial_until, '-infinity')) > (x.trial_at, coalesce(x.trial_until, '-infinity')) AS trial,
			told ? 'cancel_at_ms' AND (at, coalesce(said.cancel_at, '-infinity')) > (x.cancel_known_at, coalesce(x.cancel_at, '-infinity')) AS cancel,
			told ? 'paused' AND (at, said.paused) > (x.paused_at, x.paused) AS paused
		FROM urlmode.entitlement x WHERE x.id = this
	) n
	WHERE e.id = n.id
	RETURNING e.subject IS NOT NULL, e.subject IS NOT NULL OR e.named INTO is_open, is_known;
	IF effect = 'renewed' AND amount IS NOT NULL AND currency IS NOT NULL AND ref <> '' THEN
		renewal := jsonb_build_object('amount', amount, 'currency', currency, 'at_ms', (extract(epoch FROM at) * 1000)::bigint,
			'extra', told -> 'kind' = '"extra_charge"');
		IF is_open THEN
			PERFORM urlmode.keep_renewal(this, provider, ref, renewal);
		ELSE
			UPDATE urlmode.entitlement e SET waiting = e.waiting || jsonb_build_object(ref, renewal)
			WHERE e.id = this AND CASE WHEN e.waiting ? ref THEN (renewal ->> 'at_ms')::bigint < (e.waiting -> ref ->> 'at_ms')::bigint
				ELSE (SELECT count(*) FROM jsonb_object_keys(e.waiting)) < 100 END;
		END IF;
	END IF;
	RETURN is_known;
END
$$;
COMMENT ON FUNCTION urlmode.keep_subscription IS
	'Internal. Writes down what an event says of a subscription: told, the member subscription of '
	'its details. effect: paid, its first payment; renewed, a later one; otherwise it is no '
	'payment. False: it names a subscription that nobody knows yet, and nothing by which it could be '
	'known: it waits for its first payment, and may be a foreign one.';

CREATE OR REPLACE FUNCTION urlmode.receive_subscriptions(
	ids uuid[], providers text[], identities text[], types text[], effects text[],
	amounts bigint[], currencies text[], refs text[], results bytea[], outcomes bytea[], refunds text[], checkouts text[],
	requests text[], kinds text[], details jsonb[]
)
RETURNS TABLE (outcome text, mismatch text, elicitation uuid)
LANGUAGE plpgsql AS $$
DECLARE
	own CONSTANT text[] := '{subscription,renewed}';
	n integer;
	known boolean;
	row record;
BEGIN
	-- All at once, in the order of their keys, so that two batches never wait for each other.
	PERFORM urlmode.lock_references(refs || ARRAY(
		SELECT l.name FROM unnest(details) AS u (detail)
		CROSS JOIN LATERAL unnest(ARRAY['subscription ' || (u.detail #>> '{subscription,id}'), u.detail #>> '{subscription,payment}']) AS l (name)
		WHERE l.name IS NOT NULL
	));
	n := 0;
	FOR row IN
		SELECT r.* FROM urlmode.receive_events(
			ARRAY(SELECT CASE WHEN u.effect <> ALL (own) THEN u.id END FROM unnest(ids, effects) WITH ORDINALITY AS u (id, effect, n) ORDER BY u.n),
			providers, identities, types,
			ARRAY(SELECT CASE WHEN u.effect = ANY (own) THEN 'ignore' ELSE u.effect END FROM unnest(effects) WITH ORDINALITY AS u (effect, n) ORDER BY u.n),
			amounts, currencies,
			ARRAY(SELECT CASE WHEN u.effect <> ALL (own) THEN u.ref END FROM unnest(refs, effects) WITH ORDINALITY AS u (ref, effect, n) ORDER BY u.n),
			results, outcomes, refunds, checkouts, requests, kinds,
			-- Whether it is of a subscription is all that a payment is asked for.
			ARRAY(SELECT CASE WHEN u.detail ? 'subscription' THEN (u.detail - 'subscription') || '{"of_subscription": true}' ELSE u.detail END
				FROM unnest(details) WITH ORDINALITY AS u (detail, n) ORDER BY u.n)
		) r
	LOOP
		n := n + 1;
		outcome := row.outcome;
		mismatch := row.mismatch;
		elicitation := row.elicitation;
		IF effects[n] = ANY (own) THEN
			outcome := 'unknown';
			elicitation := NULL;
		END IF;
		IF details[n] #>> '{subscription,id}' IS NOT NULL AND outcome NOT IN ('other_mode', 'other_account', 'other_checkout', 'other_kind') THEN
			known := urlmode.keep_subscription(ids[n], providers[n], effects[n], amounts[n], currencies[n], refs[n], checkouts[n],
				(details[n] -> 'subscription') || jsonb_build_object('kind', details[n] -> 'kind'));
			IF effects[n] = ANY (own) AND known THEN
				outcome := effects[n];
			END IF;
		END IF;
		RETURN NEXT;
	END LOOP;
END
$$;
COMMENT ON FUNCTION urlmode.receive_subscriptions IS
	'Internal. receive_events for a batch in which an event names a subscription. The effects '
	'subscription and renewed move no elicitation; their outcomes are the same words, or unknown.';

CREATE OR REPLACE FUNCTION urlmode.max_entitlements() RETURNS integer
LANGUAGE sql IMMUTABLE AS $$
	SELECT 1000
$$;
COMMENT ON FUNCTION urlmode.max_entitlements IS
	'Internal. How many items of one user a list of entitlements has at most.';

CREATE OR REPLACE FUNCTION urlmode.entitlements(tenant text, subject text, item text DEFAULT NULL)
RETURNS TABLE (
	item_name text, status text, until timestamptz, entitled boolean, paused boolean,
	provider text, account text, subscription text, elicitation uuid, opened_at timestamptz
)
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET plan_cache_mode = force_generic_plan AS $$
#variable_conflict use_column
BEGIN
	-- In PL/pgSQL, which keeps its plan: each call of a tool that requires a subscription asks this.
	RETURN QUERY
	SELECT l.* FROM (
		SELECT b.* FROM (
			SELECT DISTINCT ON (e.item) e.item::text AS item_name, s.status,
				CASE s.status WHEN 'cancelled' THEN coalesce(e.cancel_at, e.until, e.trial_until) ELSE coalesce(e.until, e.trial_until) END AS until,
				s.status IN ('trialing', 'active', 'cancelled'), s.paused,
				e.provider::text, e.account::text, e.subscription::text, e.elicitation, e.opened_at
			FROM urlmode.entitlement e
			-- With OFFSET, PostgreSQL finds it once, and not where it is used.
			CROSS JOIN LATERAL (SELECT urlmode.entitlement_status(e), urlmode.is_paused(e) OFFSET 0) AS s (status, paused)
			WHERE e.subject = entitlements.subject AND e.tenant = entitlements.tenant AND (entitlements.item IS NULL OR e.item = entitlements.item)
			ORDER BY e.item, array_position('{active,trialing,cancelled,past_due}'::text[], s.status) NULLS LAST, s.paused DESC, until DESC NULLS LAST,
				e.opened_at, e.id
		) b
		ORDER BY b.status = 'ended' AND NOT b.paused, b.opened_at DESC LIMIT urlmode.max_entitlements()
	) l
	ORDER BY l.item_name;
END
$$;
COMMENT ON FUNCTION urlmode.entitlements IS
	'What a user has subscribed to: the best subscription of each item, or of one. status: '
	'trialing, active or cancelled (then entitled is true), past_due or ended. paused: it has '
	'ended until it is resumed. until: the end of what was paid, or NULL where the provider has '
	'not said it yet. Of a user with more than urlmode.max_entitlements() items, those that are over '
	'are left out first, and then the oldest.';

CREATE OR REPLACE FUNCTION urlmode.show_subscriptions(id uuid)
RETURNS TABLE (
	provider text, account text, subscription text, item text, status text, until timestamptz, paused boolean, cancel_at timestamptz,
	opened_at timestamptz, changed_at timestamptz, payments bigint, last_payment text, last_paid_at timestamptz, refunded bigint
)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
	SELECT e.provider::text, e.account::text, e.subscription::text, e.item::text, urlmode.entitlement_status(e),
		coalesce(e.until, e.trial_until), urlmode.is_paused(e), e.cancel_at, e.opened_at, e.changed_at,
		(SELECT count(*) FROM urlmode.payment p WHERE p.entitlement = e.id), last.reference, last.paid_at, last.refunded
	FROM urlmode.entitlement e
	LEFT JOIN LATERAL (
		SELECT p.reference::text, coalesce(p.paid_at, p.proven_at) AS paid_at, p.refunded FROM urlmode.payment p
		WHERE p.entitlement = e.id ORDER BY p.paid_at DESC NULLS LAST, p.reference DESC LIMIT 1
	) last ON true
	WHERE e.id IN (SELECT p.entitlement FROM urlmode.payment p WHERE p.elicitation = show_subscriptions.id)
	ORDER BY e.opened_at, e.id
$$;
COMMENT ON FUNCTION urlmode.show_subscriptions IS
	'The subscriptions that an elicitation has opened, and how they stand. refunded: how much of '
	'the last payment went back.';

CREATE OR REPLACE FUNCTION urlmode.purge_entitlements(batch integer) RETURNS bigint
LANGUAGE plpgsql AS $$
DECLARE
	taken bigint;
BEGIN
	-- Each by an index of its own: most rows are not long over.
	DELETE FROM urlmode.entitlement d WHERE d.id = ANY ((ARRAY(
		SELECT e.id FROM urlmode.entitlement e WHERE e.subject IS NULL AND e.changed_at <= now() - interval '30 days'
		LIMIT batch FOR UPDATE SKIP LOCKED
	) || ARRAY(
		SELECT e.id FROM urlmode.entitlement e
		WHERE e.changed_at <= now() - interval '400 days' AND greatest(e.until, e.cancel_at, e.opened_at) <= now() - interval '400 days'
			AND NOT urlmode.is_paused(e)
		ORDER BY e.changed_at LIMIT batch FOR UPDATE SKIP LOCKED
	))[:batch]);
	GET DIAGNOSTICS taken = ROW_COUNT;
	RETURN taken;
END
$$;
COMMENT ON FUNCTION urlmode.purge_entitlements IS
	'Internal. Deletes at most `batch` subscriptions: those that are nobody''s after thirty days '
	'without an event, and others 400 days after the end of what was paid. Their payments stay.';

GRANT EXECUTE ON FUNCTION urlmode.entitlements TO :"server";
GRANT EXECUTE ON FUNCTION urlmode.show_subscriptions TO :"operator";
