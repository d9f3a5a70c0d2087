-- Money: what is accepted as paid, when, and for which elicitation.

LISTEN urlmode;

-- An elicitation is paid by what it expects: the amount and the currency. 'any' is any positive amount. What is not as expected ends
-- it, and is listed to be refunded.
SELECT make(1), pay(1, 'p1', '9.99 EUR'), make(2), pay(2, 'p2', '10.00 USD'), make(3, price => 'any'), pay(3, 'p3', '0.01 JPY'), make(4, price => 'any'), pay(4, 'p4', '0.00 JPY'),
	make(5, price => '0.00 EUR'), pay(5, 'p5', '0.00 EUR'), make(6, price => '0.00 EUR'), pay(6, 'p6', '0.01 EUR'), make(7), pay(7, 'p7', '11.00 USD');
SELECT * FROM shows(1, 2, 3, 4, 5, 6, 7);
SELECT n, reference, paid, flags FROM unclaimed() ORDER BY n;
-- An event without an amount, a currency or a sealed result proves nothing: the provider has to be asked.
SELECT make(8), pay(8, 'p8', NULL), pay(8, 'p8', '10.00'), pay(8, 'p8', result => 'none'), state(8), payments(8);
-- What no price can be.
SELECT make(9, price => '-1.00 EUR');
SELECT make(9, price => '1.00 euro');
-- Signatures have no price.
SELECT make(9, 'signature'), event(9, 'accepted', result => 'none'), state(9);

-- One payment pays for one elicitation, ever; without a name it has that of its elicitation.
SELECT make(10), pay(10, 'p10'), pay(10, 'p10'), make(11), pay(11, 'p10'), state(11), make(12), pay(12), payments(12) LIKE '%12 10.00 EUR', make(13, provider => 'other'), event(13, 'paid', '10.00 EUR', 'p10', provider => 'other');
SELECT * FROM events('[{"n": 11, "effect": "paid", "price": "10.00 EUR", "ref": "q"}, {"n": 13, "effect": "paid", "price": "10.00 EUR", "ref": "q"}]');
SELECT make(14), make(15);
SELECT * FROM events('[{"n": 14, "effect": "paid", "price": "10.00 EUR", "ref": "q14"}, {"n": 15, "effect": "paid", "price": "10.00 EUR", "ref": "q14"}, {"n": 15, "effect": "paid", "price": "10.00 EUR", "ref": "q15"}]');
-- Also in one transaction, for an elicitation that it has paid for in part: what it has paid before comes first.
SELECT make(16), make(17), pay(17, 'q16', '6.00 EUR');
SELECT * FROM events('[{"n": 16, "effect": "paid", "price": "10.00 EUR", "ref": "q16"}, {"n": 17, "effect": "paid", "price": "10.00 EUR", "ref": "q16"}]');
SELECT payments(16), payments(17);

-- A payment that is captured in parts: more of it replaces what was captured before, less of it or another currency does not; the whole of
-- it counts, also after a claim. Then it is to be claimed again. What is more than the whole is written down, and changes nothing else.
SELECT make(20), pay(20, 'p20', '3.00 EUR'), payments(20), pay(20, 'p20', '7.00 EUR'), payments(20), pay(20, 'p20', '6.00 EUR'), payments(20), pay(20, 'p20', '8.00 USD'), payments(20), claim(20, 'p20'),
	pay(20, 'p20', '8.00 EUR'), payments(20), pay(20, 'p20'), payments(20), pay(20, 'p20', '11.00 EUR'), payments(20);
