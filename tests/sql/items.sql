-- A payment or signature is for an item, by which a later call of the same owner finds it again.

-- A call goes on with what is open for this provider, kind, item and request, and with nothing of another owner.
SELECT make(1, item => 'report:42', request => 'a'), make(2, item => 'report:42', request => 'a'), make(3, item => 'report:43', request => 'a'),
	make(4, item => 'report:42', request => 'b'), make(5, item => 'report:42', request => 'a', subject => 'bob'),
	make(6, item => 'report:42', request => 'a', provider => 'other'), make(7, 'signature', item => 'report:42', request => 'a');
SELECT find_item('report:42', request => 'a'), find_item('report:42', request => 'b'), find_item('report:42', request => 'a', subject => 'bob'),
	find_item('report:42', request => 'a', provider => 'other'), find_item('report:42', kind => 'signature', request => 'a'),
	find_item('report:42'), find_item('report:44', request => 'a');
-- The resume key is not compared where there is an item, and finds nothing that has one.
SELECT make(8, item => 'keyed', key => 'k'), make(9, item => 'keyed', key => 'other key'), find_item('keyed', key => 'other key'), find('k', request => 'x'), find_item('none', key => 'k', earlier => 'x');
SELECT outcome FROM makes('[{"n": 10, "subject": "kim", "item": "a"}, {"n": 11, "subject": "kim", "item": "a"}, {"n": 12, "subject": "kim", "item": "b"}]');

-- At another price, what nobody has opened is superseded, and what was opened is gone on with.
SELECT make(20, item => 'hat'), find_item('hat', '11.00 EUR'), make(21, item => 'hat', price => '11.00 EUR'), state(20), state(21);
SELECT open(21), find_item('hat', '12.00 EUR'), make(22, item => 'hat', price => '12.00 EUR'), state(21);
SELECT event(21, 'processing'), find_item('hat', '12.00 EUR');
-- Also if an event may say that it was paid, unless nobody can ask.
SELECT make(23, item => 'cap'), event(23, 'recheck'), find_item('cap', '11.00 EUR'), find_item('cap', '11.00 EUR', rechecks => false);
SELECT make(24, item => 'cap', price => '11.00 EUR', rechecks => false), state(23), find_item('cap', '11.00 EUR');
-- A signature has no price.
SELECT make(25, 'signature', item => 'contract'), find_item('contract', kind => 'signature');

-- What was paid and not claimed is taken, whatever the price is now, also if it came after the end; nobody is sent to pay again.
SELECT make(30, item => 'coat'), open(30), settle(30, 'cancel'), claim(30, action => 'cancel'), make(31, item => 'coat', price => '12.00 EUR'), pay(30, 'p30');
SELECT find_item('coat', '12.00 EUR'), find_item('coat', '13.00 EUR'), open(31), make(32, item => 'coat', price => '13.00 EUR');
SELECT * FROM reads(30);
SELECT claim(30, 'p30'), find_item('coat', '12.00 EUR'), open(31);

