-- The states of an elicitation, as one table: which operation leads a row of which
-- kind from which status to which. Nothing else moves a row:
--
--   transitions   the table; SELECT * FROM urlmode.transitions() prints it
--   next          what an operation does to a row, or NULL: nothing (transition is the same)
--   move_rows     does it (002_elicitation), with all that belongs to an end
--
-- Two functions write a status beside move_rows, for what browsers do by the thousand:
-- `open` and `complete` decide and write in one statement, where two take up to twice as
-- long. They ask the same table.

CREATE OR REPLACE FUNCTION urlmode.transitions()
RETURNS TABLE (
	operation text, kinds text, statuses text, is_over boolean,
	status text, action text, reason text, also text
)
LANGUAGE sql IMMUTABLE AS $$
	VALUES
	-- The browser.
	('open',                'oauth payment signature',          'pending opened',            false, 'opened',    NULL,      NULL,              ''),
	('open_form',           'input approval',                   'pending opened',            false, 'opened',    NULL,      NULL,              ''),
	('open',                'oauth',                            'processing',                false, 'opened',    NULL,      NULL,              ''),
	('return accept',       'oauth',                            'pending opened processing', false, 'completed', 'accept',  NULL,              ''),
	('return decline',      'oauth',                            'pending opened processing', false, 'completed', 'decline', NULL,              ''),
	('return decline',      'payment signature',                'pending opened',            false, 'completed', 'decline', NULL,              ''),
	('return cancel',       'oauth',                            'pending opened processing', false, 'completed', 'cancel',  NULL,              ''),
	('return cancel',       'payment signature',                'pending opened',            false, 'completed', 'cancel',  NULL,              ''),
	('answer accept',       'input approval',                   'pending opened',            false, 'completed', 'accept',  NULL,              ''),
	('answer decline',      'input approval',                   'pending opened',            false, 'completed', 'decline', NULL,              ''),
	('answer to check',     'input',                            'pending opened',            false, 'processing', NULL,     NULL,              ''),
	-- The MCP server has checked what was typed, or has not in time.
	('check good',          'input',                            'processing',                false, 'completed', 'accept',  '',                ''),
	('check problem',       'input',                            'processing',                false, 'opened',    NULL,      NULL,              ''),
	('check last problem',  'input',                            'processing',                false, 'completed', 'cancel',  'refused_input',   ''),
	('check failed',        'input',                            'processing',                NULL,  'opened',    NULL,      NULL,              ''),
	('check last failed',   'input',                            'processing',                NULL,  'completed', 'cancel',  'not_checked',     ''),
	-- The provider: an attempt to pay or sign is under way, or none is any more.
	('attempt',             'oauth payment signature',          'pending opened processing', NULL,  'processing', NULL,     NULL,              ''),
	('no attempt',          'oauth payment signature',          'processing',                NULL,  'opened',    NULL,      NULL,              ''),
	('no attempt unopened', 'oauth payment signature',          'processing',                NULL,  'pending',   NULL,      NULL,              ''),
	-- The provider: the outcome.
	('paid',                'payment',                          'pending opened processing', NULL,  'completed', 'accept',  '',                ''),
	('paid wrong',          'payment',                          'pending opened processing', NULL,  'completed', 'cancel',  'amount_mismatch', ''),
	('accepted',            'signature',                        'pending opened processing', NULL,  'completed', 'accept',  '',                ''),
	('cancelled',           'oauth payment signature',          'pending opened processing', NULL,  'completed', 'decline', 'cancelled',       ''),
	('failed',              'oauth payment signature',          'pending opened processing', NULL,  'completed', 'cancel',  'payment_failed',  ''),
	('expired',             'oauth payment signature',          'pending opened processing', NULL,  'completed', 'cancel',  'expired',         ''),
	-- The MCP server.
	('settle accept',       'oauth payment signature input',    'pending opened processing', NULL,  'completed', 'accept',  NULL,              ''),
	('settle decline',      'oauth payment signature input approval', 'pending opened processing', NULL, 'completed', 'decline', NULL,          ''),
	('settle cancel',       'oauth payment signature input approval', 'pending',             NULL,  'completed', 'cancel',  NULL,              ''),
	('settle cancel',       'oauth payment signature input approval', 'opened processing',   NULL,  'completed', 'cancel',  NULL,              'cut'),
	('abandon decline',     'oauth payment signature input approval', 'pending',             NULL,  'completed', 'decline', NULL,              'final claimed'),
	('abandon cancel',      'oauth payment signature input approval', 'pending',             NULL,  'completed', 'cancel',  NULL,              'final claimed'),
	-- A newer elicitation of the owner.
	('supersede',           'payment signature',                'pending',                   false, 'completed', 'cancel',  'superseded',      'final'),
	('supersede',           'oauth input approval',             'pending opened processing', false, 'completed', 'cancel',  'superseded',      'final'),
	('make room',           'oauth payment signature input approval', 'pending',             false, 'completed', 'cancel',  'superseded',      'final'),
	-- Time.
	('expire',              'oauth payment signature input approval', 'pending opened processing', true, 'completed', 'cancel', 'expired',      'final')
