-- What the files of this folder call: the functions that are granted to the roles, each
-- as its role and for one row, with names for what matters in a test and defaults for
-- the rest. An elicitation is named by a small number. Whoever changes the parameters of a
-- function of urlmode changes one place here.

CREATE SCHEMA test;
GRANT USAGE, CREATE ON SCHEMA test TO urlmode_cgi, urlmode_server, urlmode_operator;
SET search_path = test;

CREATE FUNCTION id(n integer) RETURNS uuid LANGUAGE sql IMMUTABLE AS $$
	SELECT lpad(n::text, 32, '0')::uuid
$$;
CREATE FUNCTION n(id uuid) RETURNS integer LANGUAGE sql IMMUTABLE AS $$
	SELECT replace(id::text, '-', '')::numeric::integer
$$;

-- The owner, as lib/PROTOCOL.md says.
CREATE FUNCTION owner(subject text, session text DEFAULT '') RETURNS bytea LANGUAGE sql IMMUTABLE AS $$
	SELECT substring(sha256('urlmode binding v1'::bytea || '\x00' || convert_to(subject, 'UTF8') || '\x00' || convert_to(session, 'UTF8')) FOR 16)
$$;
-- A digest of a word: of what was asked for, or of a browser.
CREATE FUNCTION digest(word text) RETURNS bytea LANGUAGE sql IMMUTABLE AS $$
	SELECT decode(md5(word), 'hex')
$$;
-- What is sealed elsewhere is a word here.
CREATE FUNCTION sealed(word text) RETURNS bytea LANGUAGE sql IMMUTABLE AS $$
	SELECT convert_to(word, 'UTF8')
$$;
CREATE FUNCTION word(sealed bytea) RETURNS text LANGUAGE sql IMMUTABLE AS $$
	SELECT convert_from(sealed, 'UTF8')
$$;
CREATE FUNCTION ms(span interval) RETURNS bigint LANGUAGE sql IMMUTABLE AS $$
	SELECT (extract(epoch FROM span) * 1000)::bigint
$$;

-- Time passes: each time in each table is so much earlier.
CREATE FUNCTION pass(span interval) RETURNS interval LANGUAGE plpgsql SET session_replication_role = replica AS $$
DECLARE
	changes record;
BEGIN
	FOR changes IN
		SELECT a.attrelid::regclass AS of, string_agg(format('%1$I = %1$I - $1', a.attname), ', ') AS sets
		FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid
		WHERE c.relnamespace = 'urlmode'::regnamespace AND c.relkind = 'r' AND a.atttypid = 'timestamptz'::regtype
			AND a.attnum > 0 AND NOT a.attisdropped
		GROUP BY a.attrelid
	LOOP
		EXECUTE format('UPDATE %s SET %s', changes.of, changes.sets) USING span;
	END LOOP;
	RETURN span;
END
$$;

-- Nothing of an earlier file.
CREATE FUNCTION reset() RETURNS void LANGUAGE plpgsql AS $$
DECLARE
	place regclass;
BEGIN
	SET LOCAL session_replication_role = replica;
	FOR place IN SELECT c.oid FROM pg_class c WHERE c.relnamespace = 'urlmode'::regnamespace AND c.relkind = 'r' AND c.relname NOT IN ('migration', 'purge_pass', 'counted') LOOP
		EXECUTE format('DELETE FROM %s', place);
	END LOOP;
	UPDATE urlmode.purge_pass SET since = DEFAULT, expires_at = DEFAULT, id = DEFAULT;
	UPDATE urlmode.counted SET counted_until = now() - interval '2 minutes';
	DELETE FROM test.begun;
	ALTER SEQUENCE test.event_number RESTART;
END
$$;

-- '10.50 EUR': 1050 minor units, and the currency.
CREATE FUNCTION amount(price text) RETURNS bigint LANGUAGE sql IMMUTABLE AS $$
	SELECT (100 * split_part(price, ' ', 1)::numeric)::bigint
$$;
CREATE FUNCTION currency(price text) RETURNS text LANGUAGE sql IMMUTABLE AS $$
	SELECT nullif(split_part(price, ' ', 2), '')
$$;
CREATE FUNCTION price(amount bigint, currency text DEFAULT NULL) RETURNS text LANGUAGE sql IMMUTABLE AS $$
	SELECT concat_ws(' ', to_char(amount / 100.0, 'FM9990.00'), currency) WHERE amount IS NOT NULL
$$;
-- Until a time that is whole minutes away. A machine that is busy lets up to 55 seconds pass between two statements, so
-- that less is left; times of whole seconds are up to one later.
CREATE FUNCTION minutes(span interval) RETURNS integer LANGUAGE sql IMMUTABLE AS $$
	SELECT ceil((extract(epoch FROM span) - 5) / 60)::integer
$$;

-- What an event is called that has no name.
CREATE SEQUENCE event_number;
GRANT USAGE ON SEQUENCE event_number TO urlmode_cgi;
-- The calls that have begun a claim, by the name of the call.
CREATE TABLE begun (call text PRIMARY KEY, fence bigint);
GRANT SELECT, INSERT, UPDATE ON begun TO urlmode_server;

-- As an MCP server ----------------------------------------------------------

CREATE FUNCTION makes(batch jsonb) RETURNS TABLE (outcome text, minutes integer) LANGUAGE sql SECURITY DEFINER AS $$
	SELECT c.outcome, test.minutes(c.expires_at - now())
	FROM (
		SELECT array_agg(test.id(b.n) ORDER BY o) AS ids, array_agg(coalesce(b.provider, 'shop') ORDER BY o) AS providers,
			array_agg(k.kind ORDER BY o) AS kinds, array_agg(coalesce(b.subject, 'ann') ORDER BY o) AS subjects,
			array_agg(coalesce(b.session, '') ORDER BY o) AS sessions,
			array_agg(test.owner(coalesce(b.subject, 'ann'), coalesce(b.session, '')) ORDER BY o) AS bindings,
			array_agg('Example'::text ORDER BY o) AS requesters,
			array_agg(CASE WHEN coalesce(b.target, NOT k.is_form) THEN 'https://provider.example/' || b.n END ORDER BY o) AS target_urls,
			array_agg(CASE WHEN k.kind <> 'payment' OR b.price = 'none' THEN NULL WHEN b.price = 'any' THEN '"any"'::jsonb
				WHEN b.price = 'whatever' THEN '{"match": "checkout"}'
				ELSE CASE WHEN b.match IS NULL THEN '{}'::jsonb ELSE jsonb_build_object('match', b.match) END || jsonb_build_object('amount', test.amount(coalesce(b.price, '10.00 EUR')),
					'currency', test.currency(coalesce(b.price, '10.00 EUR'))) END ORDER BY o) AS expected,
			array_agg(CASE WHEN k.kind = 'oauth' THEN test.sealed('verifier') END ORDER BY o) AS verifiers,
			array_agg(test.ms(coalesce(b.ttl, '5 min')) ORDER BY o) AS ttls, array_agg(coalesce(b.exclusive, false) ORDER BY o) AS exclusive,
			array_agg(b.key ORDER BY o) AS keys, array_agg(b.rechecks ORDER BY o) AS rechecks,
			array_agg(test.digest(b.request) ORDER BY o) AS requests, array_agg(b.checkout ORDER BY o) AS checkouts,
			array_agg(b.kid ORDER BY o) AS kids, array_agg(CASE WHEN coalesce(b.form, k.is_form) THEN test.sealed('form') END ORDER BY o) AS forms,
			array_agg(b.approvers ORDER BY o) AS approvers, array_agg(test.ms(b.verify)::integer ORDER BY o) AS verify_ms,
			array_agg(b.item ORDER BY o) AS items
		FROM jsonb_array_elements(batch) WITH ORDINALITY AS e (element, o)
		CROSS JOIN jsonb_to_record(element) AS b (
			n integer, kind text, subject text, session text, provider text, price text, ttl interval, exclusive boolean, key text,
			rechecks boolean, request text, checkout text, kid smallint, target boolean, form boolean, approvers jsonb, verify interval, item text, match text)
		CROSS JOIN LATERAL (SELECT coalesce(b.kind, 'payment'), coalesce(b.kind, '') IN ('input', 'approval')) AS k (kind, is_form)
	) a
	CROSS JOIN LATERAL urlmode.create_elicitation(
		ids => a.ids, providers => a.providers, kinds => a.kinds, subjects => a.subjects, sessions => a.sessions, bindings => a.bindings,
		requesters => a.requesters, target_urls => a.target_urls, expected => a.expected, verifiers => a.verifiers, ttls_ms => a.ttls,
		exclusive => a.exclusive, resume_keys => a.keys, can_recheck => a.rechecks, requests => a.requests, checkouts => a.checkouts,
		client_ids => ARRAY(SELECT 'client' FROM unnest(a.ids)), link_kids => a.kids, forms => a.forms, approvers => a.approvers, verify_ms => a.verify_ms,
		traceparents => ARRAY(SELECT '00-' || repeat('a', 32) || '-' || repeat('b', 16) || '-01' FROM unnest(a.ids)), items => a.items) c
