-- What the console asks of one thing: where it is, what became of it, and how a provider does.
--
-- A reference is found by its provider, because the indexes begin with that: there are a few
-- providers, and each is asked by itself (with a limit, so that PostgreSQL does not turn it round).
-- A payment is found also when its elicitation was purged.

CREATE OR REPLACE FUNCTION urlmode.next_provider(name text) RETURNS text
LANGUAGE sql STABLE SET enable_seqscan = off AS $$
	SELECT least(
		(SELECT x.provider FROM urlmode.event x WHERE x.provider > name ORDER BY x.provider LIMIT 1),
		(SELECT x.provider::text FROM urlmode.payment x WHERE x.provider > name ORDER BY x.provider LIMIT 1),
		(SELECT x.provider::text FROM urlmode.payment_name x WHERE x.provider > name ORDER BY x.provider LIMIT 1),
		(SELECT x.provider::text FROM urlmode.refund x WHERE x.provider > name ORDER BY x.provider LIMIT 1),
		(SELECT x.provider::text FROM urlmode.elicitation x WHERE x.provider > name AND x.checkout IS NOT NULL ORDER BY x.provider LIMIT 1),
		(SELECT x.provider::text FROM urlmode.unknown_event x WHERE x.provider > name ORDER BY x.provider LIMIT 1),
		(SELECT x.provider::text FROM urlmode.unreadable_delivery x WHERE x.provider > name ORDER BY x.provider LIMIT 1),
		(SELECT x.provider::text FROM urlmode.ended_count x WHERE x.provider > name ORDER BY x.provider LIMIT 1)
	)
$$;
COMMENT ON FUNCTION urlmode.next_provider IS
	'Internal. The next provider after this name, byte by byte, of which there is something that is '
	'found by its provider. NULL: there is none.';

CREATE OR REPLACE FUNCTION urlmode.known_providers() RETURNS TABLE (provider text)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
	WITH RECURSIVE known (name) AS (
		SELECT urlmode.next_provider('')
		UNION ALL
		SELECT urlmode.next_provider(k.name) FROM known k WHERE k.name IS NOT NULL
	)
	SELECT k.name FROM known k WHERE k.name IS NOT NULL LIMIT 1000
$$;
COMMENT ON FUNCTION urlmode.known_providers IS
	'The providers that have something here: payments, refunds, checkouts, events, deliveries that '
	'cannot be read, and what has ended in the last 40 days. At most 1000.';

CREATE OR REPLACE FUNCTION urlmode.find_rows(term text, most integer)
RETURNS TABLE (n integer, found_by text, elicitation uuid, provider text, reference text, at timestamptz, name text)
LANGUAGE plpgsql STABLE SET enable_seqscan = off SET jit = off AS $$
#variable_conflict use_column
DECLARE
	as_id uuid;
	providers CONSTANT text[] := ARRAY(SELECT k.provider FROM urlmode.known_providers() k);
	nothing CONSTANT text := NULL;
