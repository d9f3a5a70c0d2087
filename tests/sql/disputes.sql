-- A refund or dispute has a kind, and the states and times of its provider. Events come in any order; what counts is the order of what
-- happened there.

-- A dispute is opened: no money has moved, and nobody is told of a refund. Then the money goes, and comes again when it is won.
SELECT make(1), pay(1, 'p1'), told(1, 'disputed', 'p1', 'd1', 100, state => 'needs_response', due => 900), payments(1);
SELECT * FROM told_of(1);
SELECT count(*) FROM refunds(of_one => 1);
SELECT told(NULL, 'refunded', 'p1', 'd1', 110), payments(1), told(NULL, 'disputed', 'p1', 'd1', 200, state => 'under_review'), payments(1), claim(1);
SELECT * FROM told_of(1);
SELECT told(NULL, 'refund_reversed', 'p1', 'd1', 300, kind => 'dispute_won', state => 'won'), payments(1), claim(1);
SELECT * FROM told_of(1);
SELECT kept_events(1);

-- Lost: the money stays away. What a provider says of a dispute that was lost is not money that came again.
SELECT make(2), pay(2, 'p2'), told(2, 'refunded', 'p2', 'd2', 100), told(2, 'refunded', 'p2', 'd2', 200, kind => 'dispute_lost', state => 'lost'), payments(2);
SELECT * FROM told_of(2);
-- Won on appeal, it has come again, and an event of before does not undo it.
SELECT told(2, 'refund_reversed', 'p2', 'd2', 300, kind => 'dispute_won', state => 'won'), told(2, 'disputed', 'p2', 'd2', 150, state => 'under_review', due => 170), payments(2);
SELECT * FROM told_of(2);

-- Of the same second, or without a time, its end is the last, in whatever order both come.
SELECT make(n), pay(n, 'p' || n) FROM generate_series(3, 5) AS n;
SELECT told(3, 'refund_reversed', 'p3', 'd3', 300, kind => 'dispute_won', state => 'won'), told(3, 'refunded', 'p3', 'd3', 300, state => 'under_review');
SELECT told(4, 'refunded', 'p4', 'd4', 300, state => 'under_review'), told(4, 'refund_reversed', 'p4', 'd4', 300, kind => 'dispute_won', state => 'won');
SELECT told(5, 'refunded', 'p5', 'd5', NULL, kind => 'dispute_lost', state => 'lost'), told(5, 'disputed', 'p5', 'd5', NULL, state => 'under_review');
SELECT t.reference, t.ended, t.state, t.reversed FROM generate_series(3, 5) AS n CROSS JOIN LATERAL told_of(n) t;

-- The same dispute withdrawn again after it was reinstated counts, in each order in which the events come.
SELECT make(10 + o), pay(10 + o, 'p' || 10 + o) FROM generate_series(0, 5) AS o;
SELECT string_agg(told(10 + n, CASE part WHEN 2 THEN 'refund_reversed' ELSE 'refunded' END, 'p' || 10 + n, 'd' || 10 + n, 100 * part,
		kind => CASE part WHEN 2 THEN 'dispute_won' ELSE 'dispute' END), ' ' ORDER BY at)
FROM (VALUES (0, ARRAY[1, 2, 3]), (1, ARRAY[1, 3, 2]), (2, ARRAY[2, 1, 3]), (3, ARRAY[2, 3, 1]), (4, ARRAY[3, 1, 2]), (5, ARRAY[3, 2, 1])) AS o (n, parts)
CROSS JOIN LATERAL unnest(parts) WITH ORDINALITY AS p (part, at) GROUP BY n ORDER BY n;
SELECT o, payments(10 + o) FROM generate_series(0, 5) AS o;
SELECT t.reference, t.ended, t.amount, t.reversed, t.second, t.moved FROM generate_series(0, 5) AS o CROSS JOIN LATERAL told_of(10 + o) t;
-- Reinstated for good, in each order of the last two.
SELECT told(10, 'refund_reversed', 'p10', 'd10', 400, kind => 'dispute_won'), payments(10), told(11, 'refund_reversed', 'p11', 'd11', 400, kind => 'dispute_won'), told(11, 'refunded', 'p11', 'd11', 350), payments(11);

-- Of the same second, the reversal counts. Without times, a reversal stands.
SELECT make(20), pay(20, 'p20'), told(20, 'refund_reversed', 'p20', 'r20', 100, 'refund'), told(20, 'refunded', 'p20', 'r20', 100, 'refund'), payments(20);
SELECT make(21), pay(21, 'p21'), again(21, '10.00 EUR', 'p21', 'r21'), back(21, '10.00 EUR', 'p21', 'r21'), payments(21), told(21, 'refunded', 'p21', 'r21', 100, 'refund'), payments(21), told(21, 'refunded', 'p21', 'r21', 200, 'refund'), payments(21);
-- Of a total, what is older than the reversal is not unclear; what is younger is.
SELECT make(22), pay(22, 'p22'), told(22, 'refunded', 'p22', NULL, 100, 'refund', price => '4.00 EUR'), told(22, 'refund_reversed', 'p22', NULL, 300, 'refund', price => '4.00 EUR'), payments(22),
	told(22, 'refunded', 'p22', NULL, 200, 'refund', price => '4.00 EUR'), payments(22), told(22, 'refunded', 'p22', NULL, 400, 'refund', price => '4.00 EUR'), payments(22);

-- A cancelled authorisation says so. An event of a refund does not make it another kind.
SELECT make(30), pay(30, 'p30'), told(30, 'refunded', 'p30', 'c30', 100, 'cancellation'), told(30, 'refunded', 'p30', 'c30', 200, 'refund', state => 'done'), payments(30);
SELECT * FROM told_of(30);

-- What comes before its payment is kept with its details, and counts when the payment is proved.
SELECT told(NULL, 'refund_reversed', 'p40', 'd40', 200, kind => 'dispute_won', state => 'won'), told(NULL, 'refunded', 'p40', 'd40', 100), told(NULL, 'disputed', 'p40', 'd40', 90, due => 500), told(NULL, 'refunded', 'p40', 'd40', 300);
SELECT make(40), pay(40, 'p40'), payments(40);
SELECT * FROM told_of(40);

-- What has come again after the purge is in no list of what can be claimed, and in that of what went back.
SELECT make(60), pay(60, 'p60'), told(NULL, 'refunded', 'p60', 'd60', 100);
DELETE FROM urlmode.elicitation WHERE id = id(60);
SELECT told(NULL, 'refund_reversed', 'p60', 'd60', 200, kind => 'dispute_won', state => 'won'), payments(60);
SELECT (SELECT count(*) FROM unclaimed() u WHERE u.n = 60) AS listed, m.unclaimed - (SELECT count(*) FROM unclaimed()) AS counted_only, r.reference, r.reversed
FROM urlmode.measure() m, refunds() r WHERE r.n = 60;

-- Also from a purged elicitation on.
SELECT make(50), pay(50, 'p50'), claim(50);
DELETE FROM urlmode.elicitation WHERE id = id(50);
SELECT told(NULL, 'disputed', 'p50', 'd50', 100), told(NULL, 'refunded', 'p50', 'd50', 110, state => 'needs_response');
SELECT * FROM told_of(50);