$$;
-- price: what is to be paid, 'any', 'whatever' the checkout totals, or 'none'.
CREATE FUNCTION make(
	n integer, kind text DEFAULT 'payment', subject text DEFAULT NULL, price text DEFAULT NULL, provider text DEFAULT NULL,
	session text DEFAULT NULL, ttl interval DEFAULT NULL, exclusive boolean DEFAULT NULL, key text DEFAULT NULL,
	rechecks boolean DEFAULT NULL, request text DEFAULT NULL, checkout text DEFAULT NULL, kid integer DEFAULT NULL,
	target boolean DEFAULT NULL, form boolean DEFAULT NULL, approvers jsonb DEFAULT NULL, verify interval DEFAULT NULL, item text DEFAULT NULL,
	match text DEFAULT NULL
)
RETURNS text LANGUAGE sql AS $$
	SELECT m.outcome FROM test.makes(jsonb_build_array(jsonb_strip_nulls(jsonb_build_object(
		'n', n, 'kind', kind, 'subject', subject, 'price', price, 'provider', provider, 'session', session, 'ttl', ttl,
		'exclusive', exclusive, 'key', key, 'rechecks', rechecks, 'request', request, 'checkout', checkout, 'kid', kid,
		'target', target, 'form', form, 'approvers', approvers, 'verify', verify, 'item', item, 'match', match)))) m
$$;
-- Which elicitation a call with this key goes on with, and its status.
CREATE FUNCTION find(
	key text, subject text DEFAULT 'ann', session text DEFAULT '', request text DEFAULT NULL, rechecks boolean DEFAULT NULL
)
RETURNS text LANGUAGE sql SECURITY DEFINER AS $$
	SELECT test.n(r.id) || ' ' || r.status
	FROM urlmode.resume(ARRAY[test.owner(subject, session)], ARRAY[key], ARRAY[rechecks], ARRAY[test.digest(request)]) r
$$;
-- The same for an item, at this price. earlier: the digest by which it is compared with a row that has no item.
CREATE FUNCTION find_item(
	item text, price text DEFAULT '10.00 EUR', subject text DEFAULT 'ann', kind text DEFAULT 'payment', provider text DEFAULT 'shop',
	request text DEFAULT NULL, key text DEFAULT NULL, earlier text DEFAULT NULL, rechecks boolean DEFAULT NULL
)
RETURNS text LANGUAGE sql SECURITY DEFINER AS $$
	SELECT test.n(r.id) || ' ' || r.status
	FROM urlmode.resume_for(ARRAY[test.owner(subject)], ARRAY[provider], ARRAY[kind], ARRAY[key], ARRAY[rechecks], ARRAY[test.digest(request)], ARRAY[item],
		ARRAY[CASE WHEN kind = 'payment' THEN jsonb_build_object('amount', test.amount(price), 'currency', test.currency(price)) END],
		ARRAY[test.digest(earlier)]) r
$$;
-- What a wait is told. from: what a cancel of the server cut off.
CREATE FUNCTION reads(VARIADIC numbers integer[]) RETURNS TABLE (
	n integer, status text, outcome text, result text, paid_by text, refunded text, failed integer, "from" text,
	expires integer, closes integer, rechecks text
) LANGUAGE sql SECURITY DEFINER AS $$
	SELECT test.n(r.id), r.status, concat_ws(' ', r.action, nullif(r.reason, ''), CASE WHEN r.late THEN 'late' END, CASE WHEN r.held THEN '(held)' END),
		test.word(r.result), r.payment_reference, test.price(nullif(r.refunded, 0)), r.failed_attempts, r.completed_from,
		test.minutes(r.expires_in_ms * interval '1 ms'), test.minutes(r.closes_in_ms * interval '1 ms'),
		r.rechecked || '/' || r.rechecks || coalesce(' ' || r.event_type, '') || coalesce(' ' || nullif(array_to_string(r.unproven_references, ' '), ''), '')
	FROM urlmode.read(ARRAY(SELECT test.id(i) FROM unnest(numbers) AS i), ARRAY(SELECT test.owner('ann') FROM unnest(numbers))) r
	ORDER BY r.id
$$;
CREATE FUNCTION expire(VARIADIC numbers integer[]) RETURNS integer[] LANGUAGE sql SECURITY DEFINER AS $$
	SELECT array_agg(test.n(x) ORDER BY x)
	FROM urlmode.expire(ARRAY(SELECT test.id(i) FROM unnest(numbers) AS i), ARRAY(SELECT test.owner('ann') FROM unnest(numbers))) x
$$;
CREATE FUNCTION abandon(n integer, action text DEFAULT 'cancel', reason text DEFAULT 'timeout', subject text DEFAULT 'ann')
RETURNS text LANGUAGE sql SECURITY DEFINER AS $$
	SELECT a.outcome FROM urlmode.abandon(ARRAY[test.id(n)], ARRAY[test.owner(subject)], ARRAY[action], ARRAY[reason]) a
$$;
CREATE FUNCTION settle(
	n integer, action text DEFAULT 'accept', price text DEFAULT NULL, reference text DEFAULT NULL, reason text DEFAULT '',
	result text DEFAULT 'settled', subject text DEFAULT 'ann'
)
RETURNS text LANGUAGE sql SECURITY DEFINER AS $$
	SELECT urlmode.settle(test.id(n), test.owner(subject), action, reason, test.sealed(result), test.amount(price), test.currency(price), reference)
$$;
CREATE FUNCTION take_recheck(n integer, span interval DEFAULT '1 min', subject text DEFAULT 'ann')
RETURNS TABLE (lease integer, rechecks integer, event_type text, refs text[]) LANGUAGE sql SECURITY DEFINER AS $$
	SELECT t.lease, t.rechecks, t.event_type, t.unproven_references
	FROM urlmode.take_recheck(test.id(n), test.owner(subject), test.ms(span)) t
