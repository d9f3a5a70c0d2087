-- One call acts on an outcome: it claims it. A claim has two ends: the work is done, and the answer was written.

SELECT unclaimed, oldest_unclaimed_s FROM urlmode.measure();
-- claim has both at once. It takes an outcome once, for its owner, and only what the caller has read.
SELECT make(1), pay(1, 'p1'), claim(1, subject => 'eve'), claim(1, 'none'), claim(1, action => 'decline'), claim(1, 'p1'), claim(1), claim(1, 'p1'), payments(1), claim(9);
SELECT make(2, 'signature'), claim(2), settle(2, 'decline'), claim(2), claim(2, action => 'decline'), claim(2, action => 'decline');
-- A payment that was proved after the refusal which the caller has read stays for the next call.
SELECT make(3, key => 'k3'), settle(3, 'cancel'), pay(3, 'p3'), claim(3, action => 'cancel'), find('k3'), claim(3), find('k3');
-- Of several payments it claims the oldest that matches; one that does not match by its name, to refund it.
SELECT make(4), pay(4, 'p4'), pass('1 s'), pay(4, 'p4b', '1.00 EUR'), pass('1 s'), pay(4, 'a4'), claim(4), payments(4), claim(4), payments(4), claim(4), claim(4, 'p4b'), payments(4);
SELECT make(5), pay(5, 'p5', '1.00 EUR'), claim(5), claim(5, 'p5', 'cancel'), claim(5, 'p5'), claim(5, action => 'cancel');
-- A caller that knows it by its checkout claims it, also after it has its own name.
SELECT make(6, checkout => 'c6'), settle(6, price => '10.00 EUR', reference => 'c6'), pay(6, 'p6', checkout => 'c6'), claim(6, 'c6');

-- Each kind: the work is done once, and its result is given to each call until one confirms that its answer was written.
CREATE FUNCTION pg_temp.story(n integer) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	one record;
	listed CONSTANT text := format('SELECT CASE WHEN EXISTS (SELECT FROM test.unclaimed(of_one => %s)) THEN ''listed'' ELSE ''not listed'' END', n);
	said text;
BEGIN
	FOR one IN SELECT * FROM (VALUES ('a begins'), ('b begins'), ('a fulfils'), ('a releases'), ('a renews'), ('b begins'), ('b fulfils'), ('claim'), ('b confirms'), ('a confirms'), ('c begins')) AS s (step) LOOP
		EXECUTE format(CASE split_part(one.step, ' ', 2) WHEN 'begins' THEN 'SELECT concat_ws('' '', outcome, of, fulfilled, minutes) FROM test.begins(%L, %s)'
			WHEN '' THEN 'SELECT test.claim(%2$s)' ELSE 'SELECT test.' || split_part(one.step, ' ', 2) || '(%L, %s)' END, split_part(one.step, ' ', 1), n) INTO said;
		RETURN NEXT one.step || ': ' || said;
		EXECUTE listed INTO said;
		RETURN NEXT '  ' || said || ', resumed ' || coalesce(test.find('k' || n), '-');
	END LOOP;
END
$$;
SELECT make(10, key => 'k10'), pay(10, 'p10');
SELECT pg_temp.story(10);
SELECT make(11, 'signature', key => 'k11'), event(11, 'accepted');
SELECT pg_temp.story(11);

