-- What forms and rechecks alone need leaves the row of the elicitation, which every return
-- of a browser writes: each has a table of its own. Their rows are written under the lock of
-- the elicitation, and deleted with it (urlmode.delete_events) instead of by a foreign key.

SET LOCAL ROLE :"owner";

-- The name is the table's now.
ALTER DOMAIN urlmode.form RENAME TO definition;
ALTER DOMAIN urlmode.definition RENAME CONSTRAINT form_check TO definition_check;

CREATE TABLE urlmode.form (
	elicitation uuid        PRIMARY KEY,
	-- What the MCP server asked. None of it changes.
	expires_at  timestamptz NOT NULL,
	approvers   urlmode.approvers,
	verify_ms   urlmode.verify_ms,
	-- A value that the MCP server checks.
	checks      integer     NOT NULL DEFAULT 0,
	check_taken integer     NOT NULL DEFAULT 0,
	check_until timestamptz,
	unchecked   boolean     NOT NULL DEFAULT false,
	-- How it ended.
	decided_by  urlmode.subject,
	-- What the page shows until then.
	definition  urlmode.definition,
	problem     urlmode.problem,
	typed       urlmode.typed
);
CREATE INDEX form_check_until ON urlmode.form (check_until) WHERE check_until IS NOT NULL;
CREATE INDEX form_expires_at ON urlmode.form (expires_at) WHERE definition IS NOT NULL;
COMMENT ON TABLE urlmode.form IS
	'The forms of elicitations of kinds input and approval: one row each, written by '
	'create_elicitation. ../functions/016_form.sql says what becomes of it.';
COMMENT ON INDEX urlmode.form_check_until IS 'Finds values that were not checked in time.';
COMMENT ON INDEX urlmode.form_expires_at IS 'Finds forms that have expired.';
COMMENT ON COLUMN urlmode.form.elicitation IS 'The elicitation. Its form is deleted with it.';
COMMENT ON COLUMN urlmode.form.expires_at IS 'That of the elicitation, for the index.';
COMMENT ON COLUMN urlmode.form.approvers IS
	'Who may decide an approval: NULL: the subject. An empty array: anybody whom the web server '
	'knows, but the subject. Otherwise these users.';
COMMENT ON COLUMN urlmode.form.verify_ms IS
	'For how long the MCP server may check a value that was typed. NULL: it does not check.';
COMMENT ON COLUMN urlmode.form.checks IS
	'Number of values that were sent to be checked. The last one is the lease of its check.';
COMMENT ON COLUMN urlmode.form.check_taken IS
	'Which of them an instance has taken to check it.';
COMMENT ON COLUMN urlmode.form.check_until IS
	'Until then the value that is processing must be checked. NULL: there is none.';
COMMENT ON COLUMN urlmode.form.unchecked IS
	'Whether the last value could not be checked, and has to be sent again.';
COMMENT ON COLUMN urlmode.form.decided_by IS 'Who has decided an approval.';
COMMENT ON COLUMN urlmode.form.definition IS
	'What the page asks, as sealed JSON. Kept until the elicitation ends.';
COMMENT ON COLUMN urlmode.form.problem IS
	'What is wrong with the last value, as sealed JSON, for the page.';
COMMENT ON COLUMN urlmode.form.typed IS
	'What was typed into the fields that are not secret, as sealed JSON, for the page of the '
	'browser that has sent it: a form that comes back shows it. Kept until the elicitation ends.';

CREATE TABLE urlmode.recheck (
	elicitation uuid        PRIMARY KEY,
	event_type  urlmode.event_type,
	unproven_references urlmode.reference[] NOT NULL DEFAULT '{}',
	rechecks    integer     NOT NULL DEFAULT 0,
	rechecked   integer     NOT NULL DEFAULT 0,
	recheck_at  timestamptz,
	recheck_lease integer   NOT NULL DEFAULT 0,
	recheck_failures integer NOT NULL DEFAULT 0
);
COMMENT ON TABLE urlmode.recheck IS
	'What unproven events ask the MCP server to look at: one row for each elicitation of which '
	'there was one. Written by record_events, take_recheck and end_recheck.';
COMMENT ON COLUMN urlmode.recheck.elicitation IS 'The elicitation. The row is deleted with it.';
COMMENT ON COLUMN urlmode.recheck.event_type IS
	'Type of the last event that asked for a recheck.';
COMMENT ON COLUMN urlmode.recheck.unproven_references IS
	'The provider''s references in such events, each once, the last one last, at most '
	'urlmode.max_references(). The sender of the event chose them: the MCP server asks the '
	'provider''s API about them, and compares.';
COMMENT ON COLUMN urlmode.recheck.rechecks IS 'Number of events that asked for a recheck.';
COMMENT ON COLUMN urlmode.recheck.rechecked IS 'How many of them a recheck has answered.';
COMMENT ON COLUMN urlmode.recheck.recheck_at IS
	'Until then nobody begins a recheck: one is under way, or the last one failed. NULL: none was '
	'begun.';
