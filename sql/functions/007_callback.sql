-- What the callback programs call while a browser waits.
--
-- The functions take parallel arrays, of one dimension and from 1 on, and return
-- one row for each element, in the same order: a batch is one statement. `id` and
-- `binding`, which come from a state token, name the row (for a link the id alone). `provider` is the one of
-- the route, and must be the row's. `subject` is the user that the browser is known
-- to belong to, and must be the row's; NULL: it is not known.
--
-- A batch fails when another transaction holds one of its rows for longer than
-- 20 ms. The caller then asks which rows are held, and tries the others again. Every
-- function takes its rows in the order of their ids. If a batch has an id twice, the
-- first element counts.
--
-- All are in PL/pgSQL with generic plans, so that each statement is
-- planned once per connection. A function in SQL would be planned with every call, and
-- PostgreSQL would plan small batches anew each time, which takes three times
-- as long as completing one row.

CREATE OR REPLACE FUNCTION urlmode.ping() RETURNS boolean
LANGUAGE plpgsql STABLE AS $$
BEGIN
	IF current_setting('transaction_read_only')::boolean THEN
		RAISE read_only_sql_transaction USING MESSAGE = 'the database accepts no writes';
	END IF;
	RETURN true;
END
$$;
COMMENT ON FUNCTION urlmode.ping IS
	'Returns true, and changes nothing. A program that can call it is connected to a database with '
	'the migrations. read_only_sql_transaction: nothing can be written, as on a standby.';

-- The functions that change rows wait 20 ms for a lock (lock_timeout): all requests of a
-- program share one connection, and one row that is held must not delay the others. The
-- program then asks which rows are held, and tries those again later.
CREATE OR REPLACE FUNCTION urlmode.held(ids uuid[]) RETURNS TABLE (held boolean)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
SET plan_cache_mode = force_generic_plan AS $$
DECLARE
	free uuid[] := ARRAY(
		SELECT e.id FROM urlmode.elicitation e WHERE e.id = ANY (ids) FOR NO KEY UPDATE SKIP LOCKED);
BEGIN
	RETURN QUERY
	SELECT e.id IS NOT NULL AND e.id <> ALL (free)
	FROM unnest(ids) WITH ORDINALITY AS a (id, n)
	LEFT JOIN urlmode.elicitation e ON e.id = a.id
	ORDER BY a.n;
END
$$;
COMMENT ON FUNCTION urlmode.held IS
	'Whether another transaction holds the lock of each row, without waiting for it. False where '
	'there is no such row. Changes nothing.';

CREATE OR REPLACE FUNCTION urlmode.look_up(ids uuid[], bindings bytea[], providers text[])
RETURNS TABLE (
	outcome text, action text, reason text, requester text, subject text,
	browser bytea, expires bigint, failed_attempts integer, late boolean,
	amount bigint, currency text
)
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
SET plan_cache_mode = force_generic_plan AS $$
BEGIN
	RETURN QUERY
	SELECT CASE
			WHEN e.id IS NULL THEN 'unknown'
			WHEN s.effective_status = 'completed' THEN 'completed'
			WHEN urlmode.closes_at(e.kind, s.effective_status, e.expires_at, e.grace) <= now() THEN 'expired'
			ELSE s.effective_status
		END,
		e.action::text,
		CASE WHEN e.kind = 'oauth' AND e.action = 'accept' THEN coalesce(e.exchange, 'exchanging') ELSE e.reason END::text,
		e.requester::text, e.subject::text, e.browser::bytea,
		ceil(extract(epoch FROM e.expires_at))::bigint, e.failed_attempts,
		e.status = 'completed' AND e.kind = 'payment' AND e.action <> 'accept' AND EXISTS (
			SELECT FROM urlmode.payment p
			WHERE p.elicitation = e.id AND p.matches AND p.refunded_at IS NULL
		),
		(e.expected ->> 'amount')::bigint, e.expected ->> 'currency'
	FROM unnest(ids, bindings, providers) WITH ORDINALITY AS a (id, binding, provider, n)
	LEFT JOIN urlmode.elicitation e
		ON e.id = a.id AND e.binding = a.binding AND e.provider = a.provider
	LEFT JOIN LATERAL urlmode.effective_status(e) AS s (effective_status) ON true
	ORDER BY a.n;
