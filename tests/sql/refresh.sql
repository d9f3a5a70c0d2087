-- When the lease of a refresh ends: the table of sql/functions/014_vault.sql, row by row. The lock of a holder is of this session, and ends when it is
-- unlocked; the clock of an account is moved.

CREATE FUNCTION connect(who text) RETURNS boolean LANGUAGE sql AS $$
	SELECT urlmode.store_account('ada', 'demo', who, '{}', '{}', decode(repeat('00', 40), 'hex'), 0) IS NOT NULL
$$;
CREATE FUNCTION takes(who text, holder bigint DEFAULT NULL, late boolean DEFAULT false) RETURNS text LANGUAGE sql AS $$
	SELECT b.outcome FROM urlmode.account a, urlmode.begin_lease_of('ada', 'demo', who, a.version, 60000, takes.holder, takes.late) b WHERE a.account = who
$$;
CREATE FUNCTION sends(who text, reuse bigint DEFAULT NULL) RETURNS boolean LANGUAGE sql AS $$
	SELECT urlmode.mark_sending('ada', 'demo', who, a.lease, 330000, false, sends.reuse) FROM urlmode.account a WHERE a.account = who
$$;
CREATE FUNCTION stores(who text, lease integer DEFAULT 0, replaced boolean DEFAULT true) RETURNS text LANGUAGE sql AS $$
	SELECT urlmode.store_refreshed('ada', 'demo', who, a.version, a.lease + stores.lease, replaced, '{}', decode(repeat('00', 40), 'hex'), 0)
	FROM urlmode.account a WHERE a.account = who
$$;
CREATE FUNCTION fails(who text, lost text DEFAULT NULL, reason text DEFAULT NULL, retry_after integer DEFAULT NULL) RETURNS void LANGUAGE sql AS $$
	SELECT urlmode.end_refresh('ada', 'demo', who, a.version, a.lease, fails.reason, fails.lost, 1000 * fails.retry_after) FROM urlmode.account a WHERE a.account = who
$$;
CREATE FUNCTION later(who text, seconds integer) RETURNS integer LANGUAGE sql AS $$
	UPDATE urlmode.account a SET leased_until = leased_until - later.seconds * interval '1 s', first_sent_at = first_sent_at - later.seconds * interval '1 s', gone_at = gone_at - later.seconds * interval '1 s', pause_until = pause_until - later.seconds * interval '1 s'
	WHERE a.account = who;
	SELECT seconds
$$;
CREATE FUNCTION ending(who text) RETURNS text LANGUAGE sql AS $$ SELECT b.outcome FROM urlmode.begin_disconnect('ada', 'demo', who, 60000) b $$;
CREATE FUNCTION holds(holder bigint) RETURNS boolean LANGUAGE sql AS $$ SELECT urlmode.hold(holder) $$;
CREATE FUNCTION ends(holder bigint) RETURNS boolean LANGUAGE sql AS $$ SELECT pg_advisory_unlock_shared(holder) $$;
CREATE FUNCTION stands(who text) RETURNS text LANGUAGE sql AS $$
	SELECT concat_ws(' ', a.state, nullif(a.reason, ''), 'lost', a.lost, CASE WHEN a.pause_until > now() THEN round(extract(epoch FROM a.pause_until - now())) || ' s' END)
	FROM urlmode.account a WHERE a.account = who
$$;