$$;
CREATE FUNCTION end_recheck(n integer, lease integer, rechecks integer, failed boolean DEFAULT false, subject text DEFAULT 'ann')
RETURNS void LANGUAGE sql SECURITY DEFINER AS $$
	SELECT urlmode.end_recheck(test.id(n), test.owner(subject), lease, rechecks, failed)
$$;
-- A client is asked to open a row, and answers.
CREATE FUNCTION asks(n integer, client text, awaited boolean DEFAULT false, subject text DEFAULT 'ann') RETURNS text LANGUAGE sql SECURITY DEFINER AS $$
	SELECT coalesce(nullif(urlmode.begin_ask(test.id(n), test.owner(subject), test.digest(client), awaited), ''), 'ask')
$$;
CREATE FUNCTION answers(n integer, client text, answer text, subject text DEFAULT 'ann') RETURNS void LANGUAGE sql SECURITY DEFINER AS $$
	SELECT urlmode.end_ask(test.id(n), test.owner(subject), test.digest(client), answer)
$$;
-- Tasks are named by small numbers as well.
CREATE FUNCTION task(t integer, n integer, call text DEFAULT 'call', subject text DEFAULT 'ann') RETURNS integer LANGUAGE sql SECURITY DEFINER AS $$
	SELECT test.minutes(c.expires_at - now()) FROM urlmode.create_task(test.id(t), test.owner(subject), test.id(n), test.sealed(call)) c
$$;
CREATE FUNCTION task_of(t integer, subject text DEFAULT 'ann') RETURNS text LANGUAGE sql SECURITY DEFINER AS $$
	SELECT concat_ws(' ', test.n(r.elicitation), test.word(r.call), r.round, r.answered::text, r.state, test.word(r.result), r.withheld, r.status,
		CASE WHEN r.is_due THEN 'due' END, CASE WHEN r.is_leased THEN 'leased' END, CASE WHEN r.is_unread THEN 'unread' END, test.minutes(r.expires_at - now()))
	FROM urlmode.read_task(test.id(t), test.owner(subject)) r
$$;
CREATE FUNCTION task_answer(t integer, key text, round integer DEFAULT 1, subject text DEFAULT 'ann') RETURNS boolean LANGUAGE sql SECURITY DEFINER AS $$
	SELECT urlmode.answer_task_input(test.id(t), test.owner(subject), round, key, test.sealed('answer'))
$$;
CREATE FUNCTION task_begin(t integer, lease integer DEFAULT 0, subject text DEFAULT 'ann') RETURNS integer LANGUAGE sql SECURITY DEFINER AS $$
	SELECT urlmode.begin_task(test.id(t), test.owner(subject), 60000, lease)
$$;
CREATE FUNCTION task_on(t integer, lease integer, n integer DEFAULT NULL, call text DEFAULT NULL, subject text DEFAULT 'ann') RETURNS boolean LANGUAGE sql SECURITY DEFINER AS $$
	SELECT urlmode.continue_task(test.id(t), test.owner(subject), lease, test.id(n), test.sealed(call))
$$;
CREATE FUNCTION task_read(t integer, subject text DEFAULT 'ann') RETURNS boolean LANGUAGE sql SECURITY DEFINER AS $$
	SELECT urlmode.confirm_task(test.id(t), test.owner(subject))
$$;
CREATE FUNCTION task_cancel(t integer, subject text DEFAULT 'ann') RETURNS boolean LANGUAGE sql SECURITY DEFINER AS $$
	SELECT urlmode.cancel_task(test.id(t), test.owner(subject))
$$;
-- Those that a server with a function for these providers takes one after the other.
CREATE FUNCTION due_rechecks(VARIADIC providers text[] DEFAULT '{shop}') RETURNS TABLE (n integer, event_type text, refs text[]) LANGUAGE plpgsql SECURITY DEFINER AS $$
DECLARE
	given record;
BEGIN
	LOOP
		SELECT * INTO given FROM urlmode.begin_recheck_of('', to_jsonb(providers), 60000);
		EXIT WHEN NOT FOUND;
		n := test.n(given.id);
		event_type := given.event_type;
		refs := given.unproven_references;
		RETURN NEXT;
		PERFORM urlmode.end_recheck(given.id, given.binding, given.lease, given.rechecks, false);
	END LOOP;
END
$$;
-- Begins a recheck, and ends it with payments ('p1 10.50 EUR paid', and of which elicitation or checkout) and refunds
-- ('r1 p1 10.50 EUR paid').
CREATE FUNCTION rechecks(
	n integer, payments text[] DEFAULT '{}', refunds text[] DEFAULT '{}', max_age interval DEFAULT '0', subject text DEFAULT 'ann'
)
RETURNS text LANGUAGE plpgsql SECURITY DEFINER AS $$
DECLARE
	given record;
	outcomes text;
BEGIN
	SELECT * INTO given FROM urlmode.begin_recheck(test.id(n), test.owner(subject), 60000, test.ms(max_age));
	IF NOT FOUND THEN
		RETURN 'none';
	END IF;
	SELECT string_agg(concat_ws(' ', a.outcome, a.mismatch), ', ' ORDER BY a.o) INTO outcomes
	FROM ROWS FROM (urlmode.answer_recheck(test.id(n), test.owner(subject), given.lease, given.rechecks, (
			SELECT coalesce(jsonb_agg(jsonb_strip_nulls(jsonb_build_object('reference', split_part(p, ' ', 1), 'amount', test.amount(split_part(p, ' ', 2)),
				'currency', split_part(p, ' ', 3), 'status', split_part(p, ' ', 4), 'result', replace(encode(test.sealed(split_part(p, ' ', 1)), 'base64'), E'\n', ''), 'elicitation_id', test.id(nullif(split_part(p, ' ', 5), '')::integer),
				'checkout', nullif(split_part(p, ' ', 6), ''))) ORDER BY o), '[]')
			FROM unnest(payments) WITH ORDINALITY AS x (p, o)
		), (
			SELECT coalesce(jsonb_agg(jsonb_strip_nulls(jsonb_build_object('reference', split_part(r, ' ', 1), 'payment', split_part(r, ' ', 2),
				'amount', test.amount(split_part(r, ' ', 3)), 'currency', split_part(r, ' ', 4), 'status', split_part(r, ' ', 5),
				'elicitation_id', test.id(nullif(split_part(r, ' ', 6), '')::integer), 'checkout', nullif(split_part(r, ' ', 7), ''))) ORDER BY o), '[]')
			FROM unnest(refunds) WITH ORDINALITY AS x (r, o)
		)
	)) WITH ORDINALITY AS a (outcome, mismatch, o);
	RETURN coalesce(outcomes, 'nothing');