END
$$;
COMMENT ON FUNCTION urlmode.look_up IS
	'The rows, to show a page; changes nothing. outcome: pending, opened, processing, completed, '
	'expired, or unknown (there is no such row, or it has another binding or provider). reason: '
	'why it ended so; of an account that was granted, exchanging until it is known whether it is '
	'connected, then empty, or why it is not. expires: Unix seconds, rounded up. failed_attempts: '
	'attempts to pay that failed. late: the row ended otherwise, and then the right amount was '
	'paid. amount, currency: what is to be paid, in minor units; NULL where any amount will do.';

CREATE OR REPLACE FUNCTION urlmode.open(
	ids uuid[], bindings bytea[], providers text[], browsers bytea[],
	subjects text[] DEFAULT NULL, graces_ms bigint[] DEFAULT NULL, kinds text[] DEFAULT NULL
)
RETURNS TABLE (outcome text, kind text, target_url text, expires bigint)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
SET lock_timeout = '20ms' SET plan_cache_mode = force_generic_plan AS $$
DECLARE
	notifications text[];
BEGIN
	WITH opened AS (
		UPDATE urlmode.elicitation e
		SET status = 'opened', browser = a.browser,
			opened_at = coalesce(e.opened_at, now()),
			grace = CASE WHEN e.kind <> 'oauth' THEN coalesce(a.grace_ms, 0) * interval '1 millisecond'
				ELSE e.grace END
		FROM (
			-- One for each user: a stranger with the same link hides nobody.
			SELECT DISTINCT ON (u.id, u.subject) u.*
			FROM unnest(ids, bindings, providers, browsers, subjects, graces_ms, kinds)
				WITH ORDINALITY AS u (id, binding, provider, browser, subject, grace_ms, kind, n)
			ORDER BY u.id, u.subject, u.n
		) a
		WHERE e.id = a.id AND e.binding = a.binding AND e.provider = a.provider
			AND (a.subject IS NULL OR e.subject = a.subject) AND (a.kind IS NULL OR e.kind = a.kind)
			AND urlmode.transition(e.kind, e.status, e.expires_at <= now(), 'open') IS NOT NULL
			AND (e.status <> 'opened' OR e.browser IS DISTINCT FROM a.browser)
			-- With the binding of the array: it is asked of these rows, and never of all.
			AND NOT urlmode.is_paid(e.kind, a.binding, e.resume_key, e.request, e.provider, e.item)
			AND NOT (urlmode.is_of_subscription(e.expected) AND urlmode.is_subscribed(e.tenant, e.subject, e.item))
		RETURNING e.id
	)
	SELECT array_agg(urlmode.notification(o.id, 'opened')) INTO notifications FROM opened o;
	PERFORM urlmode.notify(notifications);

	RETURN QUERY
	SELECT CASE WHEN l.subject <> l.known THEN 'wrong_user'
			WHEN e.kind <> l.kind THEN 'wrong_kind'
			WHEN NOT e.opens THEN 'unknown'
			WHEN e.paid THEN 'completed'
			-- In its grace a payment is still open, but nobody can begin it.
			WHEN l.outcome = 'opened' AND e.opens IS NULL THEN 'expired'
			ELSE l.outcome
		END,
		CASE WHEN e.opens AND NOT e.paid THEN e.kind END, CASE WHEN e.opens AND NOT e.paid THEN e.target_url END, l.expires
	FROM ROWS FROM (unnest(ids, bindings, subjects, kinds), urlmode.look_up(ids, bindings, providers))
		WITH ORDINALITY AS l (id, binding, known, kind, outcome, action, reason, requester, subject,
			browser, expires, failed_attempts, late, amount, currency, n)
	LEFT JOIN LATERAL (
		SELECT y.*, CASE WHEN y.opens THEN urlmode.is_paid(y.kind, l.binding, y.resume_key, y.request, y.provider, y.item)
			OR urlmode.is_of_subscription(y.expected) AND urlmode.is_subscribed(y.tenant, y.subject, y.item) END AS paid
		FROM (
			SELECT x.kind::text, x.target_url::text, x.resume_key, x.request, x.provider, x.item, x.expected, x.tenant, x.subject,
				CASE WHEN l.outcome IN ('pending', 'opened') AND x.expires_at > now() THEN
					(l.kind IS NULL OR x.kind = l.kind) AND urlmode.next(x.kind, x.status, false, 'open') IS NOT NULL END AS opens
			FROM urlmode.elicitation x
			WHERE x.id = l.id AND l.outcome <> 'unknown' AND (l.known IS NULL OR x.subject = l.known)
		) y
	) e ON true
	ORDER BY l.n;