BEGIN
	IF term ~ '^[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}$' THEN
		as_id := term::uuid;
	END IF;
	RETURN QUERY
	(SELECT 1, 'id', e.id, nothing, nothing, e.created_at, nothing FROM urlmode.elicitation e WHERE e.id = as_id)
	UNION ALL
	(SELECT 1, 'id', p.elicitation, p.provider::text, p.reference::text, p.proven_at, nothing FROM urlmode.payment p
	WHERE p.elicitation = as_id LIMIT most)
	UNION ALL
	(SELECT 2, 'subject', e.id, nothing, nothing, e.created_at, nothing FROM urlmode.elicitation e
	WHERE e.subject COLLATE "C" = term ORDER BY e.created_at DESC LIMIT most)
	UNION ALL
	-- Of somebody who pays all the time, any thousand: what was not purged is above.
	(SELECT 2, 'subject', x.elicitation, x.provider::text, x.reference::text, x.proven_at, nothing
	FROM (SELECT * FROM urlmode.payment p WHERE p.subject = term LIMIT 1000) x ORDER BY x.proven_at DESC LIMIT most)
	UNION ALL
	(SELECT 3, 'item', e.id, nothing, nothing, e.created_at, nothing FROM urlmode.elicitation e
	WHERE left(e.item, 512) = term AND e.item IS NOT NULL ORDER BY e.created_at DESC LIMIT most)
	UNION ALL
	(SELECT 3, 'item', p.elicitation, p.provider::text, p.reference::text, p.proven_at, nothing FROM urlmode.payment p
	WHERE left(p.item, 512) = term AND p.item IS NOT NULL ORDER BY p.proven_at DESC LIMIT most)
	UNION ALL
	(SELECT 4, 'reference', p.elicitation, p.provider::text, p.reference::text, p.proven_at, nothing
	FROM unnest(providers) AS k (name)
	CROSS JOIN LATERAL (SELECT * FROM urlmode.payment x WHERE x.provider = k.name AND x.reference = term LIMIT most) p LIMIT most)
	UNION ALL
	(SELECT 4, 'reference', p.elicitation, p.provider::text, p.reference::text, p.proven_at, nothing
	FROM unnest(providers) AS k (name)
	CROSS JOIN LATERAL (SELECT * FROM urlmode.payment_name x WHERE x.provider = k.name AND x.name = term LIMIT most) o
	JOIN urlmode.payment p ON p.provider = o.provider AND p.reference = o.reference LIMIT most)
	UNION ALL
	(SELECT 4, 'reference', i.id, r.provider::text, r.payment::text, r.received_at, nothing
	FROM unnest(providers) AS k (name)
	CROSS JOIN LATERAL (SELECT * FROM urlmode.refund x WHERE x.provider = k.name AND x.reference = term LIMIT most) r
	CROSS JOIN LATERAL unnest(r.elicitations) AS i (id) LIMIT most)
	UNION ALL
	(SELECT 5, 'checkout', e.id, nothing, nothing, e.created_at, nothing
	FROM unnest(providers) AS k (name)
	CROSS JOIN LATERAL (SELECT * FROM urlmode.elicitation x WHERE x.provider = k.name AND x.checkout = term LIMIT most) e LIMIT most)
	UNION ALL
	(SELECT 5, 'checkout', p.elicitation, p.provider::text, p.reference::text, p.proven_at, nothing
	FROM unnest(providers) AS k (name)
	CROSS JOIN LATERAL (SELECT * FROM urlmode.payment x WHERE x.provider = k.name AND x.checkout = term LIMIT most) p LIMIT most)
	UNION ALL
	(SELECT 6, 'request', v.elicitation, nothing, nothing, v.received_at, nothing FROM urlmode.event v
	WHERE v.request COLLATE "C" = lower(term) LIMIT most)
	UNION ALL
	(SELECT 7, 'unknown', u.elicitation, u.provider::text, coalesce(u.reference, u.checkout)::text, u.received_at, u.effect
	FROM urlmode.unknown_event u WHERE u.elicitation = as_id LIMIT most)
	UNION ALL
	(SELECT 7, 'unknown', u.elicitation, u.provider::text, u.reference::text, u.received_at, u.effect
	FROM unnest(providers) AS k (name)
	CROSS JOIN LATERAL (SELECT * FROM urlmode.unknown_event x WHERE x.provider = k.name AND x.reference = term LIMIT most) u LIMIT most)
	UNION ALL
	-- At most urlmode.max_unreadable() of each provider.
	(SELECT 8, 'unreadable', NULL::uuid, u.provider::text, nothing, u.last_seen_at, u.reason
	FROM urlmode.unreadable_delivery u WHERE u.request = lower(term) LIMIT most);
END
$$;
COMMENT ON FUNCTION urlmode.find_rows IS
	'Internal. Where a term is, by each way to find it, at most `most` rows of each, the newest.';

