-- Creating elicitations, and going on with one that was created before.

LISTEN urlmode;

-- An elicitation is created once, and expires after its time to live.
SELECT * FROM makes('[{"n": 1}, {"n": 2, "ttl": "10 min", "subject": "bob", "kind": "oauth"}]');
SELECT make(1);

-- One that cannot be is refused, with all that was asked for with it: a form where there is none, a target
-- where there is one, no price, no time.
SELECT make(3, 'input', form => false);
SELECT make(3, 'input', target => true);
SELECT make(3, 'oauth', target => false);
SELECT make(3, 'oauth', form => true);
SELECT make(3, 'oauth', approvers => '[]');
SELECT make(3, 'input', approvers => '[]');
SELECT make(3, 'approval', verify => '30 s');
SELECT make(3, 'payment', verify => '30 s');
SELECT make(3, price => 'none');
SELECT makes('[{"n": 3}, {"n": 4, "price": "none"}]');
SELECT * FROM shows(3, 4);
SELECT * FROM urlmode.create_elicitation('{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}');

-- A later call of the same owner for the same thing resumes it. Another owner, session, key or request does not.
SELECT make(10, key => 'report', request => 'a', session => 's'), make(11, key => 'report', request => 'a', session => 's'),
	make(12, key => 'report', request => 'a'), make(13, key => 'report', request => 'b', session => 's'),
	make(14, key => 'other', request => 'a', session => 's'), make(15, key => 'report', request => 'a', session => 's', subject => 'bob'),
	make(16, session => 's'), make(17, key => 'report', session => 's');
SELECT find('report', session => 's', request => 'a'), find('report', session => 's', request => 'b'), find('report', session => 's'),
	find('report'), find('none'), find(NULL);

-- exclusive: it supersedes what is open of its owner, and announces it, but no payment or signature that is opened.
SELECT make(20 + i::integer, kind, 'eve') FROM unnest(ARRAY['oauth', 'oauth', 'payment', 'payment', 'payment', 'signature', 'signature', 'oauth', 'oauth']) WITH ORDINALITY AS k (kind, i);
SELECT open(22), open(24), open(25), open(27), event(25, 'processing'), complete(28) AS not_hers, settle(29, subject => 'eve'), settle(28, 'decline', subject => 'eve');
SELECT make(30, 'oauth', 'eve', session => 's'), make(31, 'oauth', 'eve', ttl => '-1 s');
SELECT make(32, 'oauth', 'eve', exclusive => true);
SELECT * FROM shows(21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32);
-- A code verifier goes with it.
SELECT kept(21), kept(32);
-- A create that fails supersedes nothing.
SELECT make(32, 'oauth', 'eve', exclusive => true);
SELECT state(32);
-- What is superseded is not resumed, unless its payment may have been made.
SELECT make(33, key => 'k', subject => 'eva'), make(34, key => 'k2', subject => 'eva'), event(34, 'recheck');
SELECT make(35, subject => 'eva', exclusive => true), find('k', 'eva'), find('k2', 'eva'), find('k2', 'eva', rechecks => false);

-- The elements of one owner take effect in their order: the second resumes the first, and so supersedes nothing; the
-- third does; so the fourth is created.
SELECT outcome FROM makes('[{"n": 40, "subject": "kim", "key": "a"}, {"n": 41, "subject": "kim", "key": "a", "exclusive": true},
	{"n": 42, "subject": "kim", "exclusive": true}, {"n": 43, "subject": "kim", "key": "a"}, {"n": 44, "subject": "lee", "key": "a", "exclusive": true},
	{"n": 45, "subject": "kim"}]');
SELECT * FROM shows(40, 41, 42, 43, 44, 45);
-- An id that is twice in a batch fails it.
SELECT makes('[{"n": 46, "subject": "lee"}, {"n": 46, "subject": "mia"}]');

-- What a call goes on with: an open one, but not after its end; a refusal until it expires; an accept until it is claimed; a
-- code for ten minutes; what was typed for a day; what was decided for ever.
SELECT make(50, 'oauth', 'pat', key => 'open'), make(51, 'oauth', 'pat', key => 'code'), make(52, 'oauth', 'pat', key => 'refused', ttl => '30 min'),
	make(53, 'signature', 'pat', key => 'signed'), make(54, 'input', 'pat', key => 'typed'), make(55, 'approval', 'pat', key => 'denied'),
	make(56, key => 'paid', subject => 'pat'), make(57, key => 'paying', subject => 'pat'), make(58, 'oauth', 'pat', key => 'left'),
	make(59, 'signature', 'pat', key => 'grace');
SELECT completes('[{"n": 51, "for": "pat"}, {"n": 52, "for": "pat", "action": "decline"}]');
SELECT event(53, 'accepted'), answer(54, 'pat', subject => 'pat'), answer(55, 'pat', 'approval', 'decline', subject => 'pat'), pay(56), event(57, 'processing'),
	abandon(58, subject => 'pat'), open(59, grace => '1 hour');