$$;
COMMENT ON FUNCTION urlmode.transitions IS
	'Internal. The states of elicitations: a row of one of these kinds, in one of these statuses, '
	'comes to this status by this operation. is_over: whether the time for it must be over, or '
	'must not; NULL: it does not matter. Each caller says which time that is. reason NULL: the '
	'caller says why. also: of an end. final: no call can be given the row any more, unless a '
	'recheck may tell that it was paid; claimed: its outcome counts as claimed; cut: it is kept '
	'what was cut off (completed_from). What is not here does not happen.';

CREATE OR REPLACE FUNCTION urlmode.transitions_by_key() RETURNS jsonb
LANGUAGE sql IMMUTABLE AS $$
	SELECT jsonb_object_agg(concat(t.operation, ' ', k.kind, ' ', s.status, o.over), jsonb_strip_nulls(jsonb_build_object(
		'status', t.status, 'action', t.action, 'reason', t.reason, 'also', t.also)))
	FROM urlmode.transitions() t, unnest(string_to_array(t.kinds, ' ')) AS k (kind), unnest(string_to_array(t.statuses, ' ')) AS s (status),
		(VALUES (false, ''), (true, ' over')) AS o (is_over, over)
	WHERE t.is_over IS NULL OR t.is_over = o.is_over
$$;
COMMENT ON FUNCTION urlmode.transitions_by_key IS
	'Internal. The table of transitions, by operation, kind and status.';

CREATE OR REPLACE FUNCTION urlmode.transition(kind text, status text, is_over boolean, operation text) RETURNS jsonb
LANGUAGE sql IMMUTABLE AS $$
	SELECT urlmode.transitions_by_key() -> (operation || ' ' || kind || ' ' || status || CASE WHEN is_over THEN ' over' ELSE '' END)
$$;
COMMENT ON FUNCTION urlmode.transition IS
	'Internal. What next returns, for statements that are planned once for each connection: '
	'PostgreSQL computes the object of transitions when it plans them, and a row takes half a '
	'microsecond.';

-- In PL/pgSQL, which computes the object once for each connection: then this takes a
-- microsecond. Going through the list takes 40, and a function in SQL would make the object
-- anew whenever a statement that calls it is planned.
CREATE OR REPLACE FUNCTION urlmode.next(kind text, status text, is_over boolean, operation text) RETURNS jsonb
LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
	RETURN urlmode.transition(kind, status, is_over, operation);
END
$$;
COMMENT ON FUNCTION urlmode.next IS
	'Internal. What an operation does to a row of this kind and status: status, action, reason '
	'and also, as the table of transitions has them. NULL: nothing. is_over: whether the time for '
	'the operation is over.';
