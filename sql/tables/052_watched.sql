-- What operators watch, and what they are asked to do with the data of a user.

SET LOCAL ROLE :"owner";

CREATE INDEX account_failing ON urlmode.account (pause_until) WHERE failures >= 3;
COMMENT ON INDEX urlmode.account_failing IS
	'Finds the accounts whose refreshes fail, for the metrics. Hardly ever a row is in it.';

CREATE TABLE urlmode.audit (
	number  bigint      GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
	done_at timestamptz NOT NULL DEFAULT now(),
	action  text        NOT NULL CHECK (action IN ('export', 'forget')),
	tenant  urlmode.tenant NOT NULL,
	owner   bytea       NOT NULL CHECK (octet_length(owner) = 32),
	rows    jsonb       NOT NULL,
	done_by text        NOT NULL CHECK (octet_length(done_by) BETWEEN 1 AND 200),
	note    text        NOT NULL DEFAULT '' CHECK (octet_length(note) <= 1000)
) WITH (vacuum_truncate = off);
CREATE INDEX audit_owner ON urlmode.audit (owner);
COMMENT ON TABLE urlmode.audit IS
	'What operators did with all the data of a user. Nothing is ever deleted or changed here.';
COMMENT ON INDEX urlmode.audit_owner IS 'Finds what was done with the data of one user.';
COMMENT ON COLUMN urlmode.audit.number IS 'In the order in which it was done.';
COMMENT ON COLUMN urlmode.audit.done_at IS 'When it was done.';
COMMENT ON COLUMN urlmode.audit.action IS
	'export: the data were shown. forget: they were deleted.';
COMMENT ON COLUMN urlmode.audit.tenant IS 'The tenant of the user, or empty.';
COMMENT ON COLUMN urlmode.audit.owner IS
	'SHA-256 of tenant, U+001F and subject. So a user who was forgotten is not named here, and whoever '
	'knows the name finds the row.';
COMMENT ON COLUMN urlmode.audit.rows IS 'How many rows of each kind were shown or deleted.';
COMMENT ON COLUMN urlmode.audit.done_by IS 'Who did it, as the command says.';
COMMENT ON COLUMN urlmode.audit.note IS 'Why, in the operator''s words.';
