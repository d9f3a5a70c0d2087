-- Money that goes back, or comes again. A refund belongs to the payment that it names, refunds are added, and what is not clear
-- is held until the operator decides.

LISTEN urlmode;

-- Refunds add up, each once. A part holds the payment: no call is offered it, and nobody is asked to pay again. All of it makes
-- the payment unclaimable, and the thing can be bought again.
SELECT make(1, key => 'report'), pay(1, 'p1'), back(1, '4.00 EUR', 'p1', 'a'), back(1, '4.00 EUR', 'p1', 'a'), payments(1), claim(1), find('report');
SELECT n, status, outcome, result, paid_by, refunded FROM reads(1);
SELECT * FROM unclaimed();
SELECT make(2, key => 'report'), outcome FROM begins('call', 1);
SELECT back(1, '6.00 EUR', 'p1', 'b'), payments(1), claim(1), claim(1, held => true), find('report'), make(2, key => 'report');
SELECT n, status, outcome, result, paid_by, refunded FROM reads(1);
SELECT * FROM unclaimed();
SELECT * FROM refunds();
SELECT kept_events(1), refunds FROM urlmode.elicitation WHERE id = id(1);
-- More than all of it is all of it.
SELECT back(1, '6.00 EUR', 'p1', 'c'), payments(1);

-- What went back can come again: in part, all of it, and also where that is told first.
SELECT make(3), pay(3, 'p3'), again(3, '10.00 EUR', 'p3', 'early'), payments(3), back(3, '10.00 EUR', 'p3', 'early'), payments(3);
SELECT back(3, NULL, 'p3', 'all'), payments(3), again(3, '3.00 EUR', 'p3', 'all'), payments(3), again(3, '2.00 EUR', 'p3', 'all'), payments(3), again(3, NULL, 'p3', 'all'), payments(3);
SELECT again(3, '1.00 EUR', 'p3', 'all'), payments(3), reference, payment, amount, reversed FROM unclear(3) ORDER BY reference;
SELECT reference, reversed FROM refunds(of_one => 3);
SELECT claim(3), payments(3);
-- Also what comes again can be more than went back.
SELECT make(4), pay(4, 'p4'), back(4, '3.00 EUR', 'p4', 'x'), again(4, '5.00 EUR', 'p4', 'x'), payments(4), back(4, '2.00 EUR', 'p4', 'y'), payments(4);

-- Of a payment of nothing, nothing went back when it came again.
SELECT make(8, price => '0.00 EUR'), pay(8, 'p8', '0.00 EUR'), back(8, '0.00 EUR', 'p8', 'r8'), payments(8), again(8, '0.00 EUR', 'p8', 'r8'), payments(8);

-- Without a name of its own, an event tells the total that went back: the largest counts, once, whether or not the event names the payment,
-- and whichever comes first.
SELECT make(5), back(5, '3.00 EUR', 'p5'), back(5, '2.00 EUR', 'p5'), pay(5, 'p5'), payments(5), back(5, '5.00 EUR'), payments(5), back(5, '4.00 EUR', 'p5'), payments(5), back(5, NULL), payments(5),
	back(5, '6.00 EUR'), payments(5);
SELECT * FROM refunds(of_one => 5);
-- A total that is told again after it came again may be the same refund or a new one: it holds until the operator decides, each time.
SELECT make(6), again(6, '5.00 EUR', 'p6'), back(6, '5.00 EUR', 'p6'), pay(6, 'p6'), payments(6), back(6, '5.00 EUR', 'p6'), payments(6), again(6, '5.00 EUR', 'p6'), payments(6);
SELECT * FROM unclear(6);
SELECT decide('p6', 'released'), payments(6), back(6, '5.00 EUR', 'p6'), payments(6), decide('p6', 'voided'), payments(6);
-- A refund with a name can be told again.
SELECT make(7), pay(7, 'p7'), back(7, '5.00 EUR', 'p7', 'a7'), again(7, '5.00 EUR', 'p7', 'a7'), back(7, '5.00 EUR', 'p7', 'a7'), payments(7);