-- A lease that ends gives the work to the next call, with a greater number; the earlier call can do nothing any more, nor can anybody else.
SELECT make(20, key => 'k20'), pay(20, 'p20');
SELECT * FROM begins('a', 20);
SELECT pass('2 min'), renews('a', 20), payments(20), renews('a', 20, subject => 'eve'), fulfils('a', 20, subject => 'eve'), confirms('a', 20, subject => 'eve'), releases('a', 20, subject => 'eve'), pass('2 min'), (SELECT count(*) FROM unclaimed()) AS listed, payments(20);
SELECT * FROM begins('b', 20, subject => 'eve');
SELECT * FROM begins('b', 20, lease => '5 min');
SELECT * FROM begins('c', 20);
SELECT renews('a', 20), fulfils('a', 20), confirms('a', 20), releases('a', 20), fulfils('b', 20, NULL), fulfils('b', 20, 'first'), fulfils('b', 20, 'again'), payments(20);
SELECT * FROM begins('c', 20);
-- A call that has done its work after its lease is not done again, if no other has begun.
SELECT make(21), pay(21, 'p21');
SELECT * FROM begins('d', 21);
SELECT pass('2 min'), fulfils('d', 21), payments(21);
-- What was begun and not done is for the next call at once. Without fulfil, confirm alone is the last end.
SELECT make(23, key => 'k23'), pay(23, 'p23');
SELECT outcome, releases('e', 23), payments(23) FROM begins('e', 23);
SELECT outcome, is_greater, confirms('f', 23), confirms('f', 23), payments(23) FROM begins('f', 23);
-- What claim takes no call can end.
SELECT make(24), pay(24, 'p24');
SELECT outcome, claim(24), pass('2 min'), claim(24), fulfils('g', 24), confirms('g', 24) FROM begins('g', 24);
-- A clock that was set back gives no smaller number.
SELECT make(25), pay(25, 'p25'), pay(25, 'q25');
SELECT outcome, of FROM begins('h', 25);
UPDATE urlmode.lease SET fence = fence + 60000000000 WHERE elicitation = id(25);
UPDATE begun SET fence = fence + 60000000000 WHERE call = 'h';
SELECT outcome, of, is_greater, payments(25) FROM begins('i', 25);
-- Who has paid twice: two calls do the work of two payments; what is done is given before what is not.
SELECT outcome, of FROM begins('j', 25);
SELECT fulfils('i', 25);
SELECT outcome, of, fulfilled FROM begins('j', 25);
SELECT outcome, of FROM begins('j', 25, 'p25');
-- The row of a lease goes with the last end, and with it what is sealed.
SELECT confirms('i', 25);
SELECT count(*) FROM urlmode.lease WHERE elicitation = id(25);
-- A payment that gets its own name takes its lease with it.
SELECT make(26, checkout => 'c26'), settle(26, price => '10.00 EUR', reference => 'c26');
SELECT outcome, of FROM begins('k', 26);
SELECT pay(26, 'p26', checkout => 'c26'), renews('k', 26), fulfils('k', 26), confirms('k', 26), payments(26);

-- A call whose work asks its user goes on in rounds: each one once, and the one before can do nothing more.
SELECT make(27, key => 'k27'), pay(27, 'p27');
SELECT outcome, renews('l', 27, '5 min') FROM begins('l', 27);
SELECT pass('2 min'), (SELECT outcome FROM begins('m', 27)) AS other, (SELECT count(*) FROM unclaimed(of_one => 27)) AS listed;
SELECT * FROM goes_on('l', 27, 'l2', subject => 'eve');
SELECT * FROM goes_on('l', 27, 'l2');
SELECT * FROM goes_on('l', 27, 'l3');
SELECT renews('l', 27), fulfils('l', 27), releases('l', 27), renews('l2', 27);
-- Also after the end of the lease, if no other call has begun.
SELECT pass('2 min');
SELECT * FROM goes_on('l2', 27, 'l3');
SELECT fulfils('l3', 27, 'written'), (SELECT outcome FROM goes_on('l3', 27, 'l4')) AS after_the_end, payments(27);

-- What is not an accept is not begun: it says so.
SELECT make(30), pay(30, 'p30'), pay(30, 'part', '1.00 EUR'), make(31), make(32), settle(32, 'cancel'), back(30, NULL, 'p30');
SELECT (begins('x', 30, 'none')).outcome, (begins('x', 30, 'part')).outcome, (begins('x', 30, 'p30')).outcome, (begins('x', 31)).outcome, (begins('x', 32)).outcome, (begins('x', 33)).outcome;

