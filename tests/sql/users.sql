-- What an operator does with all the data of a user: shows and deletes them, and a row of urlmode.audit stays. Sealed things are not shown.

CREATE FUNCTION connects(who text) RETURNS boolean LANGUAGE sql AS $$
	SELECT urlmode.store_account(who, 'demo', who || '@demo', '{mail}', '{mail}', decode(repeat('00', 40), 'hex'), 60000) IS NOT NULL
$$;
CREATE FUNCTION exports(who text, tenant text DEFAULT '') RETURNS jsonb LANGUAGE sql AS $$
	SELECT urlmode.export_user(tenant, who, 'root', 'asked by mail')
$$;
CREATE FUNCTION forgets(who text, tenant text DEFAULT '') RETURNS jsonb LANGUAGE sql AS $$
	SELECT urlmode.forget_user(tenant, who, 'root')
$$;

SELECT make(1, item => 'map'), pay(1, 'p1'), make(2, 'input'), open_form(2), answer(2, result => 'secret word'), connects('ann');
SELECT make(3, subject => 'bob'), make(4, 'approval', subject => 'bob', approvers => '["ann"]'), open_form(4, 'ann', 'approval'), answer(4, kind => 'approval', subject => 'bob');
SET ROLE urlmode_operator;
SELECT jsonb_object_keys(x) AS keys FROM exports('ann') x ORDER BY 1;
SELECT e ->> 'elicitation', e ->> 'status', e ->> 'item', jsonb_array_length(e -> 'events') AS events
FROM exports('ann') x, jsonb_array_elements(x -> 'elicitations') e;
SELECT p ->> 'reference' AS reference, p ->> 'amount' AS amount, p ->> 'item' AS item, x #> '{accounts,0,account}' AS account, x #>> '{approvals,0,elicitation}' AS approved
FROM exports('ann') x, jsonb_array_elements(x -> 'payments') p;
-- Nothing that is sealed, and nobody else.
SELECT word, x::text LIKE '%' || word || '%' AS shown FROM exports('ann') x, unnest(ARRAY[encode('secret word', 'hex'), encode('form', 'hex'), repeat('00', 20), encode(owner('ann'), 'hex'), 'bob', 'p1']) AS word;
SELECT exports('nobody'), exports('ann', 'shop'), forgets('nobody');

-- A payment that no call has claimed keeps everything, and no row says that it was done.
SELECT forgets('ann');
RESET ROLE;
SELECT state(1), count(*) AS entries FROM urlmode.audit;
SELECT claim(1, 'p1');
SET ROLE urlmode_operator;
SELECT forgets('ann');
SELECT forgets('ann') AS again;
SELECT urlmode.forget_user('', 'bob', 'eve', 'left');
RESET ROLE;
-- The books have their references and amounts, and the approval is gone with the one who asked for it.
SELECT reference, amount, subject, result FROM urlmode.payment ORDER BY 1;
SELECT count(*) AS elicitations, (SELECT count(*) FROM urlmode.account) AS accounts, (SELECT count(*) FROM urlmode.event) AS events FROM urlmode.elicitation;
SELECT action, count(*), min(done_by) AS by, min(note) AS note, count(*) FILTER (WHERE owner = sha256('\x1f' || 'ann'::bytea)) AS of_ann FROM urlmode.audit GROUP BY action;
SET ROLE urlmode_operator;
SELECT action, rows ->> 'payments' AS payments, done_by FROM urlmode.list_audit('', 'ann', 2);
SELECT action, of_tenant, note FROM urlmode.list_audit(most => 1);
SELECT count(*) FROM urlmode.list_audit('shop', 'ann');
RESET ROLE;
SET ROLE urlmode_server;
SELECT urlmode.forget_user('', 'ann', 'root');
RESET ROLE;

-- Accounts whose refreshes fail: three times in a row, and lately.
SELECT connects('cat'), connects('dog');
UPDATE urlmode.account SET failures = CASE subject WHEN 'cat' THEN 3 ELSE 2 END, pause_until = now();
SET ROLE urlmode_cgi;
SELECT failing FROM urlmode.readings();
RESET ROLE;
SELECT pass('61 minutes');
SELECT failing FROM urlmode.readings();
UPDATE urlmode.account SET state = 'reconnect', pause_until = now();
SELECT failing FROM urlmode.readings();