CREATE VIEW found AS SELECT string_agg(key || ' ' || coalesce(find(key, 'pat'), '-'), ', ') AS found
FROM unnest(ARRAY['open', 'code', 'refused', 'signed', 'typed', 'denied', 'paid', 'paying', 'left', 'grace']) AS key;
TABLE found;
SELECT pass('6 min');
TABLE found;
SELECT pass('5 min');
TABLE found;
SELECT pass('1 hour');
TABLE found;
SELECT pass('1 day');
TABLE found;
SELECT pass('28 days');
TABLE found;
SELECT claim(53, subject => 'pat'), claim(56, subject => 'pat'), claim(55, action => 'decline', subject => 'pat');
SELECT pass('3 days');
TABLE found;
DROP VIEW found;
-- While a call exchanges the code of an account, the next one waits for it, for a hundred seconds.
SELECT make(60, 'oauth', key => 'account'), complete(60), find('account');
SELECT outcome, find('account') FROM begins('a', 60);
SELECT pass('80 s'), find('account');
SELECT pass('40 s'), find('account');

-- First comes what is paid, then what is being paid, then what is open, then a refusal; of several the newest. (exclusive would
-- supersede; different requests have different digests.)
SELECT make(70, subject => 'sue', request => 'x'), make(71, subject => 'sue', request => 'x'), make(72, subject => 'sue', request => 'x'), make(73, subject => 'sue', request => 'x');
UPDATE urlmode.elicitation SET resume_key = 'k' WHERE subject = 'sue';
SELECT pass('1 s'), make(74, subject => 'sue');
UPDATE urlmode.elicitation SET resume_key = 'k', request = digest('x') WHERE id = id(74);
SELECT find('k', 'sue', request => 'x') AS newest, settle(74, 'cancel', subject => 'sue'), find('k', 'sue', request => 'x') LIKE '7_ pending' AS is_open;
SELECT event(70, 'processing'), find('k', 'sue', request => 'x') AS processing, pay(71), find('k', 'sue', request => 'x') AS paid,
	pay(72), back(72, '1.00 EUR'), claim(71, subject => 'sue'), find('k', 'sue', request => 'x') AS held;
SELECT settle(73, 'accept', '10.00 EUR', 'p', subject => 'sue'), find('k', 'sue', request => 'x') AS not_held;
SELECT outcome, find('k', 'sue', request => 'x') AS leased_before_held FROM begins('b', 73, subject => 'sue');
-- An elicitation of a payment that went back, or was claimed, is no more.
SELECT claim(73, subject => 'sue'), confirms('b', 73, 'sue'), back(72, '10.00 EUR'), settle(70, 'cancel', subject => 'sue'), find('k', 'sue', request => 'x') AS refused;
SELECT pass('1 hour'), find('k', 'sue', request => 'x');

-- A payment that waits for a recheck is resumed until thirty days after its end, or its grace.
SELECT make(80, key => 'asked', subject => 'tom'), open(80, grace => '1 hour'), event(80, 'recheck'), make(81, key => 'ended', subject => 'tom'), event(81, 'recheck'),
	settle(81, 'decline', subject => 'tom');
SELECT pass('29 days 23 hours'), find('asked', 'tom'), find('asked', 'tom', rechecks => false), find('ended', 'tom');
SELECT pass('2 hours'), find('asked', 'tom'), find('ended', 'tom');
SELECT pass('2 hours'), find('asked', 'tom');

-- An owner has at most a thousand that are open: then the oldest that nobody has opened makes room, and if there is none,
-- nothing is created. What has expired, or is final, does not count.
SELECT make(1000, 'oauth', 'max', ttl => '1 hour');
INSERT INTO urlmode.elicitation SELECT (jsonb_populate_record(e, jsonb_build_object('id', id(i)))).*
FROM urlmode.elicitation e, generate_series(1001, 1998) AS i WHERE e.id = id(1000);
SELECT make(1999, 'oauth', 'max', ttl => '-1 s'), make(2000, 'oauth', 'max', ttl => '2 hours'), pass('1 s');
SELECT outcome FROM makes('[{"n": 2001, "kind": "oauth", "subject": "max"}, {"n": 2002, "kind": "oauth", "subject": "other"}]');
SELECT status, action, reason, count(*) FROM urlmode.elicitation WHERE subject = 'max' GROUP BY 1, 2, 3 ORDER BY 1;
SELECT state(1000), state(1999), state(2000);
UPDATE urlmode.elicitation SET status = 'opened' WHERE subject = 'max' AND status = 'pending';
SELECT outcome FROM makes('[{"n": 2003, "kind": "oauth", "subject": "max"}, {"n": 2004, "kind": "oauth", "subject": "other"}]');