CREATE OR REPLACE FUNCTION urlmode.find_elicitations(term text, most integer)
RETURNS TABLE (
	found_by text, elicitation uuid, provider text, kind text, status text, action text, reason text, subject text, item text,
	tenant text, reference text, amount bigint, currency text, at timestamptz
)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET enable_seqscan = off SET jit = off AS $$
	WITH found AS (
		SELECT DISTINCT ON (coalesce(f.elicitation::text, f.n || f.provider || coalesce(f.reference, '') || f.at)) f.*
		FROM urlmode.find_rows(find_elicitations.term, urlmode.check_most(find_elicitations.most)) f
		WHERE octet_length(find_elicitations.term) BETWEEN 1 AND 800
		-- The way that comes first, and there with the payment.
		ORDER BY coalesce(f.elicitation::text, f.n || f.provider || coalesce(f.reference, '') || f.at), f.n, f.reference NULLS LAST
	)
	SELECT f.found_by, f.elicitation, coalesce(e.provider::text, p.provider::text, f.provider), e.kind::text,
		urlmode.effective_status(e), e.action::text, coalesce(e.reason::text, f.name), coalesce(e.subject::text, p.subject::text),
		coalesce(e.item::text, p.item::text), coalesce(e.tenant::text, p.tenant::text), f.reference,
		coalesce(p.amount, CASE jsonb_typeof(e.expected) WHEN 'object' THEN (e.expected ->> 'amount')::bigint END),
		coalesce(p.currency::text, CASE jsonb_typeof(e.expected) WHEN 'object' THEN e.expected ->> 'currency' END),
		coalesce(e.created_at, f.at)
	FROM found f
	LEFT JOIN urlmode.elicitation e ON e.id = f.elicitation
	LEFT JOIN urlmode.payment p ON p.provider = f.provider AND p.reference = f.reference
	ORDER BY coalesce(e.created_at, f.at) DESC, f.elicitation, f.reference LIMIT find_elicitations.most
$$;
COMMENT ON FUNCTION urlmode.find_elicitations IS
	'The elicitations with this id, subject, item, reference of a payment or a refund, checkout, or '
	'request id of a delivery, the newest first: exactly this text of 1 to 800 bytes. found_by: id, '
	'subject, item, reference, checkout or request; unknown: money for an elicitation that nobody '
	'knows, and unreadable: a delivery that cannot be read, with its reason. kind NULL: it was '
	'purged, and its payment is known. At most `most`, 10001 at most: ask for one more than you show.';