SELECT * FROM reads(20);
-- More that is captured of what was as expected: a call that has not claimed it reads the new result, one that has keeps it. Less of it, or
-- another currency, changes nothing; and what is added can go back.
SELECT make(22), pay(22, 'p22', result => 'first'), pay(22, 'p22', '15.00 EUR', result => 'more'), payments(22), pay(22, 'p22', '12.00 EUR'), pay(22, 'p22', '90.00 USD'), payments(22);
SELECT n, outcome, result, paid_by, refunded FROM reads(22);
SELECT claim(22), pay(22, 'p22', '16.00 EUR'), payments(22), back(22, '6.00 EUR', 'p22', 'a22'), payments(22), back(22, '10.00 EUR', 'p22', 'b22'), payments(22);
SELECT make(23), pay(23, 'p23'), back(23, '10.00 EUR', 'p23', 'r23'), payments(23), pay(23, 'p23', '15.00 EUR'), payments(23);
-- What the operator has voided of a part is no decision about the whole.
SELECT make(80), pay(80, 'p80', '3.00 EUR'), decide('p80', 'voided'), payments(80), pay(80, 'p80'), payments(80), claim(80);
SELECT make(81), pay(81, 'p81', '3.00 EUR'), back(81, '3.00 EUR', 'p81', 'r81'), decide('p81', 'voided'), pay(81, 'p81'), payments(81), decide('p81', 'released'), payments(81);
-- What the operator releases is told to a call that waits for another payment.
SELECT make(82), event(82, 'processing', ref => 'q82'), pay(82, 'p82', '9.00 EUR');
SELECT decide('p82', 'released');
SELECT * FROM reads(82);
-- What is captured later names its payment, and not always its checkout: what said that it was authorised has named both, for this elicitation.
SELECT make(24, checkout => 'c24'), event(24, 'processing', ref => 'p24', checkout => 'c24'), state(24), pay(24, 'q24'), state(24), pay(24, 'p24'), state(24), payments(24);
SELECT make(25, checkout => 'c25'), event(25, 'processing', ref => 'p25', checkout => 'link'), pay(25, 'p25'), event(24, 'processing', ref => 'p25', checkout => 'c25'), pay(25, 'p25'), state(25), payments(25);
-- An authorisation that is released ends its attempt; what was captured before stays.
SELECT make(27), event(27, 'processing', ref => 'a27'), event(27, 'attempt_failed', ref => 'a27'), state(27), make(28), event(28, 'processing', ref => 'p28'), event(28, 'failed', ref => 'p28'), state(28), pay(28, 'p28'), state(28),
	make(29), pay(29, 'p29'), event(29, 'failed', ref => 'p29'), state(29);
-- Two payments are two; the second is late.
SELECT make(21), pay(21, 'p21'), pass('1 s'), pay(21, 'q21'), payments(21);
SELECT n, outcome, paid_by FROM reads(21);

-- What is paid after the end is an accept for the next call, and announced as late, whatever the end was; the page says that the money has arrived.
SELECT make(30, key => 'k30'), complete(30, 'decline'), make(31, key => 'k31'), settle(31, 'cancel'), make(32, key => 'k32'), event(32, 'failed'), make(33, key => 'k33'), abandon(33), make(34, key => 'k34', ttl => '-1 s'), expire(34),
	make(35, key => 'k35', ttl => '-1 s');
SELECT n, outcome, how, late FROM generate_series(30, 35) AS n, page(n);
SELECT n, pay(n, 'p' || n), find('k' || n), payments(n) FROM generate_series(30, 35) AS n;
SELECT n, outcome, how, late FROM generate_series(30, 35) AS n, page(n);
SELECT * FROM reads(30, 31, 32, 33, 34, 35);
SELECT claim(30), back(31, NULL, 'p31'), find('k30'), find('k31'), late FROM page(31);
SELECT n, status, outcome, result, paid_by, "from" FROM reads(30, 31);
-- In its grace a payment is in time. While it is processing that is at least thirty days.
SELECT make(36), open(36, grace => '1 hour'), make(37), event(37, 'processing'), make(38), open(38, grace => '40 days'), event(38, 'processing'), pass('50 min'), pay(36, 'p36'), payments(36);
SELECT n, status, expires, closes FROM reads(37, 38);
SELECT pass('29 days'), expire(37), pass('26 hours'), expire(37, 38), state(37), pay(38, 'p38'), payments(38), pay(37, 'p37');
-- Nobody is sent to pay for what is paid: at that price, by this owner, as long as nobody has claimed it.
SELECT make(40, key => 'k40'), settle(40, 'cancel'), claim(40, action => 'cancel'), make(41, key => 'k40'), make(42, key => 'other'), make(43, key => 'k40', request => 'x'), make(44, key => 'k40', subject => 'bob'), make(45), pay(40, 'p40');
SELECT * FROM opens('[{"n": 41}, {"n": 42}, {"n": 43}, {"n": 44}, {"n": 45}]');
SELECT state(41), claim(40), open(41);
SELECT make(46, key => 'k46'), settle(46, 'cancel'), claim(46, action => 'cancel'), make(47, key => 'k46'), pay(46, 'p46', '1.00 EUR'), open(47), make(48, 'oauth', key => 'k46', subject => 'una'), open(48);