END
$$;
-- As rechecks takes them.
CREATE FUNCTION reconciles(payments text[] DEFAULT '{}', refunds text[] DEFAULT '{}', since interval DEFAULT '1 hour', tenant text DEFAULT '')
RETURNS TABLE (what text, kind text, reference text, payment text, n integer, here text, there text) LANGUAGE sql SECURITY DEFINER AS $$
	SELECT r.what, r.kind, r.reference, r.payment, test.n(r.elicitation), test.price(r.amount, r.currency), test.price(r.their_amount, r.their_currency)
	FROM urlmode.reconcile('shop', now() - since, now() + interval '1 minute', (
			SELECT coalesce(jsonb_agg(jsonb_strip_nulls(jsonb_build_object('reference', split_part(p, ' ', 1), 'amount', test.amount(split_part(p, ' ', 2)),
				'currency', split_part(p, ' ', 3), 'status', split_part(p, ' ', 4), 'elicitation_id', test.id(nullif(split_part(p, ' ', 5), '')::integer),
				'checkout', nullif(split_part(p, ' ', 6), '')))), '[]') FROM unnest(payments) AS p
		), (
			SELECT coalesce(jsonb_agg(jsonb_build_object('reference', split_part(r, ' ', 1), 'payment', split_part(r, ' ', 2),
				'amount', test.amount(split_part(r, ' ', 3)), 'currency', split_part(r, ' ', 4), 'status', split_part(r, ' ', 5))), '[]') FROM unnest(refunds) AS r
		), tenant) r
$$;
CREATE FUNCTION claim(
	n integer, reference text DEFAULT NULL, action text DEFAULT 'accept', held boolean DEFAULT false, subject text DEFAULT 'ann',
	max_age interval DEFAULT NULL
)
RETURNS text LANGUAGE sql SECURITY DEFINER AS $$
	SELECT concat_ws(' ', c.outcome, test.minutes(c.leased_ms * interval '1 ms'))
	FROM urlmode.claim_at_once(test.id(n), test.owner(subject), reference, action => action, held => held, recheck_ms => test.ms(max_age)) c
$$;
-- call: its name, for what follows. claim: the name of the claim. listed: any payment that unclaimed lists.
CREATE FUNCTION begins(
	call text, n integer, reference text DEFAULT NULL, lease interval DEFAULT '1 min', subject text DEFAULT 'ann', claim integer DEFAULT NULL,
	listed boolean DEFAULT NULL, max_age interval DEFAULT NULL
)
RETURNS TABLE (outcome text, of text, is_greater boolean, fulfilled text, minutes integer) LANGUAGE plpgsql SECURITY DEFINER AS $$
DECLARE
	given record;
BEGIN
	SELECT * INTO given FROM urlmode.begin_lease(test.id(n), test.owner(subject), reference, test.ms(lease), claim_id => test.id(claim),
		any_payment => coalesce(listed, false), recheck_ms => test.ms(max_age));
	outcome := given.outcome;
	of := given.claimed_reference;
	is_greater := given.fence > (SELECT max(b.fence) FROM test.begun b WHERE b.call <> begins.call);
	fulfilled := test.word(given.fulfilled);
	minutes := test.minutes(given.leased_ms * interval '1 ms');
	INSERT INTO test.begun AS b VALUES (begins.call, given.fence) ON CONFLICT ON CONSTRAINT begun_pkey DO UPDATE SET fence = EXCLUDED.fence;
	RETURN NEXT;
END
$$;
CREATE FUNCTION fence(call text) RETURNS bigint LANGUAGE sql STABLE AS $$
	SELECT b.fence FROM test.begun b WHERE b.call = fence.call
$$;
-- call: the claim that its result was made of.
CREATE FUNCTION task_end(
	t integer, lease integer, subject text DEFAULT 'ann', call text DEFAULT NULL, n integer DEFAULT NULL, keep interval DEFAULT '10 min'
)
RETURNS boolean LANGUAGE sql SECURITY DEFINER AS $$
	SELECT urlmode.end_task(test.id(t), test.owner(subject), lease, test.sealed('result'),
		array_remove(ARRAY[test.id(n)], NULL), array_remove(ARRAY[test.fence(call)], NULL), test.ms(keep))
$$;
CREATE FUNCTION renews(call text, n integer, lease interval DEFAULT '1 min', subject text DEFAULT 'ann') RETURNS text LANGUAGE sql SECURITY DEFINER AS $$
	SELECT urlmode.renew_lease(test.id(n), test.owner(subject), test.fence(call), test.ms(lease))
$$;
CREATE FUNCTION goes_on(call text, n integer, round text, lease interval DEFAULT '1 min', subject text DEFAULT 'ann')
RETURNS TABLE (outcome text, of text, is_greater boolean)
LANGUAGE plpgsql SECURITY DEFINER AS $$
DECLARE
	given record;
BEGIN
	SELECT * INTO given FROM urlmode.continue_lease(test.id(n), test.owner(subject), test.fence(call), test.ms(lease));
	outcome := given.outcome;
	of := given.claimed_reference;
	is_greater := given.next_fence > test.fence(call);
	INSERT INTO test.begun SELECT round, given.next_fence WHERE given.next_fence IS NOT NULL;
	RETURN NEXT;
END
$$;
CREATE FUNCTION fulfils(
	call text, n integer, returned text DEFAULT 'done', subject text DEFAULT 'ann', "end" text DEFAULT NULL, refund text DEFAULT NULL
)
RETURNS text LANGUAGE sql SECURITY DEFINER AS $$
	SELECT urlmode.fulfil_lease(test.id(n), test.owner(subject), test.fence(call), test.sealed(returned), fulfils."end", fulfils.refund)
$$;
CREATE FUNCTION confirms(call text, n integer, subject text DEFAULT 'ann') RETURNS boolean LANGUAGE sql SECURITY DEFINER AS $$
	SELECT urlmode.confirm_claim(test.id(n), test.owner(subject), test.fence(call))
$$;
CREATE FUNCTION releases(call text, n integer, subject text DEFAULT 'ann') RETURNS boolean LANGUAGE sql SECURITY DEFINER AS $$
	SELECT urlmode.release_claim(test.id(n), test.owner(subject), test.fence(call))
$$;
CREATE FUNCTION exchanged(n integer, reason text DEFAULT '', subject text DEFAULT 'ann') RETURNS boolean LANGUAGE sql SECURITY DEFINER AS $$
	SELECT urlmode.end_exchange(test.id(n), test.owner(subject), reason)
$$;
CREATE FUNCTION unsent(n integer, claim integer, subject text DEFAULT 'ann') RETURNS boolean LANGUAGE sql SECURITY DEFINER AS $$
	SELECT urlmode.release_unsent(test.id(n), test.owner(subject), test.id(claim))
$$;
CREATE FUNCTION exchange(n integer, subject text DEFAULT 'ann') RETURNS text LANGUAGE sql SECURITY DEFINER AS $$
	SELECT urlmode.read_exchange(test.id(n), test.owner(subject))
$$;
CREATE FUNCTION unclaimed(provider text DEFAULT NULL, since interval DEFAULT NULL, of_one integer DEFAULT NULL)
RETURNS TABLE (n integer, reference text, paid text, flags text, refunded text, owner text, outcome text, result text)
LANGUAGE sql SECURITY DEFINER AS $$
	SELECT test.n(u.elicitation), u.reference, test.price(u.amount, u.currency),
		concat_ws(' ', CASE WHEN NOT u.matches THEN 'mismatch' END, CASE WHEN u.late THEN 'late' END, CASE WHEN u.held THEN 'held' END),
		test.price(nullif(u.refunded, 0)), concat_ws(' ', u.subject, nullif(u.session, ''), u.resume_key), concat_ws(' ', u.action, nullif(u.reason, '')),
		test.word(u.result)
	FROM urlmode.unclaimed(unclaimed.provider, now() - unclaimed.since, test.id(of_one)) u
