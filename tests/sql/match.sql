-- How the amount that was paid must match what was expected.

-- exact, which is also what is meant where nothing is said.
SELECT make(1, match => 'exact'), pay(1, 'p1', '10.01 EUR'), make(2, match => 'exact'), pay(2, 'p2'), make(3), pay(3, 'p3', '9.99 EUR');
-- at-least: with a tax or a tip, and never less, nor in another currency.
SELECT make(10, match => 'at-least'), pay(10, 'p10', '11.90 EUR'), make(11, match => 'at-least'), pay(11, 'p11'), make(12, match => 'at-least'), pay(12, 'p12', '9.99 EUR'),
	make(13, match => 'at-least'), pay(13, 'p13', '20.00 USD');
SELECT * FROM shows(10, 11, 12, 13);
-- checkout: whatever this very checkout totals, also nothing, if the event says that all of it is paid. Otherwise somebody must ask.
SELECT make(20, match => 'checkout', checkout => 'c20'), event(20, 'paid', '7.50 EUR', 'p20', checkout => 'c20', details => '{"checkout_paid": true}'),
	make(21, match => 'checkout', checkout => 'c21'), event(21, 'paid', '7.50 EUR', 'p21', checkout => 'c21'),
	event(21, 'paid', '7.50 EUR', 'p21', details => '{"checkout_paid": true}'), event(21, 'paid', '7.50 EUR', 'p21', checkout => 'other', details => '{"checkout_paid": true}'),
	event(21, 'paid', '7.50 USD', 'p21', checkout => 'c21', details => '{"checkout_paid": true}');
SELECT make(22, price => 'whatever', checkout => 'c22'), event(22, 'paid', '0.00 USD', checkout => 'c22', details => '{"checkout_paid": true}');
SELECT make(23, price => 'whatever', checkout => 'c23'), event(23, 'paid', '0.00 EUR', 'c23', checkout => 'c23', details => '{"checkout_paid": true}');
SELECT make(24, price => 'whatever', checkout => 'c24'), event(24, 'recheck', ref => 'c24'), settle(24, price => '3.00 EUR', reference => 'c24');
-- What the server was answered by the provider's API is all of the checkout, as where it settles. Nobody is asked again.
SELECT make(25, price => 'whatever', checkout => 'c25'), event(25, 'recheck'), rechecks(25, ARRAY['p25 3.00 EUR paid 25 c25']), rechecks(25, max_age => NULL),
	make(26, price => 'whatever', checkout => 'c26'), event(26, 'recheck'), rechecks(26, ARRAY['p26 4.00 EUR processing 26']), state(26), rechecks(26, ARRAY['p26 4.00 EUR paid 26']);
SELECT * FROM shows(20, 21, 22, 23, 24, 25, 26);
SELECT claim(22), claim(22), find_item('none');
-- Without a checkout it cannot be, nor with a match that is none; only checkout needs no price.
SELECT make(30, price => 'whatever');
SELECT make(30, match => 'about', checkout => 'c30');
SELECT make(30, match => 'checkout');
-- What was paid is read with the price that was asked; and how much of it is tax, if the event says it.
SELECT make(40, match => 'at-least'), event(40, 'paid', '11.90 EUR', 'p40', details => '{"tax": 190}'), make(41, match => 'at-least'), event(41, 'paid', '11.90 EUR', 'p41'),
	make(42, price => 'whatever', checkout => 'c42'), event(42, 'paid', '0.00 EUR', checkout => 'c42', details => '{"checkout_paid": true, "tax": 0}'), make(43);
SELECT payment_reference, amount, currency, tax, expected FROM urlmode.read_paid(ARRAY[id(40), id(41), id(42), id(43)], array_fill(owner('ann'), ARRAY[4])) ORDER BY id;