-- The claim of an account is final when it begins, and has an end for its page.
SELECT make(40, 'oauth', key => 'k40'), complete(40), exchange(40), exchanged(40);
SELECT how FROM page(40);
SELECT outcome, of, fence('acc') FROM begins('acc', 40);
SELECT exchange(40), exchange(40, 'eve'), exchanged(40, subject => 'eve'), find('k40'), (begins('x', 40)).outcome, how FROM page(40);
SELECT exchanged(40, 'access_denied'), exchanged(40), exchange(40), find('k40');
SELECT how FROM page(40);
SELECT make(41, 'oauth'), complete(41), exchanged(41);
SELECT outcome, exchanged(41), exchange(41) FROM begins('y', 41);
SELECT how FROM page(41);

-- unclaimed lists what was proved and not claimed, the oldest first, with what is needed to deliver or to refund it.
SELECT make(50, key => 'report', subject => 'liz', session => 's'), pay(50, 'p50'), pass('1 min'), pay(50, 'o50'), make(51, subject => 'liz', provider => 'other'), event(51, 'paid', '1.00 USD', 'p51', provider => 'other');
SELECT * FROM unclaimed() WHERE n >= 50;
SELECT n, reference FROM unclaimed('other');
SELECT n, reference FROM unclaimed(since => '30 s') WHERE n >= 50;
SELECT n, reference FROM unclaimed(of_one => 50);
SELECT proven_at < now(), provider_name, reference, amount, matches, late, refunded, held FROM urlmode.list_unclaimed('shop', now() - interval '2 min') WHERE n(elicitation) >= 50;
SELECT reference FROM urlmode.list_unclaimed(most => 1);
SELECT reference, amount FROM urlmode.list_paid('shop', now() - interval '10 s', now() + interval '1 s') ORDER BY reference;
SELECT reference FROM urlmode.list_paid('other', now() - interval '1 day', (SELECT proven_at FROM urlmode.payment WHERE reference = 'p51'));
SELECT pass('10 hours'), make(52), pay(52, 'p52');
SELECT unclaimed, oldest_unclaimed_s / 3600 AS hours, database_ms - extract(epoch FROM now()) * 1000 BETWEEN 0 AND 60000 AS now, queue_usage BETWEEN 0 AND 1 AS queue FROM urlmode.measure();

-- A claim with a name can be begun again: the same call is given the same number, also where its lease has ended, and of two payments the same one.
SELECT make(60, key => 'k60'), pay(60, 'p60'), pay(60, 'q60');
SELECT outcome, of FROM begins('n', 60, claim => 1);
SELECT outcome, of FROM begins('n2', 60, claim => 1);
SELECT fence('n') = fence('n2') AS same, pass('2 min');
SELECT outcome, of FROM begins('n3', 60, claim => 1);
SELECT fence('n') = fence('n3') AS same, renews('n', 60);
-- Another name is another call, and so is the same one after a release. Who has released it can do nothing more.
SELECT outcome, of FROM begins('m', 60, claim => 2);
SELECT releases('m', 60), renews('m', 60), fulfils('m', 60), confirms('m', 60), releases('m', 60), payments(60);
SELECT outcome, of, fence('m') < (SELECT max(fence) FROM urlmode.lease) AS is_greater FROM begins('m2', 60, claim => 2);
SELECT fulfils('m2', 60), fulfils('m', 60);
SELECT outcome, of, fulfilled FROM begins('m3', 60, claim => 2);
-- It is of this elicitation and its owner alone.
SELECT make(61), pay(61, 'p61');
SELECT outcome FROM begins('o', 60, claim => 1, subject => 'eve');
SELECT outcome, of FROM begins('o', 61, claim => 1);
-- An account whose claim was begun by a call that got no answer: the same call can exchange the code.
SELECT make(62, 'oauth'), complete(62);
SELECT outcome, of FROM begins('p', 62, claim => 1);
SELECT outcome FROM begins('q', 62, claim => 2);
SELECT outcome, of FROM begins('p', 62, claim => 1);
SELECT exchanged(62);
SELECT outcome FROM begins('p', 62, claim => 1);
-- A call that was cancelled before it has sent the code gives the account back, once and for itself alone.
SELECT make(63, 'oauth', key => 'k63'), complete(63), unsent(63, 1);
SELECT outcome FROM begins('p', 63, claim => 1);
SELECT unsent(63, 2), unsent(63, 1, 'eve'), unsent(63, 1), unsent(63, 1), exchange(63), find('k63'), how FROM page(63);
SELECT outcome FROM begins('q', 63, claim => 2);
SELECT unsent(63, 1), exchange(63), exchanged(63), unsent(63, 2), exchange(63), (begins('x', 63)).outcome;