-- A refund touches no other payment than the one that it names. One that names none is of the first one that is proved, if it is told before the second;
-- of several, all are held, also those that are proved later.
SELECT make(10), back(10, '10.00 EUR', 'other', 'r10'), pay(10, 'p10'), back(10, '1.00 EUR', 'another'), payments(10);
SELECT * FROM refunds(of_one => 10);
SELECT make(11), pay(11, 'p11'), back(11, '10.00 EUR', refund => 'r11'), payments(11);
SELECT make(12), pay(12, 'p12'), pay(12, 'p12b'), back(12, '10.00 EUR', refund => 'r12'), pay(12, 'p12c'), payments(12);
SELECT * FROM refunds(of_one => 12);
SELECT * FROM unclear(12);
SELECT decide('p12', 'released'), decide('p12b', 'voided'), payments(12), claim(12), claim(12, 'p12c', held => true);
SELECT again(12, '10.00 EUR', refund => 'r12'), payments(12);
-- Also where it comes first, and where it tells a total. What is attributed stays.
SELECT make(14), back(14, '4.00 EUR', refund => 'r14'), pay(14, 'p14'), payments(14), back(14, '6.00 EUR', refund => 's14'), payments(14), pay(14, 'q14'), payments(14);
SELECT make(15), back(15, '4.00 EUR'), pay(15, 'p15'), payments(15), back(15, '5.00 EUR'), payments(15), pay(15, 'q15'), back(15, '5.00 EUR', 'p15'), payments(15);
SELECT * FROM refunds() WHERE n IN (14, 15);
SELECT make(16), again(16, '4.00 EUR', refund => 'r16'), pay(16, 'p16'), payments(16), back(16, '10.00 EUR', refund => 'r16'), payments(16);
-- Of two elicitations that it names, the one that is paid.
SELECT make(17), make(18), back(17, '10.00 EUR', refund => 'r17'), back(18, '10.00 EUR', refund => 'r17'), pay(18, 'p18'), payments(18), pay(17, 'p17'), payments(17);
-- A provider without references: the payment has the name of the elicitation.
SELECT make(13), pay(13), back(13, '1.00 EUR'), back(13, '2.00 EUR', refund => 'r13') LIKE 'refunded', payments(13) LIKE '%13 10.00 EUR refunded 3.00 held';

-- A refund that is told of two elicitations holds the payments of both, until an event names its payment.
SELECT make(20), pay(20, 'p20'), make(21), pay(21, 'p21'), back(20, '10.00 EUR', refund => 'r20'), payments(20), payments(21);
SELECT back(21, '10.00 EUR', refund => 'r20'), payments(20), payments(21);
SELECT * FROM refunds() WHERE n IN (20, 21) ORDER BY n;
SELECT back(20, '10.00 EUR', 'p21', 'r20'), payments(20), payments(21), back(20, '10.00 EUR', refund => 'r20'), payments(20), payments(21);
SELECT * FROM refunds() WHERE n IN (20, 21);
SELECT * FROM refunds(of_one => 20);
-- One that moves to another payment leaves nothing at the one that it was of, also if it named an elicitation before its payment was proved.
SELECT back(20, '10.00 EUR', 'p20', 'r20'), payments(20), payments(21);
SELECT make(22), back(22, '10.00 EUR', 'none', 'r22'), back(22, '10.00 EUR', 'p21', 'r22'), payments(21), pay(22, 'p22'), make(23), pay(23, 'p23'), back(22, '10.00 EUR', 'p23', 'r22'), payments(21), payments(23);
SELECT make(24), make(25), back(24, '10.00 EUR', 'p25', 'r24'), pay(24, 'p24'), pay(25, 'p25'), payments(24), payments(25), back(25, '10.00 EUR', 'p24', 'r24'), payments(24), payments(25);
-- What goes back of a payment is announced for its elicitation, whichever the event names; a reversal finds its refund.
SELECT make(26), pay(26, 'p26'), back(25, '1.00 EUR', 'p26', 'r26'), payments(26), again(NULL, '1.00 EUR', 'p26', 'r26'), payments(26), claim(26);

-- The operator releases what is held, so that the next call is offered it, or voids it, which can be undone. What goes back after
-- that holds it again. What a call has claimed, or is at, is not decided any more.
SELECT make(30, key => 'k30'), pay(30, 'p30'), decide('p30', 'released'), decide('p30', 'voided'), decide('none', 'voided'), decide('p30', 'voided', 'other');
SELECT back(30, '1.00 EUR', 'p30', 'a30'), decide('p30', 'voided'), payments(30), find('k30'), decide('p30', 'voided'), decide('p30', 'released'), payments(30), find('k30'), decide('p30', 'released');
SELECT back(30, '1.00 EUR', 'p30', 'b30'), payments(30), decide('p30', 'released'), claim(30), decide('p30', 'voided'), decisions(30);
SELECT make(31), pay(31, 'p31'), back(31, '1.00 EUR', 'p31', 'a31'), decide('p31', 'released');
SELECT outcome, back(31, '1.00 EUR', 'p31', 'b31'), payments(31), decide('p31', 'voided') FROM begins('a', 31);
-- Between the lease and its end the call may have delivered, so that it goes on; after its end it does not go on with what is held or gone.
SELECT renews('a', 31), pass('2 min'), renews('a', 31), again(31, '1.00 EUR', 'p31', 'b31'), renews('a', 31), pass('2 min'), back(31, '1.00 EUR', 'p31', 'c31'), renews('a', 31),
	decide('p31', 'voided'), fulfils('a', 31);