$$;
CREATE FUNCTION undelivered(provider text DEFAULT NULL, since interval DEFAULT NULL, of_one integer DEFAULT NULL, tenant text DEFAULT '')
RETURNS TABLE (n integer, kind text, reference text, paid text, flags text, owner text) LANGUAGE sql SECURITY DEFINER AS $$
	SELECT test.n(u.elicitation), u.kind, u.reference, test.price(u.amount, u.currency),
		concat_ws(' ', CASE WHEN u.has_result THEN 'kept' END, CASE WHEN u.given_at IS NOT NULL THEN 'given' END, CASE WHEN u.held THEN 'held' END),
		concat_ws(' ', u.subject, nullif(u.session, ''), u.resume_key)
	FROM urlmode.undelivered_of(undelivered.tenant, undelivered.provider, now() - undelivered.since, test.id(of_one)) u
$$;
CREATE FUNCTION refunds(provider text DEFAULT NULL, since interval DEFAULT NULL, of_one integer DEFAULT NULL, tenant text DEFAULT '')
RETURNS TABLE (n integer, reference text, amount text, reversed text, payment text, refunded text, flags text, owner text)
LANGUAGE sql SECURITY DEFINER AS $$
	SELECT test.n(r.elicitation), r.reference, test.price(r.amount, r.currency), test.price(nullif(r.reversed, 0)), r.payment || ' ' || test.price(r.paid),
		test.price(nullif(r.refunded, 0)), concat_ws(' ', CASE WHEN r.held THEN 'held' END, CASE WHEN r.claimed THEN 'claimed' END),
		concat_ws(' ', r.subject, nullif(r.session, ''), r.resume_key)
	FROM urlmode.refunds_with_item(refunds.tenant, refunds.provider, now() - refunds.since, test.id(of_one)) r
$$;
-- An instance reads for a consumer: its name, for what follows. many: how many entries it acknowledges.
CREATE FUNCTION follow(instance text, consumer text DEFAULT 'books', lease interval DEFAULT '1 min', tenant text DEFAULT '') RETURNS text LANGUAGE plpgsql SECURITY DEFINER AS $$
DECLARE
	given record;
BEGIN
	SELECT * INTO given FROM urlmode.begin_ledger(consumer, test.ms(lease), tenant);
	IF given.lease IS NULL THEN
		RETURN 'read by another for ' || test.minutes(given.wait_ms * interval '1 ms');
	END IF;
	INSERT INTO test.begun AS b VALUES (instance, given.lease) ON CONFLICT ON CONSTRAINT begun_pkey DO UPDATE SET fence = EXCLUDED.fence;
	RETURN 'begun';
END
$$;
CREATE FUNCTION entries(instance text, most integer DEFAULT 100, consumer text DEFAULT 'books', tenant text DEFAULT '')
RETURNS TABLE (type text, kind text, n integer, payment text, reference text, checkout text, amount text, refunded text, owner text, status text) LANGUAGE sql SECURITY DEFINER AS $$
	SELECT r.entry_type, r.kind, test.n(r.elicitation), r.payment, r.reference, r.checkout, test.price(r.amount, r.currency), test.price(nullif(r.refunded, 0)),
		concat_ws(' ', r.subject, r.item), concat_ws(' ', r.status, r.occurred_at, r.evidence_due_at)
	FROM urlmode.read_ledger(consumer, test.fence(instance), most, tenant) r ORDER BY r.number
$$;
CREATE FUNCTION acknowledges(instance text, many integer, consumer text DEFAULT 'books', lease interval DEFAULT '1 min', tenant text DEFAULT '') RETURNS boolean LANGUAGE sql SECURITY DEFINER AS $$
	SELECT urlmode.acknowledge_ledger(consumer, test.fence(instance), (
		SELECT max(x.number) FROM (SELECT r.number FROM urlmode.read_ledger(consumer, test.fence(instance), tenant => tenant) r ORDER BY r.number LIMIT many) x
	), test.ms(lease), tenant)
$$;
CREATE FUNCTION leaves(instance text, consumer text DEFAULT 'books', tenant text DEFAULT '') RETURNS boolean LANGUAGE sql SECURITY DEFINER AS $$
	SELECT urlmode.end_ledger(consumer, test.fence(instance), tenant)
$$;
CREATE FUNCTION paid(subject text, item text, since interval DEFAULT NULL, tenant text DEFAULT '') RETURNS boolean LANGUAGE sql SECURITY DEFINER AS $$
	SELECT urlmode.paid(subject, item, now() - since, tenant)
$$;
CREATE FUNCTION delivered(subject text, item text, since interval DEFAULT NULL, tenant text DEFAULT '') RETURNS boolean LANGUAGE sql SECURITY DEFINER AS $$
	SELECT urlmode.delivered(subject, item, now() - since, tenant)
$$;
CREATE FUNCTION mark_read(n integer, keep interval DEFAULT '10 min', subject text DEFAULT 'ann') RETURNS void LANGUAGE sql SECURITY DEFINER AS $$
	SELECT urlmode.mark_read(ARRAY[test.id(n)], ARRAY[test.owner(subject)], test.ms(keep))
$$;
-- As long as there is something. keep: of what nobody claims.
CREATE FUNCTION purge_results(keep interval DEFAULT '30 days') RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER AS $$
DECLARE
	taken bigint;
	total bigint := 0;
BEGIN
	FOR turn IN 1 .. 20 LOOP
		taken := urlmode.purge_results(test.ms(keep));
		EXIT WHEN taken = 0;
		total := total + taken;
	END LOOP;
	RETURN total;
END
$$;
CREATE FUNCTION take_check(n integer, subject text DEFAULT 'ann') RETURNS TABLE (lease integer, result text, minutes integer) LANGUAGE sql SECURITY DEFINER AS $$
	SELECT t.lease, test.word(t.result), test.minutes(t.left_ms * interval '1 ms') FROM urlmode.take_check(test.id(n), test.owner(subject)) t
$$;
CREATE FUNCTION end_check(
	n integer, lease integer, problem text DEFAULT NULL, failed boolean DEFAULT false, outcome text DEFAULT NULL, subject text DEFAULT 'ann'
)
RETURNS text LANGUAGE sql SECURITY DEFINER AS $$
	SELECT urlmode.end_check(test.id(n), test.owner(subject), lease, test.sealed(problem), failed, test.sealed(outcome))
$$;
DO $$
DECLARE
	name text;
BEGIN
	FOR name IN SELECT p.oid::regprocedure FROM pg_proc p WHERE p.pronamespace = 'test'::regnamespace AND p.prosecdef LOOP
		EXECUTE format('ALTER FUNCTION %s OWNER TO urlmode_server', name);
	END LOOP;
END
$$;

-- As a callback program -----------------------------------------------------

CREATE FUNCTION opens(batch jsonb) RETURNS TABLE (outcome text, kind text, target text, minutes integer, binding boolean) LANGUAGE sql SECURITY DEFINER AS $$
	SELECT o.outcome, o.kind, o.target_url, test.minutes(to_timestamp(o.expires) - now()), o.binding IS NOT NULL
	FROM (
		SELECT array_agg(test.id(b.n) ORDER BY o) AS ids, array_agg(coalesce(b.provider, 'shop') ORDER BY o) AS providers,
			array_agg(test.digest(coalesce(b.browser, 'browser')) ORDER BY o) AS browsers, array_agg(b.subject ORDER BY o) AS subjects,
			array_agg(test.ms(b.grace) ORDER BY o) AS graces, array_agg(b.kind ORDER BY o) AS kinds
		FROM jsonb_array_elements(batch) WITH ORDINALITY AS e (element, o)
		CROSS JOIN jsonb_to_record(element) AS b (n integer, provider text, browser text, subject text, grace interval, kind text)
	) a
	CROSS JOIN LATERAL urlmode.open_link(a.ids, a.providers, a.browsers, a.subjects, a.graces, a.kinds) o
