-- The kind of an elicitation and of its provider's entry agree. What proves another kind proves nothing, but money is money.

LISTEN urlmode;

-- /connect refuses an elicitation of another kind than its provider's, whoever knows its user, and moves nothing; a stranger does not learn it.
SELECT make(1, 'signature'), make(2, 'oauth'), make(3, 'input'), make(4), make(5, 'approval'), make(6, 'signature'), complete(6, 'decline');
SELECT outcome, kind, target, binding FROM opens('[{"n": 1, "kind": "payment"}, {"n": 2, "kind": "payment", "subject": "ann"}, {"n": 2, "kind": "payment", "subject": "eve"},
	{"n": 3, "kind": "payment"}, {"n": 4, "kind": "oauth"}, {"n": 6, "kind": "payment"}, {"n": 9, "kind": "payment"}, {"n": 1, "kind": "signature"}]');
SELECT outcome, binding = owner('ann') AS bound FROM urlmode.look_up_link(ARRAY[id(1), id(2), id(4), id(3), id(9)], '{shop,shop,shop,shop,shop}', '{payment,oauth,signature,payment,payment}');
SELECT outcome FROM urlmode.look_up_link(ARRAY[id(1)], '{shop}');
SELECT open_form(3, kind => 'approval'), open_form(5), open_form(4), open_form(4, 'eve'), open_form(1, 'none'), state(3), state(5);
SELECT n, state(n) FROM generate_series(2, 5) AS n;

-- Money that a provider proves for another kind is a payment that does not match: listed, and never an accept. So it is where the entry
-- of the provider is of another kind than the elicitation.
SELECT make(n, (ARRAY['oauth', 'signature', 'input', 'approval', 'payment'])[n - 9], key => 'k' || n) FROM generate_series(10, 14) AS n;
SELECT n, pay(n, 'p' || n, kind => CASE n WHEN 14 THEN 'oauth' ELSE 'payment' END, outcome => 'accept'), state(n), payments(n), kept_events(n) FROM generate_series(10, 14) AS n;
SELECT * FROM unclaimed() ORDER BY n;
SELECT make(15, 'signature'), pay(15, 'p15', kind => 'signature'), payments(15), event(15, 'accepted', kind => 'signature'), state(15);
-- Without an amount it is no money, and of another checkout it is not ours. Neither was proved.
SELECT make(16, 'signature', checkout => 'c16'), pay(16, 'p16', NULL, kind => 'payment'), pay(16, 'p16', kind => 'payment', checkout => 'x'), payments(16), pay(16, 'p16', kind => 'payment', checkout => 'c16'), payments(16);
-- An event that means nothing is looked at once more when it comes again, and still means nothing.
SELECT make(26, checkout => 'c26'), pay(26, 'w26', NULL, kind => 'oauth', identity => 'e26'), pay(26, 'w26', NULL, kind => 'oauth', identity => 'e26') AS again;
-- The same event again, another one of the same payment, more of it, and a payment of another elicitation.
SELECT make(17, 'signature'), pay(17, 'p17', kind => 'payment', identity => 'e17'), pay(17, 'p17', kind => 'payment', identity => 'e17') AS again,
	pay(17, 'p17', kind => 'payment') AS other, pay(17, 'p17', '12.00 EUR', kind => 'payment') AS more, pay(17, 'p10', kind => 'payment') AS taken, payments(17);
-- After the end it is late, so that the server hears of it at once.
SELECT make(18, 'signature'), complete(18, 'decline'), pay(18, 'p18', kind => 'payment'), payments(18), state(18);