END
$$;
COMMENT ON FUNCTION urlmode.open IS
	'The user goes on from /connect, in this browser: pending becomes opened, and so does an '
	'account about which somebody else decides. outcome: opened '
	'(also if it was opened before), processing, completed, expired, wrong_user, wrong_kind or '
	'unknown. kind '
	'and target_url are NULL unless the outcome is opened. Nobody is sent to pay for what is paid: '
	'if a payment for the same thing waits to be claimed, or the user has subscribed to it, the '
	'outcome is completed. kinds: '
	'of the providers, as they are configured, or NULL: a row of another kind is wrong_kind. A '
	'form has its own way (open_form), and is unknown. graces_ms: for '
	'how many milliseconds after its expiry a payment or a signature waits for its provider.';

-- A link names the row alone: its MAC proves that an SDK made it. What
-- follows is asked with the binding that these two return.
CREATE OR REPLACE FUNCTION urlmode.bindings_of(ids uuid[], providers text[]) RETURNS bytea[]
LANGUAGE plpgsql STABLE SET plan_cache_mode = force_generic_plan AS $$
BEGIN
	RETURN ARRAY(
		SELECT e.binding::bytea
		FROM unnest(ids, providers) WITH ORDINALITY AS a (id, provider, n)
		LEFT JOIN urlmode.elicitation e ON e.id = a.id AND e.provider = a.provider
		ORDER BY a.n
	);
END
$$;
COMMENT ON FUNCTION urlmode.bindings_of IS
	'Internal. The bindings of rows, in their order; NULL where there is no such row, or it has '
	'another provider.';

CREATE OR REPLACE FUNCTION urlmode.link_tenant(ids uuid[], providers text[], tenants text[])
RETURNS TABLE (outcome text)
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
SET plan_cache_mode = force_generic_plan AS $$
BEGIN
	RETURN QUERY
	SELECT CASE
			WHEN e.id IS NULL THEN 'unknown'
			WHEN strpos(',' || a.tenants || ',', ',' || e.tenant || ',') > 0 THEN 'pending'
			ELSE 'wrong_tenant'
		END
	FROM unnest(ids, providers, tenants) WITH ORDINALITY AS a (id, provider, tenants, n)
	LEFT JOIN urlmode.elicitation e ON e.id = a.id AND e.provider = a.provider
	ORDER BY a.n;
END
$$;
COMMENT ON FUNCTION urlmode.link_tenant IS
	'For a link whose provider names the tenants that may use it, in a text, separated by commas (an '
	'empty one: rows without a tenant): pending where it is one of them, otherwise wrong_tenant, or '
	'unknown. Changes nothing. The tenant of a row never changes.';

CREATE OR REPLACE FUNCTION urlmode.assign_providers(providers text[], tenants text[]) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
	-- Nearly always nothing has changed.
	IF NOT EXISTS (
		SELECT FROM unnest(providers, tenants) AS a (provider, tenant)
		LEFT JOIN urlmode.provider_tenant t ON t.provider = a.provider WHERE t.tenant IS DISTINCT FROM a.tenant
	) THEN
		RETURN;
	END IF;
	DELETE FROM urlmode.provider_tenant t USING unnest(providers, tenants) AS a (provider, tenant)
	WHERE t.provider = a.provider AND a.tenant IS NULL;
	INSERT INTO urlmode.provider_tenant AS t (provider, tenant)
	SELECT a.provider, a.tenant FROM unnest(providers, tenants) AS a (provider, tenant)
	WHERE a.tenant IS NOT NULL ORDER BY a.provider
	ON CONFLICT ON CONSTRAINT provider_tenant_pkey DO UPDATE SET tenant = EXCLUDED.tenant WHERE t.tenant <> EXCLUDED.tenant;