-- An amount that does not match is told once. From then on the money is held, and nobody is asked to pay again, at whatever price.
SELECT make(40, item => 'shoe'), open(40), make(41, item => 'lace'), pay(40, 'p40', '9.00 EUR');
SELECT n, outcome, paid_by FROM reads(40);
SELECT claim(40, action => 'cancel'), find_item('shoe', '12.00 EUR'), make(42, item => 'shoe', price => '12.00 EUR');
SELECT n, outcome, paid_by FROM reads(40);
-- Also if nobody heard it: who resumes it claims the refusal. And where the elicitation had ended otherwise.
SELECT make(43, item => 'belt'), pay(43, 'p43', '9.00 EUR'), find_item('belt'), claim(43, action => 'cancel'), make(44, item => 'tie'), settle(44, 'cancel'), claim(44, action => 'cancel'), make(45, item => 'tie', price => '11.00 EUR'), pay(44, 'p44', '9.00 EUR');
SELECT n, outcome, paid_by FROM reads(43, 44);
SELECT find_item('tie', '11.00 EUR'), open(45);
-- Until the rest comes, or until it is refunded, or delivered by the server.
SELECT pay(43, 'p43', '10.00 EUR'), find_item('belt');
SELECT n, outcome, paid_by FROM reads(43);
SELECT back(44, '9.00 EUR', 'p44'), find_item('tie', '11.00 EUR'), open(45), claim(40, 'p40'), find_item('shoe', '12.00 EUR');
SELECT n, outcome, paid_by FROM reads(40, 44);
-- Or until the operator releases it: the next call is given it, and nobody pays again. Also if a part of it went back before, such as what was too much, and after a void.
SELECT make(48, item => 'glove'), pay(48, 'p48', '12.00 EUR'), claim(48, action => 'cancel'), decide('p48', 'released'), find_item('glove'), decide('p48', 'released'), decide('p48', 'voided');
SELECT n, outcome, result, paid_by FROM reads(48);
SELECT outcome, of FROM begins('a', 48);
SELECT confirms('a', 48), find_item('glove'), decisions(48), make(49, item => 'boot'), pay(49, 'p49', '12.00 EUR'), back(49, '2.00 EUR', 'p49', 'r49'), payments(49), find_item('boot'), decide('p49', 'released'), payments(49), find_item('boot'), claim(49);
SELECT make(51, item => 'cape'), pay(51, 'p51', '9.00 EUR'), decide('p51', 'voided'), find_item('cape'), decide('p51', 'released'), find_item('cape'), back(51, '1.00 EUR', 'p51', 'r51'), payments(51);
-- It does not make money for another kind an outcome, nor a payment the first one of a subscription. What went back, or is claimed, nobody releases.
SELECT make(52, 'signature', item => 'oath'), pay(52, 'p52'), decide('p52', 'released'), make(53, item => 'late'), pay(53, 'p53', kind => 'oauth'), decide('p53', 'released'), make(54, item => 'sub');
UPDATE urlmode.elicitation SET expected = expected || '{"subscription": true}' WHERE id = id(54);
SELECT pay(54, 'p54'), decide('p54', 'released'), payments(54), make(55, item => 'gone'), pay(55, 'p55', '9.00 EUR'), back(55, '9.00 EUR', 'p55'), decide('p55', 'released'), make(56, item => 'taken'), pay(56, 'p56', '9.00 EUR'), claim(56, 'p56'), decide('p56', 'released');
-- Without an item, the next call asks again, as before.
SELECT make(46, key => 'k46'), pay(46, 'p46', '9.00 EUR'), claim(46, action => 'cancel'), find('k46');
-- More than was asked for, and the right amount as well: first that is given, then the other is held.
SELECT make(47, item => 'sock'), pay(47, 'p47'), pay(47, 'x47', '5.00 EUR'), find_item('sock');
SELECT n, outcome, paid_by FROM reads(47);
SELECT claim(47, 'p47'), find_item('sock');
SELECT n, outcome, paid_by FROM reads(47);
-- Of two that are paid the newer one is given first, also if there is money for the older one that does not match.
SELECT make(57, item => 'vest');
SELECT make(58, item => 'vest', price => '12.00 EUR'), pay(58, 'p58', '12.00 EUR'), pay(57, 'x57', '5.00 EUR'), pay(57, 'p57'), find_item('vest'), claim(58, 'p58'), find_item('vest'), claim(57, 'p57'), find_item('vest');

-- Rows of older packages have no item. They are found by their key and their digest.
SELECT make(50, key => 'message and price', request => 'old'), find_item('scarf', key => 'message and price', request => 'new', earlier => 'old'),
	find_item('scarf', key => 'message and price', request => 'old', earlier => 'new'), pay(50, 'p50'), find_item('scarf', key => 'message and price', request => 'new', earlier => 'old');

-- What was signed for an item is kept until a call has claimed it.
SELECT make(60, 'signature', item => 'deed'), event(60, 'accepted'), find_item('deed', kind => 'signature'), pass('200 days'), purge() > 0 AS purged, find_item('deed', kind => 'signature');
SELECT claim(60), find_item('deed', kind => 'signature'), pass('200 days'), purge() > 0 AS purged;
SELECT state(60);

-- Money at an entry of another kind ends nothing. Whatever does, nobody is asked to pay again.
SELECT n, make(n, item => 'wrong kind ' || n), pay(n, 'p' || n, kind => 'oauth'), find_item('wrong kind ' || n) FROM generate_series(70, 72) n;
SELECT abandon(70), make(73, item => 'wrong kind 71', price => '11.00 EUR'), state(71), open(73), pass('10 min'), expire(72);
SELECT n, find_item('wrong kind ' || n) FROM generate_series(70, 72) n;
SELECT claim(70, 'p70'), find_item('wrong kind 70');