-- What unclaimed lists is begun, whatever it is: what does not match, what is held, what came late, what is of another kind.
SELECT make(70), pay(70, 'part70', '1.00 EUR'), make(71), pay(71, 'p71'), back(71, '1.00 EUR', 'p71', 'b71'), make(72), settle(72, 'cancel'), pay(72, 'p72'), make(73, 'signature'), pay(73, 'p73');
SELECT n, reference, flags FROM unclaimed() WHERE n BETWEEN 70 AND 79;
SELECT a.outcome AS part, b.outcome AS held, c.outcome AS other_kind FROM begins('x', 70, 'part70') a, begins('x', 71, 'p71') b, begins('x', 73, 'p73') c;
SELECT a.outcome AS part, b.outcome AS held, c.outcome AS late, d.outcome AS other_kind FROM begins('r0', 70, 'part70', listed => true) a, begins('r1', 71, 'p71', listed => true) b,
	begins('r2', 72, 'p72', listed => true) c, begins('r3', 73, 'p73', listed => true) d;
SELECT outcome FROM begins('x', 70, 'part70', listed => true);
SELECT n, reference, flags FROM unclaimed() WHERE n BETWEEN 70 AND 79;
-- Who dies between the claim and the deed is followed by the next one.
SELECT pass('2 min');
SELECT n, reference FROM unclaimed() WHERE n BETWEEN 70 AND 79;
SELECT outcome FROM begins('s0', 70, 'part70', listed => true);
-- Its end is told with it, and can be told again.
SELECT fulfils('r0', 70, "end" => 'refunded', refund => 're_0'), fulfils('s0', 70, "end" => 'refunded', refund => 're_1'), fulfils('s0', 70, "end" => 'refunded', refund => 're_1'), fulfils('s0', 70, "end" => 'delivered');
SELECT fulfils('r2', 72, NULL, "end" => 'delivered', subject => 'eve'), fulfils('r2', 72, NULL, "end" => 'delivered'), confirms('r3', 73);
SELECT reference, claimed_at IS NOT NULL AS claimed, claim_end, claim_refund FROM urlmode.payment WHERE reference IN ('part70', 'p71', 'p72', 'p73') ORDER BY reference;
SELECT n, reference FROM unclaimed() WHERE n BETWEEN 70 AND 79;

-- All of it went back while the call works: who renews and who fulfils is told.
SELECT make(80), pay(80, 'p80');
SELECT outcome FROM begins('t', 80, claim => 1);
SELECT renews('t', 80), back(80, '10.00 EUR', 'p80', 'b80'), renews('t', 80), fulfils('t', 80), payments(80);
SELECT outcome FROM begins('t2', 80, claim => 1);
SELECT confirms('t', 80), payments(80);

-- The same for a dispute, until it is won.
SELECT make(81), pay(81, 'p81');
SELECT outcome FROM begins('t3', 81);
SELECT told(NULL, 'refunded', 'p81', 'd81', 100), renews('t3', 81), told(NULL, 'refund_reversed', 'p81', 'd81', 200, kind => 'dispute_won', state => 'won'), renews('t3', 81), confirms('t3', 81);

