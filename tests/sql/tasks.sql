-- Calls that clients hold as tasks.

-- A task is its owner's. It is over a day after its elicitation can have ended.
SELECT make(1, ttl => '3 days'), make(2, subject => 'bob'), task(101, 1), task(102, 1, subject => 'bob'), task(103, 9), task_of(101), task_of(101, subject => 'bob'), task_of(102), task_of(999);
-- What was asked is answered once, in its round.
SELECT task_answer(101, 'a', subject => 'bob'), task_answer(101, 'a', 2), task_answer(101, 'a'), task_answer(101, 'a'), task_answer(101, 'b'), task_of(101);
-- It is due when its elicitation has ended. One instance runs its tool.
SELECT pay(1, 'a'), task_of(101), task_begin(101, subject => 'bob'), task_begin(101), task_begin(101), task_of(101), task_begin(101, 1), task_begin(101, 2);
-- It may go on with something else, and its lease ends then.
SELECT make(3, 'oauth', ttl => '-2 hours'), task_on(101, 1, 2, 'next'), task_of(101), task_begin(101), task_on(101, 1, 3, 'next'), task_on(101, 2, 3, 'next'), task_of(101), task_answer(101, 'a', 1), task_answer(101, 'a', 2);
-- It ends once, and only for who has its lease.
SELECT task_begin(101), task_on(101, 2), task_end(101, 3, subject => 'bob'), pass('2 min'), task_begin(101), task_end(101, 3), task_end(101, 4), task_end(101, 4), task_of(101), task_answer(101, 'b', 2), task_begin(101), task_cancel(101), task_of(101);
-- A cancellation is that of the task alone.
SELECT make(4), task(104, 4), task(105, 4), task_begin(104), task_cancel(104, subject => 'bob'), task_cancel(104), task_cancel(104), task_end(104, 1), task_cancel(199), task_of(104), task_of(105), state(4);
-- Due is also what waits for an answer of the server.
SELECT make(5, ttl => '1 day'), task(106, 5), event(5, 'recheck', ref => 'r'), task_of(106), make(6, 'input', verify => '1 min'), task(107, 6), answer(6), task_of(107), make(7, 'oauth'), task(108, 7), pass('6 min'), task_of(108);
-- Of many it is the last ones.
SELECT make(8);
SELECT count(task(200 + i, 8)) FROM generate_series(1, 6) AS i;
SELECT pass('1 s'), count(task(240 + i, 8)) FROM generate_series(1, 5) AS i;
SELECT count(*), count(*) FILTER (WHERE n(id) > 240) FROM urlmode.task WHERE elicitation = id(8);
-- Nothing is larger than it may be.
SELECT task(301, 8, repeat('x', 262145));
SELECT urlmode.answer_task_input(id(241), owner('ann'), 1, 'k', sealed(repeat('x', 262145)));
SELECT make(10), task(302, 10);
SELECT bool_and(task_answer(302, 'k' || i)) FROM generate_series(1, 32) AS i;
SELECT task_answer(302, 'k33');
-- purge deletes those that are over. An elicitation to which the browser has been given more time keeps its tasks, and it takes them along.
SELECT make(11), task(303, 11), open(11, grace => '10 days'), task_of(303), pass('2 days'), task_of(303), purge(kind => 'stored'), task_of(303), task_of(101), task_read(101);
SELECT string_agg(n(id)::text, ' ' ORDER BY id) FROM urlmode.task;
SELECT pass('10 days'), purge(kind => 'stored'), task_of(303), purge(kind => 'stored');
SELECT count(*) FROM urlmode.task;
SELECT make(12), task(304, 12);
DELETE FROM urlmode.elicitation WHERE id = id(12);
SELECT count(*) FROM urlmode.task;
-- A payment that comes when all of that is over keeps its task for another day.
SELECT make(13), task(109, 13), open(13), pass('3 days'), task_of(109), pay(13, 'late'), task_of(109), pass('1 day'), task_of(109);
-- What a call has returned is kept until it was read, and for thirty days without that. Until then what it was made of is not
-- delivered: whoever asks for the same is given its result, and it is listed.
SELECT make(14), task(110, 14), pay(14, 'u'), task_begin(110);
SELECT * FROM begins('t', 14);
SELECT fulfils('t', 14), task_end(110, 1, call => 't', n => 14), task_of(110), pass('20 days'), purge_results(), task_of(110);
SELECT * FROM undelivered();
SELECT task_read(110, subject => 'bob'), task_read(110), task_read(110), task_of(110), claim(14), pass('23 hours'), task_of(110), pass('1 hour'), task_of(110);
SELECT * FROM undelivered();
-- Whoever is given what nobody has read in time does the work again.
SELECT make(18), task(114, 18), pay(18, 'old'), task_begin(114);
SELECT * FROM begins('old', 18);
SELECT fulfils('old', 18), task_end(114, 1, call => 'old', n => 18), pass('29 days'), task_of(114), pass('2 days'), task_of(114), purge_results();
SELECT purge(kind => 'stored'), task_read(999), (SELECT count(*) FROM urlmode.task);
SELECT * FROM undelivered();
SELECT * FROM begins('next', 18);
-- What is too large for the next call, its task alone has: it is delivered by that, and no call makes another one.
SELECT make(15), task(111, 15), task(115, 15), pay(15, 'v'), task_begin(111), task_begin(115);
SELECT * FROM begins('big', 15);
SELECT task_end(111, 1, call => 'big', n => 15, keep => '1 hour'), renews('big', 15), task_of(111), task_end(115, 1);
SELECT * FROM undelivered();
SELECT * FROM begins('again', 15);
SELECT pass('59 min'), purge_results(), pass('1 min'), purge_results(), pass('29 days'), task_of(111), task_read(111), task_read(111);
-- A call whose answer fails takes nothing away from the task that has the same result. It may when that is over.
SELECT make(17), task(113, 17), pay(17, 'x'), task_begin(113);
SELECT * FROM begins('t2', 17);
SELECT fulfils('t2', 17), task_end(113, 1, call => 't2', n => 17);
SELECT * FROM begins('fails', 17);
SELECT releases('fails', 17), task_of(113);
SELECT * FROM begins('fails', 17);
DELETE FROM urlmode.task WHERE id = id(113);
SELECT releases('fails', 17);
-- What has not ended was not read. A claim that another call has begun since is that one's.
SELECT make(16), task(112, 16), task_read(112), pay(16, 'w'), task_begin(112);
SELECT * FROM begins('one', 16, lease => '1 s');
SELECT pass('1 min');
SELECT * FROM begins('other', 16);
SELECT task_begin(112), task_end(112, 2, call => 'one', n => 16), task_read(112), task_of(112), fulfils('other', 16);
-- What nobody has read goes to nobody when its money went back, whoever says so. When that comes again, it is there again. A part changes nothing.
SELECT make(19), task(116, 19), pay(19, 'r'), task_begin(116);
SELECT * FROM begins('t3', 19);
SELECT fulfils('t3', 19), task_end(116, 1, call => 't3', n => 19), back(19, '1.00 EUR', 'r', 'part'), task_of(116), back(19, '9.00 EUR', 'r', 'rest'), task_of(116), task_read(116);
SELECT again(19, NULL, 'r', 'rest'), task_of(116);
SELECT * FROM begins('operator', 19, listed => true);
SELECT fulfils('operator', 19, "end" => 'refunded', refund => 're'), task_of(116), task_read(116), task_of(116, subject => 'bob');
-- What its client has read, or another call has delivered, was delivered before the money went back.
SELECT make(20), task(118, 20), task(119, 20), pay(20, 's'), task_begin(118), task_begin(119);
SELECT * FROM begins('t4', 20);
SELECT fulfils('t4', 20), task_end(118, 1, call => 't4', n => 20), task_end(119, 1, call => 't4', n => 20), task_read(118), back(20, '10.00 EUR', 's', 'all'), task_of(118), task_of(119);
-- What was purged for other calls, the task still has, until one of them does the work again.
SELECT make(21), task(120, 21), pay(21, 'y'), task_begin(120), make(22, 'signature'), task(121, 22), sign(22), task_begin(121);
SELECT * FROM begins('t5', 21);
SELECT * FROM begins('t6', 22);
SELECT fulfils('t5', 21), task_end(120, 1, call => 't5', n => 21), fulfils('t6', 22), task_end(121, 1, call => 't6', n => 22), pass('8 days'), purge_results('7 days'), task_of(120), task_of(121);
SELECT * FROM begins('next2', 21);
SELECT task_of(120), task_of(121), task_read(121), task_of(121);
