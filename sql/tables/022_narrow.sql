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
ALTER TABLE urlmode.elicitation
	DROP COLUMN approvers, DROP COLUMN verify_ms, DROP COLUMN checks, DROP COLUMN check_taken, DROP COLUMN check_until,
	DROP COLUMN unchecked, DROP COLUMN decided_by, DROP COLUMN form, DROP COLUMN problem, DROP COLUMN typed,
	DROP COLUMN event_type, DROP COLUMN unproven_references, DROP COLUMN rechecks, DROP COLUMN rechecked,
	DROP COLUMN recheck_at, DROP COLUMN recheck_lease, DROP COLUMN recheck_failures;

-- Their parameters are others now.
DROP FUNCTION IF EXISTS
	urlmode.refuse_user(urlmode.elicitation, text, boolean),
	urlmode.form_outcome(urlmode.elicitation, text, boolean);