-- What was done and never confirmed is listed, until its answer was written, or it went back.
SELECT make(90, key => 'k90'), pay(90, 'p90'), make(91, 'signature', key => 'k91'), event(91, 'accepted'), make(92), pay(92, 'p92');
SELECT a.outcome, b.outcome, c.outcome FROM begins('u', 90) a, begins('v', 91) b, begins('w', 92) c;
SELECT count(*) FROM undelivered() WHERE n BETWEEN 90 AND 99;
SELECT fulfils('u', 90), fulfils('v', 91), fulfils('w', 92), releases('u', 90) AS releases;
SELECT * FROM undelivered() WHERE n BETWEEN 90 AND 99;
SELECT n, reference FROM undelivered('shop', '1 min', 92);
SELECT fulfilled_at <= now(), provider_name, kind, reference, amount, has_result FROM urlmode.list_undelivered(most => 1000) WHERE n(elicitation) = 90;
SELECT g.undelivered = (SELECT count(*) FROM undelivered()) AS counted, g.oldest_undelivered_s >= 0 AS aged, g.unclaimed = m.unclaimed AS same FROM urlmode.gauges() g, urlmode.measure() m;
-- A result whose answer fails a second time is of no use: the work is done again for the same payment, and nobody who was given it has an end.
SELECT outcome, fulfilled FROM begins('u2', 90);
SELECT flags FROM undelivered(of_one => 90);
SELECT releases('u2', 90), confirms('u', 90), confirms('u2', 90), find('k90');
SELECT outcome, of FROM begins('u3', 90);
SELECT fulfils('u3', 90, 'again'), fulfils('u3', 90, 'once more'), releases('u3', 90);
SELECT outcome, fulfilled FROM begins('u4', 90);
SELECT confirms('u4', 90), find('k90'), confirms('v', 91);
-- The operator has refunded one at the provider; the server has refunded another one, and says so.
SELECT back(92, '10.00 EUR', 'p92', 'b92'), make(93), pay(93, 'p93');
SELECT outcome FROM begins('y', 93);
SELECT fulfils('y', 93);
SELECT n, reference FROM undelivered() WHERE n BETWEEN 90 AND 99;
SELECT outcome, fulfilled FROM begins('z', 93, 'p93', listed => true);
SELECT fulfils('z', 93, "end" => 'refunded', refund => 're_93'), payments(93);
SELECT reference, claim_end, claim_refund FROM urlmode.payment WHERE reference IN ('p90', 'p92', 'p93') ORDER BY reference;

-- Packages of before have the functions of before.
SELECT make(95), pay(95, 'p95');
CREATE TEMPORARY TABLE before AS SELECT * FROM urlmode.begin_claim(id(95), owner('ann'), NULL, 60000);
SELECT outcome, claimed_reference, urlmode.renew_claim(id(95), owner('ann'), fence, 60000), urlmode.renew_claim(id(95), owner('ann'), fence + 1, 60000), urlmode.fulfil_claim(id(95), owner('ann'), fence, 'done'), urlmode.fulfil_claim(id(95), owner('ann'), fence, NULL), urlmode.confirm_claim(id(95), owner('ann'), fence) FROM before;
-- 16 MiB with their name and the seal are kept, in a row of their own.
SELECT make(96), pay(96, 'p96');
SELECT outcome FROM begins('large', 96);
SELECT urlmode.fulfil_lease(id(96), owner('ann'), fence('large'), decode(repeat('ab', 16777280), 'hex'));
SELECT outcome, octet_length(fulfilled) FROM urlmode.begin_lease(id(96), owner('ann'), NULL, 60000);
SELECT pg_column_size(l.*) < 200 AS narrow FROM urlmode.lease l WHERE l.elicitation = id(96);
DO $$ BEGIN PERFORM urlmode.fulfil_lease(id(96), owner('ann'), fence('large'), decode(repeat('ab', 16777281), 'hex')); END $$;