-- An attempt to pay that is under way after the end is waited for, if it has a name: nobody is asked again meanwhile. It ends with an event about it,
-- a payment, or thirty days.
SELECT make(50, key => 'k50'), complete(50, 'decline'), event(50, 'processing', ref => 'a'), state(50), find('k50'), event(50, 'attempt_failed', ref => 'b'), state(50), event(50, 'attempt_failed', ref => 'a'), state(50);
SELECT make(51), complete(51, 'decline'), event(51, 'processing'), state(51), event(51, 'processing', ref => 'a'), state(51);
SELECT event(51, 'failed', ref => 'a'), state(51);
SELECT make(52), complete(52, 'decline'), event(52, 'processing', ref => 'a'), pass('1 min'), pay(52, 'a'), state(52);
SELECT n, status, outcome FROM reads(52);
SELECT make(53), complete(53, 'decline'), event(53, 'processing', ref => 'a'), abandon(53), pass('29 days'), state(53), pass('2 days'), state(53);
-- What the MCP server itself cut off counts if the provider says so again.
SELECT make(54), event(54, 'processing', ref => 'a');
SELECT settle(54, 'cancel'), state(54), event(54, 'processing', ref => 'b');
SELECT state(54);
SELECT n, status, "from" FROM reads(54);
SELECT make(55), event(55, 'processing', ref => 'a'), complete(55, 'decline'), expire(55), state(55);

-- The server's own accept is compared as well, and needs the amount, the currency and the reference.
SELECT make(60), settle(60), settle(60, price => '10.00 EUR'), settle(60, price => '10.00', reference => 'p60'), settle(60, price => '10.00 EUR', reference => ''), settle(60, price => '9.00 EUR', reference => 'p60'),
	settle(60, price => '10.00 USD', reference => 'p60'), settle(60, price => '10.00 EUR', reference => 'p10'), settle(60, price => '10.00 EUR', reference => 'p60', subject => 'eve'), state(60);
SELECT settle(60, price => '10.00 EUR', reference => 'p60'), settle(60, price => '10.00 EUR', reference => 'p60'), pay(60, 'p60'), payments(60), kept(60);
SELECT settle(60, 'cancel'), settle(60, price => '10.00 EUR', reference => 'r60'), payments(60);
SELECT make(61), open(61, grace => '1 hour'), pass('10 min'), settle(61, price => '10.00 EUR', reference => 'p61'), make(62, ttl => '-1 s'), settle(62, price => '10.00 EUR', reference => 'p62'), payments(61), payments(62);

-- A checkout that the server made: only a payment of that checkout counts. Its payment may have another name.
SELECT make(70, checkout => 'c70'), pay(70, 'p70', checkout => 'other'), pay(70, 'p70'), state(70), pay(70, 'p70', checkout => 'c70'), payments(70), kept_events(70);
-- Whoever tells of it first, the webhook or the server, by its checkout or its own name: it is one payment.
SELECT make(71, checkout => 'c71'), pay(71, 'p71', checkout => 'c71'), settle(71, price => '10.00 EUR', reference => 'c71'), pay(71, 'c71', checkout => 'c71'), payments(71);
SELECT make(72, checkout => 'c72'), settle(72, price => '10.00 EUR', reference => 'c72'), payments(72), pay(72, 'p72', checkout => 'c72'), payments(72), pay(72, 'c72', checkout => 'c72'), payments(72);
SELECT make(73, checkout => 'c73'), pay(73, 'p73', '6.00 EUR', 'c73'), settle(73, price => '10.00 EUR', reference => 'c73'), payments(73), settle(73, price => '10.00 EUR', reference => 'c73');
SELECT make(74, checkout => 'c74'), settle(74, price => '10.00 EUR', reference => 'c74'), pay(74, 'q74', checkout => 'c74'), pay(74, 'r74', checkout => 'c74'), payments(74);
SELECT make(75, checkout => 'c75'), pay(75, 'c75', '6.00 EUR', 'c75'), pay(75, 'p75', '10.00 EUR', 'c75'), payments(75), make(76), pay(76, 'p75'), make(77), pay(77, 'c75');
-- The names of what the operator has decided, and of a refund, follow.
SELECT make(78, checkout => 'c78'), settle(78, price => '10.00 EUR', reference => 'c78'), back(78, '1.00 EUR', 'c78', 'r78'), decide('c78', 'released'), pay(78, 'p78', checkout => 'c78'), payments(78), decisions(78);
SELECT reference, payment FROM refunds(of_one => 78);