-- What a call has made, and nobody has confirmed, is given to the next call. When that is purged, the operator decides.
SELECT make(34, key => 'k34'), pay(34, 'p34');
SELECT outcome, fulfils('d', 34), back(34, '1.00 EUR', 'p34', 'a34'), decide('p34', 'released'), find('k34'), pass('31 days'), purge_results() > 0 AS purged FROM begins('d', 34);
SELECT n, outcome, paid_by FROM reads(34);
SELECT decide('p34', 'released'), payments(34), find('k34');
SELECT n, outcome, paid_by FROM reads(34);
SELECT outcome, back(34, '1.00 EUR', 'p34', 'b34'), decide('p34', 'voided') FROM begins('e', 34);
-- What names a checkout of two payments is listed for as long as they are, also when their elicitation is deleted.
SELECT make(36, checkout => 'c36'), pay(36, 'p36', checkout => 'c36'), pay(36, 'q36', checkout => 'c36'), back(36, '1.00 EUR', 'c36'), claim(36, 'p36', held => true), claim(36, 'q36', held => true), pass('200 days'), purge() > 0 AS purged, state(36);
SELECT * FROM refunds(of_one => 36);
-- What was voided is listed again when more of it is captured. Claimed with held, it is claimed.
SELECT make(32), pay(32, 'p32', '6.00 EUR'), back(32, '1.00 EUR', 'p32', 'a32'), decide('p32', 'voided'), payments(32), pay(32, 'p32'), payments(32), decide('p32', 'released'), payments(32), claim(32);
SELECT make(33), pay(33, 'p33'), back(33, '1.00 EUR', 'p33', 'a33'), claim(33), claim(33, held => true), payments(33);

-- An amount in a second currency cannot be compared: it is left out, and holds until the operator decides. When it grows, again.
SELECT make(40), pay(40, 'p40'), back(40, '1.00 EUR', 'p40'), decide('p40', 'released'), payments(40), back(40, '10.00 USD', 'p40'), payments(40), decide('p40', 'released'), again(40, '10.00 USD', 'p40'), payments(40);
SELECT * FROM unclear(40);
SELECT make(41), pay(41, 'p41'), back(41, '0.01 USD', 'p41'), payments(41), decide('p41', 'released'), payments(41), back(41, '9.00 USD', 'p41'), payments(41);
SELECT * FROM unclear(41);
SELECT make(44), pay(44, 'p44'), back(44, '0.01 EUR', 'p44'), payments(44);
SELECT make(43), pay(43, 'p43'), back(43, '1.00 USD', 'p43'), back(43, '1.00 EUR', 'p43'), decide('p43', 'released'), payments(43), back(43, '9.00 USD', 'p43'), payments(43);
SELECT make(42), pay(42, 'p42'), back(42, '1.00', 'p42', 'a42'), payments(42), back(42, '1.00 EUR', 'p42', 'b42'), payments(42), again(42, '1.00 USD', 'p42', 'z42'), payments(42);
SELECT * FROM refunds(of_one => 42);