END
$$;
COMMENT ON FUNCTION urlmode.assign_providers IS
	'Says whose the payment providers are, as a callback program has read it in its configuration: '
	'NULL: the entry names no tenant, and is there for all. Other providers stay as they are.';

CREATE OR REPLACE FUNCTION urlmode.look_up_link(ids uuid[], providers text[], kinds text[] DEFAULT NULL)
RETURNS TABLE (
	outcome text, action text, reason text, requester text, subject text,
	browser bytea, expires bigint, failed_attempts integer, late boolean,
	amount bigint, currency text, binding bytea
)
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
SET plan_cache_mode = force_generic_plan AS $$
DECLARE
	bindings bytea[] := urlmode.bindings_of(ids, providers);
BEGIN
	RETURN QUERY
	SELECT CASE WHEN e.kind <> l.kind THEN 'wrong_kind' ELSE l.outcome END, l.action, l.reason, l.requester, l.subject,
		l.browser, l.expires, l.failed_attempts, l.late, l.amount, l.currency, l.binding
	FROM ROWS FROM (urlmode.look_up(ids, bindings, providers), unnest(ids, bindings, kinds))
		WITH ORDINALITY AS l (outcome, action, reason, requester, subject, browser, expires,
			failed_attempts, late, amount, currency, id, binding, kind, n)
	LEFT JOIN urlmode.elicitation e ON e.id = l.id AND l.outcome <> 'unknown'
	ORDER BY l.n;
END
$$;
COMMENT ON FUNCTION urlmode.look_up_link IS
	'What look_up returns, for links, with the binding of each row, or NULL for unknown. kinds: of '
	'the providers, as they are configured, or NULL: a row of another kind is wrong_kind.';

CREATE OR REPLACE FUNCTION urlmode.open_link(
	ids uuid[], providers text[], browsers bytea[],
	subjects text[] DEFAULT NULL, graces_ms bigint[] DEFAULT NULL, kinds text[] DEFAULT NULL
)
RETURNS TABLE (outcome text, kind text, target_url text, expires bigint, binding bytea)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
SET plan_cache_mode = force_generic_plan AS $$
DECLARE
	bindings bytea[] := urlmode.bindings_of(ids, providers);
BEGIN
	RETURN QUERY
	SELECT o.outcome, o.kind, o.target_url, o.expires,
		CASE WHEN o.outcome NOT IN ('wrong_user', 'unknown') THEN o.binding END
	FROM ROWS FROM (urlmode.open(ids, bindings, providers, browsers, subjects, graces_ms, kinds), unnest(bindings))
		WITH ORDINALITY AS o (outcome, kind, target_url, expires, binding, n)
	ORDER BY o.n;
END
$$;
COMMENT ON FUNCTION urlmode.open_link IS
	'What open does and returns, for links, with the binding of each row, or NULL for unknown and '
	'wrong_user.';

-- STABLE, so that PostgreSQL inlines it. The function costs nothing per call.
CREATE OR REPLACE FUNCTION urlmode.is_completable(e urlmode.elicitation, action text, reason text, subject text, kind text)
RETURNS boolean
LANGUAGE sql STABLE AS $$
	SELECT urlmode.transition(e.kind, e.status, e.expires_at + e.grace <= now(), 'return ' || action::urlmode.action) IS NOT NULL
		AND reason IS NOT NULL AND (subject IS NULL OR e.subject = subject) AND (kind IS NULL OR e.kind = kind)
$$;
COMMENT ON FUNCTION urlmode.is_completable IS
	'Internal. Whether a browser may complete a row with this action and reason: a return may do '
	'so (urlmode.transitions), the subject of the row is the user (NULL: not known), and its kind '
	'that of the provider (the same).';

CREATE OR REPLACE FUNCTION urlmode.complete(
	ids uuid[], bindings bytea[], providers text[],
	actions text[], reasons text[], results bytea[], subjects text[] DEFAULT NULL,
	outcomes bytea[] DEFAULT NULL, kinds text[] DEFAULT NULL
)
RETURNS TABLE (outcome text)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
SET lock_timeout = '20ms' SET plan_cache_mode = force_generic_plan AS $$
DECLARE
	done bigint[];
	notifications text[];