-- The outcome of such an elicitation is its own: signed, connected, answered, claimed.
SELECT event(11, 'accepted', kind => 'signature'), complete(10), open_form(12), answer(12), state(11), state(10), state(12);
SELECT claim(11), claim(10), payments(11);
SELECT status, outcome, paid_by FROM reads(10, 11, 12) ORDER BY n;
-- The server claims the payment by its reference, before it sends the money back in its own way, also before the end: no outcome is claimed by that.
SELECT claim(12, 'p12'), payments(12), claim(12), claim(12);
SELECT make(19, 'signature'), pay(19, 'p19', kind => 'payment'), claim(19), claim(19, 'p19'), payments(19), state(19), event(19, 'accepted', kind => 'signature'), claim(19);
SELECT make(21), pay(21, 'p21', kind => 'oauth'), claim(21, 'p21'), payments(21), pay(21, 'p22', kind => 'payment'), claim(21), payments(21);
-- What goes back of it is attributed, also of what is typed or decided, and without the elicitation; then nobody lists it.
SELECT back(13, '10.00 EUR', 'p13', 'r13'), payments(13), back(NULL, '4.00 EUR', 'p14', 'r14'), payments(14), back(18, '10.00 EUR', 'p18'), payments(18), back(17, '12.00 EUR', kind => 'payment'), payments(17);
SELECT n, reference, amount, payment FROM refunds() ORDER BY n;
SELECT n, reference, paid, flags FROM unclaimed() ORDER BY n;

-- Where the entry of the provider was wrong, and is corrected, the same event is an accept.
SELECT make(20), pay(20, 'p20', kind => 'oauth', identity => 'e20'), payments(20), state(20);
SELECT pay(20, 'p20', kind => 'payment', identity => 'e20'), payments(20), state(20), pay(20, 'p20', kind => 'payment', identity => 'e20') AS again;
-- A wrong amount ends its row then, so that nobody is asked to pay once more; also where the other event is of the same payment
-- and names it by its checkout. What was claimed by hand, or went back, is over.
SELECT make(n, checkout => CASE n WHEN 23 THEN 'c23' END), pay(n, 'w' || n, '12.00 EUR', kind => 'oauth', checkout => CASE n WHEN 23 THEN 'c23' END) FROM generate_series(22, 25) AS n;
SELECT claim(24, 'w24'), back(25, '12.00 EUR', 'w25');
SELECT n, pay(n, 'w' || n, '12.00 EUR', kind => 'payment', checkout => CASE n WHEN 23 THEN 'c23' END), state(n), payments(n) FROM generate_series(22, 25) AS n;

-- Money that came before its elicitation is listed when that is created as another kind. What is proved at an entry that takes no
-- payments, for an elicitation that it does not know, is another entry's.
SELECT pay(30, 'p30', kind => 'payment'), back(30, '2.00 EUR', 'p30', 'r30'), pay(31, 'p31', kind => 'signature');
SELECT * FROM list_unknown();
SELECT make(30, 'signature'), payments(30), state(30), kept_events(30);

-- It is never purged, as long as nobody has claimed it or sent it back.
SELECT make(40, 'oauth', ttl => '1 min'), pay(40, 'p40', kind => 'payment'), make(41, 'oauth', ttl => '1 min'), pay(41, 'p41', kind => 'payment'), back(41, '10.00 EUR', 'p41');
SELECT pass('400 days'), purge() > 0 AS purged;
SELECT shows.* FROM shows(40, 41);

-- Money that a call has claimed by its reference is not offered once more where the entry is corrected and the same event comes
-- again, or the server settles it: the accept is taken.
SELECT make(n, ttl => '1 day'), pay(n, 'p' || n, kind => 'oauth', identity => 'e' || n), claim(n, 'p' || n), payments(n) FROM generate_series(50, 51) AS n;
SELECT pass('1 hour'), purge_results() > 0 AS purged;
SELECT pay(50, 'p50', kind => 'payment', identity => 'e50'), settle(51, price => '10.00 EUR', reference => 'p51');
SELECT n, state(n), payments(n), claim(n) FROM generate_series(50, 51) AS n;
SELECT * FROM unclaimed() WHERE n >= 50;
SELECT pass('25 hours'), purge_results() > 0 AS purged;
SELECT n, result FROM reads(50, 51) ORDER BY n;

-- An account that goes on keeps its code verifier, also where such money was claimed, or went back.
SELECT make(n, 'oauth', ttl => '2 days'), pay(n, 'p' || n, kind => 'payment') FROM generate_series(60, 61) AS n;
SELECT claim(60, 'p60'), back(61, '10.00 EUR', 'p61'), pass('25 hours'), purge_results() > 0 AS purged;
SELECT complete(60), complete(61);
SELECT n(e.id), word(e.verifier) AS verifier FROM urlmode.elicitation e WHERE e.id IN (id(60), id(61)) ORDER BY 1;