-- It has not sent.
SELECT connect('a'), holds(5000000001), takes('a', 5000000001), takes('a'), later('a', 59), takes('a'), later('a', 1), takes('a', 6000000001), sends('a');
SELECT connect('b'), takes('b', 5000000001), ends(5000000001), sends('b'), takes('b'), stands('b');
-- It has sent, and is there: the others wait until its answer cannot be stored any more.
SELECT connect('c'), holds(5000000001), takes('c', 5000000001), sends('c'), takes('c'), later('c', 329), takes('c'), later('c', 1), takes('c'), stands('c');
-- It has ended after that. The window of the provider is open, and is over.
SELECT connect('d'), takes('d', 5000000001), sends('d', 30000), takes('d'), ends(5000000001), later('d', 29), takes('d'), stands('d');
SELECT connect('e'), holds(5000000001), takes('e', 5000000001), sends('e', 30000), ends(5000000001), later('e', 30), takes('e'), later('e', 299), takes('e'), later('e', 1), takes('e');
-- A second use ends everything: it is not sent again.
SELECT connect('f'), holds(5000000001), takes('f', 5000000001), sends('f', 0), ends(5000000001), later('f', 329), takes('f'), later('f', 1), takes('f'), stands('f');
-- Nothing is known: ten seconds after somebody has seen it, unless it is there again.
SELECT connect('g'), holds(5000000001), takes('g', 5000000001), sends('g'), ends(5000000001), later('g', 60), takes('g'), later('g', 9), takes('g'), later('g', 1), takes('g');
SELECT connect('h'), holds(5000000001), takes('h', 5000000001), sends('h'), ends(5000000001), takes('h'), later('h', 9), holds(5000000001), takes('h'), ends(5000000001), later('h', 9), takes('h'), later('h', 9), takes('h'), later('h', 1), takes('h');
-- It was back, and nobody has asked meanwhile: the ten seconds begin anew.
SELECT connect('r'), holds(5000000001), takes('r', 5000000001), sends('r'), ends(5000000001), takes('r'), later('r', 5), holds(5000000001), ends(5000000001), later('r', 6), takes('r'), later('r', 10), takes('r');
-- Another PostgreSQL than that which was told: it was started again, or a standby was promoted, which may be older. The window of the provider is open all the same.
SELECT connect('i'), holds(5000000001), takes('i', 5000000001), sends('i'), connect('s'), takes('s', 5000000001), sends('s', 30000), ends(5000000001);
UPDATE urlmode.account SET server_started_at = server_started_at + interval '1 s' WHERE account IN ('i', 's');
SELECT takes('i'), later('i', 20), takes('i'), later('i', 310), takes('i'), takes('s');
-- Behind a pooler.
SELECT connect('j'), takes('j'), sends('j'), later('j', 329), takes('j'), later('j', 1), takes('j');
-- Whoever disconnects waits for the same leases, and notices the same.
SELECT connect('t'), holds(5000000001), takes('t', 5000000001), sends('t'), ends(5000000001), ending('t'), later('t', 10), ending('t');
-- What comes late is stored if nobody has sent the old token since, and is tried otherwise; it replaces nothing that is newer.
SELECT connect('k'), takes('k'), sends('k'), later('k', 330), takes('k'), stores('k', -1), stands('k');
SELECT connect('l'), takes('l'), sends('l'), later('l', 330), takes('l'), sends('l'), stores('l', -1), stores('l', -1, false), stands('l');
SELECT connect('m'), takes('m'), sends('m'), later('m', 330), takes('m'), sends('m'), fails('m', NULL, 'invalid_grant'), stores('m', -2), takes('m'), takes('m', NULL, true), sends('m'), stores('m'), stands('m');
-- An access token alone brings no account back whose refresh token was refused.
SELECT connect('u'), takes('u'), sends('u'), later('u', 330), takes('u'), sends('u'), fails('u', NULL, 'invalid_grant'), stores('u', -2, false), stands('u');
-- Answers that are lost. Within the window: the first at once, as often as needed.
SELECT connect('n'), takes('n'), sends('n', 30000), fails('n', 'answer'), stands('n'), takes('n'), sends('n', 30000), fails('n', 'answer'), stands('n'), later('n', 2), takes('n'), sends('n', 30000), later('n', 30), fails('n', 'answer'), stands('n'), takes('n');
-- Nothing is known: at once, and once.
SELECT connect('o'), takes('o'), sends('o'), fails('o', 'answer'), stands('o'), takes('o'), sends('o'), fails('o', 'answer'), stands('o'), takes('o'), stands('o');
-- The window is over when the first is lost: the same.
SELECT connect('v'), takes('v'), sends('v', 10000), later('v', 30), fails('v', 'answer'), takes('v'), sends('v', 10000), fails('v', 'answer'), takes('v');
-- Never.
SELECT connect('p'), takes('p'), sends('p', 0), fails('p', 'answer'), takes('p'), stands('p');
-- An outage of the provider, or of a gateway before it, costs no account of any kind, and counts as one.
SELECT connect('w'), takes('w'), sends('w'), fails('w', 'status'), stands('w'), takes('w'), sends('w'), fails('w', 'status'), stands('w'), later('w', 60), takes('w'), sends('w'), fails('w', 'status'), later('w', 60), takes('w'), sends('w'), fails('w', 'answer'), takes('w');
SELECT connect('x'), takes('x'), sends('x', 0), fails('x', 'status'), stands('x'), later('x', 60), takes('x'), sends('x', 0), fails('x', 'status'), stands('x'), later('x', 60), takes('x'), sends('x', 0), fails('x', 'answer'), takes('x');
SELECT connect('y'), takes('y'), sends('y', 30000), fails('y', 'status'), stands('y'), takes('y'), sends('y', 30000), fails('y', 'status'), stands('y'), later('y', 30), takes('y'), sends('y', 30000), fails('y', 'status'), stands('y'), later('y', 60), takes('y');
-- What the provider says of the pause makes it longer, and never shorter.
SELECT connect('z'), takes('z'), sends('z', 30000), fails('z', 'status', NULL, 20), stands('z'), later('z', 19), takes('z'), later('z', 1), takes('z'), fails('z', NULL, NULL, 1), stands('z');
-- The window begins when the token is sent that may have been replaced.
SELECT connect('q'), takes('q'), sends('q', 30000), fails('q'), later('q', 3600), takes('q'), sends('q', 30000), fails('q', 'answer'), stands('q');

-- A connection that keeps the refresh token of before keeps none that is being used, and no other than it has read.
CREATE FUNCTION keeps(who text, version integer DEFAULT 0) RETURNS boolean LANGUAGE sql AS $$
	SELECT urlmode.store_account('ada', 'demo', who, '{}', '{}', decode(repeat('00', 40), 'hex'), 0, kept => a.version + keeps.version) IS NOT NULL
	FROM urlmode.account a WHERE a.account = who
$$;
SELECT connect('kept'), keeps('kept'), takes('kept');
SELECT keeps('kept');
SELECT later('kept', 61), keeps('kept');
SELECT keeps('kept', -1);