$$;
-- kind: of the provider's entry.
CREATE FUNCTION open(
	n integer, browser text DEFAULT NULL, subject text DEFAULT NULL, grace interval DEFAULT NULL, provider text DEFAULT NULL, kind text DEFAULT NULL
)
RETURNS text LANGUAGE sql AS $$
	SELECT o.outcome FROM test.opens(jsonb_build_array(jsonb_build_object(
		'n', n, 'browser', browser, 'subject', subject, 'grace', grace, 'provider', provider, 'kind', kind))) o
$$;
-- for: whom the state token is of. subject: the user of the browser, if known.
CREATE FUNCTION completes(batch jsonb) RETURNS SETOF text LANGUAGE sql SECURITY DEFINER AS $$
	SELECT c.outcome
	FROM (
		SELECT array_agg(test.id(b.n) ORDER BY o) AS ids, array_agg(test.owner(coalesce(b."for", 'ann')) ORDER BY o) AS bindings,
			array_agg(coalesce(b.provider, 'shop') ORDER BY o) AS providers, array_agg(nullif(coalesce(b.action, 'accept'), 'none') ORDER BY o) AS actions,
			array_agg(nullif(coalesce(b.reason, ''), 'none') ORDER BY o) AS reasons, array_agg(test.sealed(coalesce(b.result, 'code')) ORDER BY o) AS results,
			array_agg(b.subject ORDER BY o) AS subjects, array_agg(test.sealed(b.outcome) ORDER BY o) AS outcomes
		FROM jsonb_array_elements(batch) WITH ORDINALITY AS e (element, o)
		CROSS JOIN jsonb_to_record(element) AS b (
			n integer, "for" text, provider text, action text, reason text, result text, subject text, outcome text)
	) a
	CROSS JOIN LATERAL urlmode.complete(a.ids, a.bindings, a.providers, a.actions, a.reasons, a.results, a.subjects, a.outcomes) c
$$;
CREATE FUNCTION complete(n integer, action text DEFAULT NULL, reason text DEFAULT NULL, subject text DEFAULT NULL, outcome text DEFAULT NULL)
RETURNS text LANGUAGE sql AS $$
	SELECT test.completes(jsonb_build_array(jsonb_build_object('n', n, 'action', action, 'reason', reason, 'subject', subject, 'outcome', outcome)))
$$;
-- What a page shows.
CREATE FUNCTION page(n integer, subject text DEFAULT 'ann', provider text DEFAULT 'shop')
RETURNS TABLE (outcome text, how text, late boolean, failed integer, price text, requester text, user_name text) LANGUAGE sql SECURITY DEFINER AS $$
	SELECT l.outcome, concat_ws(' ', l.action, nullif(l.reason, '')), l.late, l.failed_attempts, test.price(l.amount, l.currency), l.requester, l.subject
	FROM urlmode.look_up(ARRAY[test.id(n)], ARRAY[test.owner(page.subject)], ARRAY[page.provider]) l
$$;
CREATE FUNCTION events(batch jsonb) RETURNS TABLE (outcome text, mismatch text, of integer) LANGUAGE sql SECURITY DEFINER AS $$
	SELECT r.outcome, r.mismatch, test.n(r.elicitation)
	FROM (
		SELECT array_agg(test.id(b.n) ORDER BY o) AS ids, array_agg(coalesce(b.provider, 'shop') ORDER BY o) AS providers,
			array_agg(coalesce(b.identity, 'event ' || nextval('test.event_number')) ORDER BY o) AS identities,
			array_agg(coalesce(b.type, 'type.' || b.effect) ORDER BY o) AS types, array_agg(b.effect ORDER BY o) AS effects,
			array_agg(test.amount(b.price) ORDER BY o) AS amounts, array_agg(test.currency(b.price) ORDER BY o) AS currencies,
			array_agg(b.ref ORDER BY o) AS refs,
			array_agg(CASE WHEN b.effect IN ('paid', 'accepted') THEN test.sealed(nullif(coalesce(b.result, 'result'), 'none')) END ORDER BY o) AS results,
			array_agg(test.sealed(b.outcome) ORDER BY o) AS outcomes, array_agg(b.refund ORDER BY o) AS refunds,
			array_agg(b.checkout ORDER BY o) AS checkouts, array_agg(b.request ORDER BY o) AS requests, array_agg(b.kind ORDER BY o) AS kinds,
			array_agg(b.details ORDER BY o) AS details
		FROM jsonb_array_elements(batch) WITH ORDINALITY AS e (element, o)
		CROSS JOIN jsonb_to_record(element) AS b (
			n integer, provider text, identity text, type text, effect text, price text, ref text, result text, outcome text, refund text,
			checkout text, request text, kind text, details jsonb)
	) a
	CROSS JOIN LATERAL urlmode.receive_events(
		ids => a.ids, providers => a.providers, identities => a.identities, types => a.types, effects => a.effects, amounts => a.amounts,
		currencies => a.currencies, refs => a.refs, results => a.results, outcomes => a.outcomes, refunds => a.refunds,
		checkouts => a.checkouts, requests => a.requests, kinds => a.kinds, details => a.details) r
$$;
-- n: NULL for an event that names no elicitation.
CREATE FUNCTION event(
	n integer, effect text, price text DEFAULT NULL, ref text DEFAULT NULL, refund text DEFAULT NULL, checkout text DEFAULT NULL,
	identity text DEFAULT NULL, type text DEFAULT NULL, result text DEFAULT NULL, outcome text DEFAULT NULL, provider text DEFAULT NULL,
	request text DEFAULT NULL, kind text DEFAULT NULL, details jsonb DEFAULT NULL
)
RETURNS text LANGUAGE sql AS $$
	SELECT concat_ws(': ', e.outcome, e.mismatch) FROM test.events(jsonb_build_array(jsonb_build_object(
		'n', n, 'effect', effect, 'price', price, 'ref', ref, 'refund', refund, 'checkout', checkout, 'identity', identity, 'type', type,
		'result', result, 'outcome', outcome, 'provider', provider, 'request', request, 'kind', kind, 'details', details))) e
$$;
-- A payment. What is not said is as expected.
CREATE FUNCTION pay(
	n integer, ref text DEFAULT NULL, price text DEFAULT '10.00 EUR', checkout text DEFAULT NULL, identity text DEFAULT NULL,
	result text DEFAULT NULL, outcome text DEFAULT NULL, provider text DEFAULT NULL, kind text DEFAULT NULL
)
RETURNS text LANGUAGE sql AS $$
	SELECT test.event(n, 'paid', price, ref, checkout => checkout, identity => identity, result => result, outcome => outcome, provider => provider, kind => kind)
$$;
-- A document was signed.
CREATE FUNCTION sign(n integer, result text DEFAULT NULL, outcome text DEFAULT NULL) RETURNS text LANGUAGE sql AS $$
	SELECT test.event(n, 'accepted', result => result, outcome => outcome)