CREATE OR REPLACE FUNCTION urlmode.timeline_of(id uuid, most integer)
RETURNS TABLE (
	at timestamptz, n integer, what text, name text, detail text, provider text, reference text, amount bigint, currency text,
	who text, note text, request text
)
LANGUAGE sql STABLE SET enable_seqscan = off SET jit = off AS $$
	WITH row AS MATERIALIZED (
		SELECT * FROM urlmode.elicitation e WHERE e.id = timeline_of.id
	), payment AS MATERIALIZED (
		SELECT * FROM urlmode.payment p WHERE p.elicitation = timeline_of.id ORDER BY p.proven_at DESC LIMIT most
	)
	SELECT e.created_at, 1, 'created', e.kind::text, CASE jsonb_typeof(e.expected) WHEN 'string' THEN 'any'
			WHEN 'object' THEN coalesce(e.expected ->> 'match', 'exact') END, e.provider::text, e.checkout::text,
		CASE jsonb_typeof(e.expected) WHEN 'object' THEN (e.expected ->> 'amount')::bigint END,
		CASE jsonb_typeof(e.expected) WHEN 'object' THEN e.expected ->> 'currency' END, e.requester::text, NULL::text, NULL::text
	FROM row e
	UNION ALL
	SELECT e.opened_at, 3, 'opened', NULL, NULL, e.provider::text, NULL, NULL, NULL, NULL, NULL, NULL FROM row e WHERE e.opened_at IS NOT NULL
	UNION ALL
	SELECT c.answered_at, 2, 'client', c.answer, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL
	FROM urlmode.asked_client c WHERE c.elicitation = timeline_of.id
	UNION ALL
	(SELECT v.received_at, 4, 'event', v.type, v.action, v.provider, v.reference::text, v.amount, NULL, NULL, NULL, v.request
	FROM urlmode.event v WHERE v.elicitation = timeline_of.id ORDER BY v.received_at DESC LIMIT most)
	UNION ALL
	SELECT r.answered_at, 5, 'rechecked', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL
	FROM urlmode.recheck r WHERE r.elicitation = timeline_of.id AND r.answered_at IS NOT NULL
	UNION ALL
	SELECT p.proven_at, 6, 'paid', CASE WHEN p.matches THEN 'matches' ELSE 'mismatched' END, CASE WHEN p.late THEN 'late' END,
		p.provider::text, p.reference::text, p.amount, p.currency::text, NULL, NULL, NULL
	FROM payment p
	UNION ALL
	(SELECT l.entered_at, 9, CASE l.type WHEN 'released' THEN 'offered' WHEN 'voided' THEN 'not_offered' ELSE l.type END,
		CASE WHEN l.type NOT IN ('held', 'released', 'voided', 'claimed') THEN l.kind END, l.status, l.provider::text,
		CASE WHEN l.kind = 'payment' THEN l.payment ELSE l.reference END::text,
		CASE WHEN l.kind <> 'payment' AND l.type <> 'delivered' THEN l.amount END,
		CASE WHEN l.kind <> 'payment' AND l.type <> 'delivered' THEN l.currency END::text, NULL, NULL, NULL
	-- Each name by itself: with both at once PostgreSQL reads all of the provider.
	FROM payment p CROSS JOIN LATERAL (SELECT p.reference UNION SELECT p.checkout) AS n (name)
	CROSS JOIN LATERAL (
		SELECT * FROM urlmode.ledger x
		WHERE x.provider = p.provider AND x.payment = n.name AND x.type NOT IN ('paid', 'late', 'mismatched')
			AND (x.elicitation IS NULL OR x.elicitation = timeline_of.id)
		ORDER BY x.id DESC LIMIT most
	) l ORDER BY l.id DESC LIMIT most)
	UNION ALL
	-- Of a payment that is not known, so that no entry of the ledger is found by it.
	(SELECT r.received_at, 9, CASE r.kind WHEN 'dispute' THEN 'disputed' ELSE 'refunded' END, r.kind, r.state, r.provider::text, r.reference::text,
		r.amount, r.currency::text, NULL, NULL, NULL
	FROM urlmode.refund r WHERE r.elicitations @> ARRAY[timeline_of.id] AND NOT EXISTS (
		SELECT FROM payment p WHERE p.provider = r.provider AND p.reference = r.payment) ORDER BY r.received_at DESC LIMIT most)
	UNION ALL
	(SELECT d.decided_at, 8, 'decided', d.decision, NULL, d.provider::text, d.reference::text, d.refunded, p.currency::text, d.decided_by, d.note, NULL
	FROM payment p JOIN urlmode.decision d ON d.provider = p.provider AND d.reference = p.reference ORDER BY d.decided_at DESC LIMIT most)
	UNION ALL
	SELECT l.fulfilled_at, 10, 'fulfilled', NULL, NULL, NULL, nullif(l.reference::text, ''), NULL, NULL, NULL, NULL, NULL
	FROM urlmode.lease l WHERE l.elicitation = timeline_of.id AND l.fulfilled_at IS NOT NULL
	UNION ALL
	SELECT t.created_at, 4, 'task', t.state, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL
	FROM urlmode.task t WHERE t.elicitation = timeline_of.id
	UNION ALL
	SELECT e.claimed_at, 11, 'claimed', NULL, NULL, e.provider::text, NULL, NULL, NULL, NULL, NULL, NULL
	FROM row e WHERE e.kind <> 'payment' AND e.claimed_at IS NOT NULL
	UNION ALL
	SELECT e.completed_at, 7, 'ended', e.action::text, e.reason::text, e.provider::text, NULL, NULL, NULL, f.decided_by::text, NULL, NULL
	FROM row e LEFT JOIN urlmode.form f ON f.elicitation = e.id WHERE e.completed_at IS NOT NULL
	UNION ALL
	SELECT e.expires_at, 12, 'expires', NULL, NULL, e.provider::text, NULL, NULL, NULL, NULL, NULL, NULL FROM row e WHERE e.completed_at IS NULL
$$;
COMMENT ON FUNCTION urlmode.timeline_of IS
	'Internal. The rows of show_timeline, in any order. n: the order at one time.';

