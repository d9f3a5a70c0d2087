-- The synthetic elicitation of urlmode check: nobody else has one of its names, it goes the way of others, and nothing of it stays.

SELECT make(1, provider => 'urlmode-check');
SELECT make(2, 'approval', subject => 'urlmode-check');
SELECT outcome FROM urlmode.create_elicitation(ARRAY[id(3)], ARRAY['shop'], ARRAY['oauth'], ARRAY['ann'], ARRAY[''], ARRAY[owner('ann')], ARRAY['Example'],
	ARRAY['https://provider.example/'], ARRAY[NULL]::jsonb[], ARRAY[NULL]::bytea[], ARRAY[60000], tenants => ARRAY['urlmode-check']);

-- The owner is that of lib/PROTOCOL.md.
SELECT urlmode.walk_binding() = substring(sha256('urlmode binding v2'::bytea || '\x00' || 'urlmode-check'::bytea || '\x00' || 'urlmode-check'::bytea || '\x00') FOR 16) AS owner;
SET ROLE urlmode_operator;
SELECT urlmode.begin_walk(id(4), sealed('form'), 1);
SELECT urlmode.begin_walk(id(5), sealed('form'), 1);
RESET ROLE;
SELECT n(id), provider, kind, subject, tenant, status, link_kid, minutes(expires_at - now()) FROM urlmode.elicitation ORDER BY id;
SELECT outcome FROM urlmode.answer_form(ARRAY[id(5)], ARRAY[urlmode.walk_binding()], ARRAY['urlmode-check'], ARRAY['approval'], ARRAY[digest('b')], ARRAY['urlmode-check'],
	ARRAY[true], ARRAY['decline'], ARRAY['declined'], ARRAY[sealed('decision')], ARRAY[NULL]::bytea[], ARRAY[NULL]::bytea[]);
-- No list and no ledger has it, while it goes on and when it has ended.
SET ROLE urlmode_operator;
SELECT what, number, more FROM urlmode.waiting() WHERE number > 0;
SELECT count(*) AS approvals FROM urlmode.list_waiting('approvals', NULL, NULL, NULL, NULL, NULL, 50);
SELECT count(*) AS events FROM urlmode.list_events();
RESET ROLE;
SELECT count(*) AS entries FROM urlmode.ledger;
SELECT make(6, 'approval'), answer(6, kind => 'approval', action => 'decline');
SET ROLE urlmode_operator;
SELECT status, action, reason, convert_from(result, 'UTF8') AS result FROM urlmode.read_walk('00000000-0000-0000-0000-000000000005');
SELECT count(*) AS of_somebody_else FROM urlmode.read_walk('00000000-0000-0000-0000-000000000006');
SELECT urlmode.end_walk('00000000-0000-0000-0000-000000000005');
SELECT urlmode.end_walk() AS one_is_not_over;
RESET ROLE;
SELECT n(id), status FROM urlmode.elicitation ORDER BY id;
-- What something else has noted of one goes with it, and nothing is counted, also of what nobody has deleted.
INSERT INTO urlmode.event (provider, identity, type, elicitation, action) VALUES ('urlmode-check', 'a', 'wrong_user', id(4), 'ignored'), ('urlmode-check', 'b', 'wrong_user', id(5), 'ignored');
SET ROLE urlmode_operator;
SELECT urlmode.end_walk(id(5));
RESET ROLE;
SELECT provider, identity FROM urlmode.event ORDER BY 1, 2;
SELECT pass('10 min'), purge_results();
SELECT DISTINCT provider FROM urlmode.ended_count;
SELECT DISTINCT provider FROM urlmode.event_count;

-- A host that says that it lives, and one that has not for a day.
SET ROLE urlmode_cgi;
SELECT * FROM urlmode.beat(ARRAY['a', 'b']);
RESET ROLE;
SELECT pass('25 hours');
SET ROLE urlmode_cgi;
SELECT * FROM urlmode.beat(ARRAY['a']);
RESET ROLE;
SELECT name, silent_ms < 60000 AS lives FROM urlmode.list_hosts();