$$;
-- What goes back, and what comes again. refund: its own name; without one the price is the total that went back.
CREATE FUNCTION back(n integer, price text, ref text DEFAULT NULL, refund text DEFAULT NULL, kind text DEFAULT NULL) RETURNS text LANGUAGE sql AS $$
	SELECT test.event(n, 'refunded', price, ref, refund, kind => kind)
$$;
CREATE FUNCTION again(n integer, price text, ref text DEFAULT NULL, refund text DEFAULT NULL) RETURNS text LANGUAGE sql AS $$
	SELECT test.event(n, 'refund_reversed', price, ref, refund)
$$;
-- What the provider says of a refund or dispute of 10.00 EUR at a second of its own time.
CREATE FUNCTION told(
	n integer, effect text, ref text, refund text, second integer, kind text DEFAULT 'dispute', state text DEFAULT NULL,
	due integer DEFAULT NULL, price text DEFAULT '10.00 EUR'
)
RETURNS text LANGUAGE sql AS $$
	SELECT test.event(n, effect, price, ref, refund, details => jsonb_strip_nulls(jsonb_build_object(
		'occurred_at', second, 'kind', nullif(kind, 'refund'), 'state', state, 'evidence_due_at', due)))
$$;
-- Deliveries that cannot be read; body: one with the same is the same delivery.
CREATE FUNCTION unreadables(batch jsonb) RETURNS bigint LANGUAGE sql SECURITY DEFINER AS $$
	SELECT count(r.recorded) FILTER (WHERE r.recorded)
	FROM (
		SELECT array_agg(coalesce(b.provider, 'shop') ORDER BY o) AS providers, array_agg(test.digest(b.body) ORDER BY o) AS digests,
			array_agg('body_malformed'::text ORDER BY o) AS reasons, array_agg(coalesce(b.place, '/type') ORDER BY o) AS places,
			array_agg(coalesce(b.request, 'request') ORDER BY o) AS requests
		FROM jsonb_array_elements(batch) WITH ORDINALITY AS e (element, o)
		CROSS JOIN jsonb_to_record(element) AS b (provider text, body text, place text, request text)
	) a
	CROSS JOIN LATERAL urlmode.record_unreadable(a.providers, a.digests, a.reasons, a.places, a.requests) r
$$;
CREATE FUNCTION unreadable(body text, place text DEFAULT NULL, request text DEFAULT NULL, provider text DEFAULT NULL) RETURNS bigint LANGUAGE sql AS $$
	SELECT test.unreadables(jsonb_build_array(jsonb_build_object('body', body, 'place', place, 'request', request, 'provider', provider)))
$$;
CREATE FUNCTION opens_form(batch jsonb) RETURNS TABLE (outcome text, minutes integer, binding boolean) LANGUAGE sql SECURITY DEFINER AS $$
	SELECT f.outcome, test.minutes(to_timestamp(f.expires) - now()), f.binding IS NOT NULL
	FROM (
		SELECT array_agg(test.id(b.n) ORDER BY o) AS ids, array_agg(coalesce(b.provider, 'shop') ORDER BY o) AS providers,
			array_agg(coalesce(b.kind, 'input') ORDER BY o) AS kinds, array_agg(test.digest(nullif(coalesce(b.browser, 'browser'), 'none')) ORDER BY o) AS browsers,
			array_agg(nullif(coalesce(b."user", 'ann'), 'none') ORDER BY o) AS users, array_agg(coalesce(b.four_eyes, false) ORDER BY o) AS four_eyes
		FROM jsonb_array_elements(batch) WITH ORDINALITY AS e (element, o)
		CROSS JOIN jsonb_to_record(element) AS b (n integer, provider text, kind text, browser text, "user" text, four_eyes boolean)
	) a
	CROSS JOIN LATERAL urlmode.open_form(a.ids, a.providers, a.kinds, a.browsers, a.users, a.four_eyes) f
$$;
-- "user", browser: 'none' for one that is not known.
CREATE FUNCTION open_form(n integer, "user" text DEFAULT 'ann', kind text DEFAULT 'input', browser text DEFAULT 'browser', four_eyes boolean DEFAULT false)
RETURNS text LANGUAGE sql AS $$
	SELECT f.outcome FROM test.opens_form(jsonb_build_array(jsonb_build_object(
		'n', n, 'user', "user", 'kind', kind, 'browser', browser, 'four_eyes', four_eyes))) f
$$;
CREATE FUNCTION form_page(n integer, "user" text DEFAULT 'ann', kind text DEFAULT 'input', four_eyes boolean DEFAULT false, subject text DEFAULT 'ann')
RETURNS TABLE (outcome text, how text, shows text, unchecked boolean, decided_by text) LANGUAGE sql SECURITY DEFINER AS $$
	SELECT f.outcome, concat_ws(' ', f.action, nullif(f.reason, '')),
		concat_ws(', ', test.word(f.form), test.word(f.problem), test.word(f.typed)), f.unchecked, f.decided_by
	FROM urlmode.look_up_form(ARRAY[test.id(n)], ARRAY[test.owner(form_page.subject)], ARRAY['shop'], ARRAY[kind], ARRAY[nullif("user", 'none')], ARRAY[four_eyes]) f
$$;
CREATE FUNCTION answers(batch jsonb) RETURNS SETOF text LANGUAGE sql SECURITY DEFINER AS $$
	SELECT f.outcome
	FROM (
		SELECT array_agg(test.id(b.n) ORDER BY o) AS ids, array_agg(test.owner(coalesce(b.subject, 'ann')) ORDER BY o) AS bindings,
			array_agg(coalesce(b.provider, 'shop') ORDER BY o) AS providers, array_agg(coalesce(b.kind, 'input') ORDER BY o) AS kinds,
			array_agg(test.digest(coalesce(b.browser, 'browser')) ORDER BY o) AS browsers,
			array_agg(nullif(coalesce(b."user", 'ann'), 'none') ORDER BY o) AS users, array_agg(coalesce(b.four_eyes, false) ORDER BY o) AS four_eyes,
			array_agg(coalesce(b.action, 'accept') ORDER BY o) AS actions, array_agg(nullif(coalesce(b.reason, ''), 'none') ORDER BY o) AS reasons,
			array_agg(test.sealed(coalesce(b.result, 'value')) ORDER BY o) AS results, array_agg(test.sealed(b.outcome) ORDER BY o) AS outcomes,
			array_agg(test.sealed(coalesce(b.shown, 'typed')) ORDER BY o) AS shown, array_agg(b.note ORDER BY o) AS notes
		FROM jsonb_array_elements(batch) WITH ORDINALITY AS e (element, o)
		CROSS JOIN jsonb_to_record(element) AS b (
			n integer, subject text, provider text, kind text, browser text, "user" text, four_eyes boolean, action text, reason text,
			result text, outcome text, shown text, note text)
	) a
	CROSS JOIN LATERAL urlmode.answer_form_noted(a.ids, a.bindings, a.providers, a.kinds, a.browsers, a.users, a.four_eyes, a.actions, a.reasons,
		a.results, a.outcomes, a.shown, a.notes) f