-- A payment that was written down by its checkout gets its own name. Totals under both names count once.
SELECT make(50, checkout => 'c50'), pay(50, 'c50', checkout => 'c50'), back(50, '5.00 EUR', 'c50'), back(50, '5.00 EUR', 'p50'), payments(50), pay(50, 'p50', checkout => 'c50'), payments(50);
SELECT * FROM refunds(of_one => 50);
-- They keep what came again, and then hold; of two currencies nothing is added.
SELECT make(51, checkout => 'c51'), pay(51, 'c51', checkout => 'c51'), back(51, '1.00 EUR', 'c51'), again(51, '1.00 EUR', 'c51'), back(51, '0.40 EUR', 'p51'), pay(51, 'p51', checkout => 'c51'), payments(51);
SELECT * FROM unclear(51);
SELECT make(52, checkout => 'c52'), pay(52, 'c52', checkout => 'c52'), back(52, '10.00 USD', 'c52'), back(52, '0.40 EUR', 'p52'), pay(52, 'p52', checkout => 'c52'), payments(52);
SELECT * FROM unclear(52);
SELECT make(53, checkout => 'c53'), pay(53, 'c53', checkout => 'c53'), back(53, NULL, 'c53'), back(53, '0.40 EUR', 'p53'), again(53, NULL, 'p53'), pay(53, 'p53', checkout => 'c53'), payments(53);
SELECT * FROM unclear(53);
SELECT make(54, checkout => 'c54'), pay(54, 'c54', checkout => 'c54'), back(54, '3.00 EUR', 'c54'), pay(54, 'p54', checkout => 'c54'), payments(54), decide('p54', 'released'), back(54, '3.00 EUR', 'p54'), payments(54), claim(54);
-- A refund that names the checkout is of its single payment, whichever comes first, and whether it names all of it or a part.
SELECT make(55, checkout => 'c55'), pay(55, 'p55', checkout => 'c55'), back(55, '10.00 EUR', 'c55', 'r55'), payments(55), decide('p55', 'released'), payments(55);
SELECT make(56, checkout => 'c56'), back(NULL, '10.00 EUR', 'c56', 'r56'), pay(56, 'p56', checkout => 'c56'), payments(56), again(NULL, '10.00 EUR', 'c56', 'r56'), payments(56);
SELECT make(57), pay(57, 'p57', checkout => 'c57'), back(NULL, '4.00 EUR', 'c57', 'r57'), payments(57);
SELECT * FROM unclear(55);
SELECT * FROM refunds() WHERE n IN (55, 56, 57);
-- It stays so when it is told again after a second payment of the checkout; another refund of it holds both.
SELECT make(59, checkout => 'c59'), pay(59, 'p59', checkout => 'c59'), back(59, '4.00 EUR', 'c59', 'r59'), pay(59, 'q59', checkout => 'c59'), back(59, '4.00 EUR', 'c59', 'r59'), payments(59), back(59, '1.00 EUR', 'c59', 's59'), payments(59);
-- A total that names the checkout, and one that names the payment, are one.
SELECT make(66, checkout => 'c66'), back(66, '3.00 EUR', 'c66'), pay(66, 'p66', checkout => 'c66'), payments(66), back(66, '4.00 EUR', 'c66'), back(66, '5.00 EUR', 'p66'), payments(66), again(66, '2.00 EUR', 'c66'), payments(66);
-- One that names the payment holds it as long as it is known by its checkout.
SELECT make(58, checkout => 'c58'), settle(58, price => '10.00 EUR', reference => 'c58'), back(58, '4.00 EUR', 'p58', 'r58'), payments(58);
SELECT * FROM unclear(58);
SELECT pay(58, 'p58', checkout => 'c58'), payments(58);
SELECT * FROM unclear(58);
-- A checkout may be of several elicitations: if several are paid, all are held, and one that names an elicitation is of no other.
SELECT make(60, checkout => 'c60'), make(61, checkout => 'c60'), make(62, checkout => 'c60'), make(63, checkout => 'c63'), pay(60, 'p60', checkout => 'c60'), pay(61, 'p61', checkout => 'c60'), pay(63, 'p63', checkout => 'c63');
SELECT back(NULL, '1.00 EUR', 'c60', 'r60'), payments(60), payments(61), payments(63), (SELECT string_agg(r.n::text, ' ' ORDER BY r.n) FROM refunds() r WHERE r.reference = 'r60') AS told;
SELECT pay(62, 'p62', checkout => 'c60'), payments(62), decide('p60', 'released'), decide('p61', 'released'), decide('p62', 'released'), back(62, '1.00 EUR', 'c60', 's60'), payments(60), payments(62);
-- A payment that is written down without its checkout gets it with the next event.
SELECT make(64), settle(64, price => '10.00 EUR', reference => 'p64'), pay(64, 'p64', checkout => 'c64'), back(NULL, '10.00 EUR', 'c64', 'r64'), payments(64);
SELECT make(65), settle(65, price => '10.00 EUR', reference => 'p65'), pay(65, 'q65', checkout => 'c65'), back(NULL, '1.00 EUR', 'c65', 'r65'), payments(65);