COMMENT ON COLUMN urlmode.recheck.recheck_lease IS
	'Number of rechecks that were begun: the lease of the last one.';
COMMENT ON COLUMN urlmode.recheck.recheck_failures IS
	'Rechecks that failed since one was answered.';

INSERT INTO urlmode.form (elicitation, expires_at, approvers, verify_ms, checks, check_taken, check_until, unchecked,
	decided_by, definition, problem, typed)
SELECT e.id, e.expires_at, e.approvers, e.verify_ms, e.checks, e.check_taken, e.check_until, e.unchecked,
	e.decided_by, e.form, e.problem, e.typed
FROM urlmode.elicitation e WHERE e.kind IN ('input', 'approval');
INSERT INTO urlmode.recheck (elicitation, event_type, unproven_references, rechecks, rechecked, recheck_at, recheck_lease, recheck_failures)
SELECT e.id, e.event_type, e.unproven_references, e.rechecks, e.rechecked, e.recheck_at, e.recheck_lease, e.recheck_failures
FROM urlmode.elicitation e WHERE e.rechecks > 0;

DROP INDEX urlmode.elicitation_check_until, urlmode.elicitation_form;

-- The row is made anew, since a column that is dropped keeps its place in every row. Those of
-- a fixed length come first, then those of the indexes: PostgreSQL looks at the latter whenever
-- it writes a row, and reads what stands before them.
DO $$
DECLARE
	first CONSTANT text[] := ARRAY['id', 'expires_at', 'created_at', 'grace', 'failed_attempts', 'refunds', 'dormant',
		'binding', 'provider', 'kind', 'status', 'reason', 'subject', 'checkout', 'resume_key', 'request'];
	moved CONSTANT text[] := ARRAY['approvers', 'verify_ms', 'checks', 'check_taken', 'check_until', 'unchecked', 'decided_by',
		'form', 'problem', 'typed', 'event_type', 'unproven_references', 'rechecks', 'rechecked', 'recheck_at', 'recheck_lease',
		'recheck_failures'];
	wide CONSTANT oid := 'urlmode.elicitation'::regclass;
	columns text;
	names text;
	again text[];
	statement text;
BEGIN
	SELECT string_agg(format('%I %s%s%s', a.attname, format_type(a.atttypid, a.atttypmod),
			CASE WHEN a.attnotnull THEN ' NOT NULL' END, ' DEFAULT ' || pg_get_expr(d.adbin, d.adrelid)), ', '
			ORDER BY array_position(first, a.attname::text), a.attnum),
		string_agg(quote_ident(a.attname), ', ')
	INTO columns, names
	FROM pg_attribute a LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
	WHERE a.attrelid = wide AND a.attnum > 0 AND NOT a.attisdropped AND a.attname <> ALL (moved);

	-- Its constraints, its indexes, what refers to it, and the comments.
	again := ARRAY(
		SELECT format('ALTER TABLE urlmode.elicitation ADD CONSTRAINT %I %s', k.conname, pg_get_constraintdef(k.oid))
		FROM pg_constraint k WHERE k.conrelid = wide AND k.contype IN ('p', 'c') ORDER BY k.conname
	) || ARRAY(
		SELECT pg_get_indexdef(i.indexrelid) FROM pg_index i WHERE i.indrelid = wide AND NOT i.indisprimary
	) || ARRAY(
		SELECT format('ALTER TABLE %s ADD CONSTRAINT %I %s', k.conrelid::regclass, k.conname, pg_get_constraintdef(k.oid))
		FROM pg_constraint k WHERE k.confrelid = wide
	) || ARRAY(
		SELECT format('COMMENT ON %s IS %L', c.what, c.comment) FROM (
			SELECT 'TABLE urlmode.elicitation' AS what, obj_description(wide, 'pg_class') AS comment
			UNION ALL
			SELECT format('COLUMN urlmode.elicitation.%I', a.attname), col_description(wide, a.attnum)
			FROM pg_attribute a WHERE a.attrelid = wide AND a.attnum > 0 AND NOT a.attisdropped AND a.attname <> ALL (moved)
			UNION ALL
			SELECT format('INDEX %s', i.indexrelid::regclass), obj_description(i.indexrelid, 'pg_class')
			FROM pg_index i WHERE i.indrelid = wide
		) c WHERE c.comment IS NOT NULL
	);

	ALTER TABLE urlmode.elicitation RENAME TO elicitation_wide;
	EXECUTE format('CREATE TABLE urlmode.elicitation (%s) WITH (fillfactor = 50)', columns);
	EXECUTE format('INSERT INTO urlmode.elicitation (%1$s) SELECT %1$s FROM urlmode.elicitation_wide', names);
	-- With its triggers, and the functions that take one of its rows. Those are made anew after the tables.
	DROP TABLE urlmode.elicitation_wide CASCADE;
	FOREACH statement IN ARRAY again LOOP
		EXECUTE statement;
	END LOOP;
END
$$;