BEGIN
	-- Most batches have one row. Without the join this call takes 0.06 ms; with the join
	-- of the other branch it takes 0.10 ms. With = for the binding, PostgreSQL would read
	-- all rows of the owner in a new database.
	IF array_dims(ids) = '[1:1]' AND array_dims(subjects) = '[1:1]' THEN
		UPDATE urlmode.elicitation e
		SET status = 'completed', action = actions[1], reason = reasons[1], result = results[1],
			verifier = CASE actions[1] WHEN 'accept' THEN e.verifier END, completed_at = now()
		WHERE e.id = ids[1] AND e.binding IS NOT DISTINCT FROM bindings[1] AND e.provider = providers[1]
			AND urlmode.is_completable(e, actions[1], reasons[1], subjects[1], kinds[1]);
		IF FOUND THEN
			INSERT INTO urlmode.purge_queue (ids) VALUES (ids);
			PERFORM pg_notify('urlmode', urlmode.notification(ids[1], 'completed', outcomes[1]));
			outcome := 'completed';
			RETURN NEXT;
			RETURN;
		END IF;
	ELSE
		WITH completed AS (
			UPDATE urlmode.elicitation e
			SET status = 'completed', action = actions[a.n], reason = reasons[a.n], result = results[a.n],
				verifier = CASE actions[a.n] WHEN 'accept' THEN e.verifier END, completed_at = now()
			FROM (
				-- Only what they are sorted by: the other elements are taken by their number.
				SELECT DISTINCT ON (u.id, u.subject) u.*
				FROM unnest(ids, subjects) WITH ORDINALITY AS u (id, subject, n)
				ORDER BY u.id, u.subject, u.n
			) a
			WHERE e.id = a.id AND e.binding IS NOT DISTINCT FROM bindings[a.n] AND e.provider = providers[a.n]
				AND urlmode.is_completable(e, actions[a.n], reasons[a.n], a.subject, kinds[a.n])
			RETURNING e.id, a.n, outcomes[a.n] AS outcome
		), queued AS (
			INSERT INTO urlmode.purge_queue (ids)
			SELECT array_agg(c.id) FROM completed c HAVING count(*) > 0
		)
		SELECT array_agg(c.n), array_agg(urlmode.notification(c.id, 'completed', c.outcome))
		INTO done, notifications FROM completed c;
		PERFORM urlmode.notify(notifications);
		IF cardinality(done) = cardinality(ids) THEN
			outcome := 'completed';
			FOR i IN 1 .. cardinality(ids) LOOP
				RETURN NEXT;
			END LOOP;
			RETURN;
		END IF;
	END IF;

	RETURN QUERY
	SELECT CASE
			WHEN a.n = ANY (done) THEN 'completed'
			WHEN e.id IS NULL THEN 'unknown'
			WHEN e.subject <> a.subject THEN 'wrong_user'
			WHEN e.status = 'completed' THEN 'already'
			WHEN urlmode.closes_at(e.kind, e.status, e.expires_at, e.grace) <= now() THEN 'expired'
			WHEN e.status = 'processing' THEN 'processing'
			ELSE 'unknown'
		END
	FROM unnest(ids, bindings, providers, subjects, kinds)
		WITH ORDINALITY AS a (id, binding, provider, subject, kind, n)
	LEFT JOIN urlmode.elicitation e
		ON e.id = a.id AND e.binding = a.binding AND e.provider = a.provider AND (a.kind IS NULL OR e.kind = a.kind)
	ORDER BY a.n;
END
$$;
COMMENT ON FUNCTION urlmode.complete IS
	'Completes rows for a browser that comes back, each of them once. A browser cannot complete a '
	'row that has expired, or a payment or signature that is processing, and proves none: it can only '
	'decline or cancel one. outcomes: sealed, for the notification, or NULL. kinds: of the '
	'providers, as they are configured, or NULL. outcome: completed, '
	'already, processing, expired, wrong_user or unknown.';

GRANT EXECUTE ON FUNCTION
	urlmode.ping, urlmode.held, urlmode.look_up, urlmode.link_tenant, urlmode.assign_providers, urlmode.open, urlmode.look_up_link,
	urlmode.open_link, urlmode.complete
TO :"cgi";