$$;
CREATE FUNCTION answer(
	n integer, "user" text DEFAULT 'ann', kind text DEFAULT 'input', action text DEFAULT 'accept', reason text DEFAULT '', result text DEFAULT 'value',
	shown text DEFAULT 'typed', four_eyes boolean DEFAULT false, outcome text DEFAULT NULL, subject text DEFAULT 'ann'
)
RETURNS text LANGUAGE sql AS $$
	SELECT test.answers(jsonb_build_array(jsonb_build_object('n', n, 'user', "user", 'kind', kind, 'action', action, 'reason', reason,
		'result', result, 'shown', shown, 'four_eyes', four_eyes, 'outcome', outcome, 'subject', subject)))
$$;
DO $$
DECLARE
	name text;
BEGIN
	FOR name IN SELECT p.oid::regprocedure FROM pg_proc p WHERE p.pronamespace = 'test'::regnamespace AND p.prosecdef AND p.proowner <> 'urlmode_server'::regrole LOOP
		EXECUTE format('ALTER FUNCTION %s OWNER TO urlmode_cgi', name);
	END LOOP;
END
$$;

-- As the operator -----------------------------------------------------------

-- How far an elicitation is, and what was paid for it.
CREATE FUNCTION shows(VARIADIC numbers integer[]) RETURNS TABLE (n integer, state text, payments text) LANGUAGE sql SECURITY DEFINER AS $$
	SELECT i, nullif(concat_ws(' ', e.status, e.action, nullif(e.reason, '')), ''), (
		SELECT string_agg(concat_ws(' ', p.reference, test.price(p.amount, p.currency), CASE WHEN NOT p.matches THEN 'mismatch' END,
			CASE WHEN p.late THEN 'late' END, 'refunded ' || test.price(nullif(p.refunded, 0)), CASE WHEN p.held THEN 'held' END,
			CASE WHEN p.refunded_at IS NOT NULL THEN 'gone' END, CASE WHEN p.leased_until > now() THEN 'leased' END,
			CASE WHEN p.fulfilled_at IS NOT NULL THEN 'fulfilled' END, CASE WHEN p.claimed_at IS NOT NULL THEN 'claimed' END), ', ' ORDER BY p.proven_at, p.reference)
		FROM urlmode.show_payments(test.id(i)) p)
	FROM unnest(numbers) AS i LEFT JOIN LATERAL urlmode.show_elicitation(test.id(i)) e ON true
	ORDER BY i
$$;
CREATE FUNCTION state(n integer) RETURNS text LANGUAGE sql AS $$
	SELECT s.state FROM test.shows(n) s
$$;
CREATE FUNCTION payments(n integer) RETURNS text LANGUAGE sql AS $$
	SELECT s.payments FROM test.shows(n) s
$$;
-- The events that were kept: what they did, their reference and amount.
CREATE FUNCTION kept_events(n integer) RETURNS text LANGUAGE sql SECURITY DEFINER AS $$
	SELECT string_agg(concat_ws(' ', e.action, e.reference, test.price(e.amount)), ', ' ORDER BY e.received_at, e.identity) FROM urlmode.show_events(test.id(n)) e
$$;
-- Why it is not clear how much of a payment went back.
CREATE FUNCTION unclear(n integer) RETURNS TABLE (reference text, payment text, amount text, reversed text, unclear text) LANGUAGE sql SECURITY DEFINER AS $$
	SELECT r.reference, r.payment, test.price(r.amount, r.currency), coalesce(test.price(r.reversed), CASE WHEN r.reversed_at IS NOT NULL THEN 'all' END), r.unclear
	FROM urlmode.show_refunds(test.id(n)) r
$$;
CREATE FUNCTION decide(reference text, decision text, provider text DEFAULT 'shop') RETURNS text LANGUAGE sql SECURITY DEFINER AS $$
	SELECT urlmode.decide_payment(provider, reference, decision, 'the operator', 'asked the shop')
$$;
CREATE FUNCTION decisions(n integer) RETURNS text LANGUAGE sql SECURITY DEFINER AS $$
	SELECT string_agg(concat_ws(' ', d.decision, test.price(d.refunded)), ', ' ORDER BY d.decided_at) FROM urlmode.show_decisions(test.id(n)) d
$$;
CREATE FUNCTION list_unknown(provider text DEFAULT NULL, most integer DEFAULT 100)
RETURNS TABLE (effect text, n integer, reference text, amount text, identity text) LANGUAGE sql SECURITY DEFINER AS $$
	SELECT u.effect, test.n(u.elicitation), u.reference, test.price(u.amount, u.currency), u.identity FROM urlmode.list_unknown(list_unknown.provider, most => most) u
$$;
CREATE FUNCTION list_unreadable(provider text DEFAULT NULL, since interval DEFAULT NULL, most integer DEFAULT 100)
RETURNS TABLE (provider_name text, reason text, place text, request text, times bigint, age interval) LANGUAGE sql SECURITY DEFINER AS $$
	SELECT u.provider_name, u.reason, u.place, u.request, u.times, date_trunc('hour', u.last_seen_at - u.first_seen_at)
	FROM urlmode.list_unreadable(list_unreadable.provider, now() - since, most) u
$$;
-- As long as there is something.
CREATE FUNCTION purge(keep interval DEFAULT '90 days', kind text DEFAULT NULL, batch integer DEFAULT 1000) RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER AS $$
DECLARE
	taken bigint;
	total bigint := 0;
BEGIN
	FOR turn IN 1 .. 20 LOOP
		taken := urlmode.purge(test.ms(keep), kind, batch);
		EXIT WHEN taken = 0;
		total := total + taken;
	END LOOP;
	RETURN total;
END
$$;
DO $$
DECLARE
	name text;
BEGIN
	FOR name IN SELECT p.oid::regprocedure FROM pg_proc p WHERE p.pronamespace = 'test'::regnamespace AND p.prosecdef
		AND p.proowner NOT IN ('urlmode_server'::regrole, 'urlmode_cgi'::regrole)
	LOOP
		EXECUTE format('ALTER FUNCTION %s OWNER TO urlmode_operator', name);
	END LOOP;
END
$$;

-- As nobody: what is stored ---------------------------------------------------

-- What is sealed in the row of an elicitation, and in its payments.
CREATE FUNCTION kept(n integer) RETURNS text LANGUAGE sql AS $$
	SELECT concat_ws(' ', (
		SELECT string_agg(k.name, ' ' ORDER BY k.name)
		FROM urlmode.elicitation e LEFT JOIN urlmode.form f ON f.elicitation = e.id
		CROSS JOIN LATERAL (VALUES ('result', e.result::bytea), ('verifier', e.verifier), ('form', f.definition), ('problem', f.problem), ('typed', f.typed)) AS k (name, value)
		WHERE e.id = test.id(n) AND k.value IS NOT NULL
	), (SELECT string_agg(p.reference, ' ' ORDER BY p.reference) FROM urlmode.payment p WHERE p.elicitation = test.id(n) AND p.result IS NOT NULL))
$$;

-- Of refunds and disputes. Times are seconds of 1970; moved: of the last event that moved money.
CREATE FUNCTION told_of(n integer)
RETURNS TABLE (reference text, kind text, ended text, state text, amount text, reversed boolean, second integer, moved integer, due integer) LANGUAGE sql AS $$
	SELECT r.reference, r.kind, r.ended, r.state, test.price(r.amount, r.currency), r.reversed_at IS NOT NULL,
		extract(epoch FROM r.occurred_at)::integer, extract(epoch FROM r.moved_at)::integer, extract(epoch FROM r.evidence_due_at)::integer
	FROM urlmode.refund r WHERE r.elicitations @> ARRAY[test.id(n)] ORDER BY r.reference
$$;