CREATE OR REPLACE FUNCTION urlmode.show_timeline(id uuid, most integer)
RETURNS TABLE (
	at timestamptz, what text, name text, detail text, provider text, reference text, amount bigint, currency text, who text, note text, request text
)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
	SELECT t.at, t.what, t.name, t.detail, t.provider, t.reference, t.amount, t.currency, t.who, t.note, t.request
	FROM (
		-- What an event has done has the time at which its transaction began, which is a little before that of the event.
		SELECT *, row_number() OVER (ORDER BY x.what = 'created' DESC,
			x.at - CASE x.what WHEN 'event' THEN interval '500 ms' ELSE interval '0' END, x.n, x.reference, x.what) AS place
		FROM urlmode.timeline_of(show_timeline.id, urlmode.check_most(show_timeline.most)) x
		ORDER BY place DESC LIMIT show_timeline.most
	) t
	ORDER BY t.place
$$;
COMMENT ON FUNCTION urlmode.show_timeline IS
	'What became of an elicitation, the oldest first: created (with the price that is expected), '
	'client (what a client has answered), opened, event (what it did is its detail), rechecked, task, '
	'paid, refunded, refund_reversed, disputed, dispute_won, dispute_lost, held, offered, '
	'not_offered, decided (by the operator: who and why), claimed, fulfilled, delivered, ended, '
	'expires. Also of one that was purged, what is known of its payments. At most the newest `most` '
	'rows, 10001 at most.';

CREATE OR REPLACE FUNCTION urlmode.show_provider(provider text)
RETURNS TABLE (
	tenant text, last_delivery_at timestamptz, last_type text, last_action text, last_refused_at timestamptz, last_unknown_at timestamptz
)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET enable_seqscan = off SET jit = off AS $$
	SELECT (SELECT t.tenant::text FROM urlmode.provider_tenant t WHERE t.provider = show_provider.provider), d.at, d.type, d.action,
		(SELECT max(u.last_seen_at) FROM urlmode.unreadable_delivery u WHERE u.provider = show_provider.provider),
		(SELECT max(u.received_at) FROM (
			SELECT * FROM urlmode.unknown_event u WHERE u.provider = show_provider.provider LIMIT 10000) u)
	FROM (SELECT) one
	LEFT JOIN LATERAL (
		SELECT x.* FROM (
			-- OFFSET: by their time alone, because all events of a provider are too many. SELECT: asked once, not for each event.
			(SELECT v.received_at AS at, v.type, v.action
			FROM (SELECT * FROM urlmode.event x WHERE x.received_at >= (SELECT urlmode.counted_until()) OFFSET 0) v
			WHERE v.provider = show_provider.provider ORDER BY v.received_at DESC LIMIT 1)
			UNION ALL
			(SELECT c.last_at, c.type, c.action FROM urlmode.event_count c WHERE c.provider = show_provider.provider
			ORDER BY c.last_at DESC LIMIT 1)
		) x ORDER BY x.at DESC LIMIT 1
	) d ON true
$$;
COMMENT ON FUNCTION urlmode.show_provider IS
	'When a provider has sent something last: of a known elicitation (last_delivery_at, with its type '
	'and what it did; NULL: not in 40 days), what was refused because it cannot be read, and money '
	'for what nobody knows. tenant: the only one that its entry is of. Always one row.';

CREATE OR REPLACE FUNCTION urlmode.count_refusals(provider text)
RETURNS TABLE (reason text, deliveries bigint, times bigint, last_seen_at timestamptz)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET enable_seqscan = off SET jit = off AS $$
	SELECT u.reason, count(*), sum(u.times)::bigint, max(u.last_seen_at)
	FROM urlmode.unreadable_delivery u WHERE u.provider = count_refusals.provider
	GROUP BY u.reason ORDER BY 2 DESC, 1 LIMIT 100
$$;
COMMENT ON FUNCTION urlmode.count_refusals IS
	'The deliveries of a provider whose signature was right and whose content was refused, of the last '
	'thirty days, by the reason, the most first. What has a wrong signature is in the log and the metrics '
	'alone.';

GRANT EXECUTE ON FUNCTION urlmode.known_providers, urlmode.find_elicitations, urlmode.show_timeline, urlmode.show_provider, urlmode.count_refusals
TO :"operator";