-- One batch proves a payment and tells what goes back of it, for another elicitation or none, in either order: no outcome is announced.
SELECT make(70), make(71), make(72), make(73, checkout => 'c73');
SELECT * FROM events('[{"n": 70, "effect": "paid", "price": "10.00 EUR", "ref": "p70", "outcome": "secret"}, {"n": 71, "effect": "refunded", "price": "5.00 EUR", "ref": "p70", "refund": "r70"}]');
SELECT * FROM events('[{"n": 71, "effect": "refunded", "price": "5.00 EUR", "ref": "p72", "refund": "r72"}, {"n": 72, "effect": "paid", "price": "10.00 EUR", "ref": "p72", "outcome": "secret"}]');
SELECT * FROM events('[{"n": 73, "effect": "paid", "price": "10.00 EUR", "ref": "p73", "checkout": "c73", "outcome": "secret"}, {"effect": "refunded", "price": "5.00 EUR", "ref": "c73", "refund": "r73"}]');
SELECT payments(70), payments(72), payments(73);
SELECT n, reference, payment FROM refunds() WHERE n BETWEEN 70 AND 79;
-- An accept whose payment is held or went back before is announced without its outcome.
SELECT make(74), make(75), make(76), make(77), back(75, '4.00 EUR', 'p75', 'r75'), back(76, '10.00 EUR', 'p76', 'r76'), back(NULL, '4.00 EUR', 'p77', 'r77');
SELECT pay(74, 'p74', outcome => 'open'), pay(75, 'p75', outcome => 'secret'), pay(76, 'p76', outcome => 'secret'), pay(77, 'p77', outcome => 'secret'), payments(77);

-- Of an elicitation that is deleted the payment stays, and what may have gone back of it; what went back of others goes with it.
SELECT make(80, key => 'k', session => ''), pay(80, 'p80', checkout => 'c80'), claim(80), back(80, '1.00 EUR', 'p80', 'a80'), back(80, '1.00 EUR', refund => 'b80'), back(80, '1.00 EUR', 'strange', 'd80'), make(81), make(82), pay(82, 'p82'), claim(82);
SELECT back(81, '1.00 EUR', refund => 'e80'), back(82, '1.00 EUR', refund => 'e80'), back(81, '1.00 EUR', refund => 'f80');
SELECT count(*) FROM refunds(of_one => 80) WHERE owner = 'ann k' AND flags = 'held claimed';
DELETE FROM urlmode.elicitation WHERE id IN (id(80), id(81));
SELECT reference FROM urlmode.refund WHERE reference LIKE '_80' ORDER BY reference;
DELETE FROM urlmode.elicitation WHERE id = id(82);
SELECT reference FROM urlmode.refund WHERE reference LIKE '_80' ORDER BY reference;
-- What goes back then is told all the same: by its payment, its checkout, or the elicitation alone.
SELECT back(NULL, '0.50 EUR', 'p80', 'g80'), back(80, '0.50 EUR', refund => 'h80'), back(NULL, '0.50 EUR', 'c80', 'i80'), back(80, '0.50 EUR', 'c80', 'j80'), back(NULL, '0.50 EUR', 'c80-', 'k80'), payments(80);
SELECT n, reference, amount, payment, flags, owner FROM refunds(provider => 'shop', since => '1 hour') WHERE reference LIKE '_80' AND reference > 'd' ORDER BY reference, n;
SELECT count(*) FROM refunds(since => '-1 hour');
SELECT count(*) FROM refunds('other');
-- What comes again of it is voided by the operator, and not released.
SELECT make(83), pay(83, 'p83'), back(83, '10.00 EUR', 'p83', 'r83'), make(84), pay(84, 'p84'), back(84, '10.00 EUR', 'p84', 'r84');
DELETE FROM urlmode.elicitation WHERE id IN (id(83), id(84));
SELECT again(NULL, '10.00 EUR', 'p83', 'r83'), again(NULL, '5.00 EUR', 'p84', 'r84'), payments(83), payments(84), decide('p83', 'released'), decide('p83', 'voided'), decide('p84', 'voided'), payments(83), payments(84), decide('p83', 'voided'), decide('p83', 'released');

-- Whatever went back of others, a payment reads none of it.
INSERT INTO urlmode.refund (provider, reference, elicitations, payment, amount, currency, refunded_at)
SELECT 'shop', 'many' || i, ARRAY[gen_random_uuid()], 'of' || i, 100, 'EUR', now() FROM generate_series(1, 20000) i;
ANALYZE urlmode.refund;
CREATE FUNCTION scans() RETURNS bigint LANGUAGE sql AS $$
	SELECT s.seq_scan FROM pg_stat_xact_user_tables s WHERE s.schemaname = 'urlmode' AND s.relname = 'refund'
$$;
CREATE FUNCTION scans_of_payment(n integer) RETURNS TABLE (made text, paid text, scans bigint) LANGUAGE plpgsql AS $$
DECLARE
	before bigint;
BEGIN
	made := test.make(n);
	before := test.scans();
	paid := test.pay(n, 'p' || n);
	scans := test.scans() - before;
	RETURN NEXT;
END
$$;
SELECT s.* FROM generate_series(900, 907) n CROSS JOIN LATERAL scans_of_payment(n) s;
