-- Calls that MCP clients hold as tasks (io.modelcontextprotocol/tasks): their waits take days, and any
-- instance answers for them. How they are used is in ../functions/044_task.sql.

SET LOCAL ROLE :"owner";

CREATE DOMAIN urlmode.task_call AS bytea CHECK (octet_length(VALUE) <= 262144);
COMMENT ON DOMAIN urlmode.task_call IS 'Sealed call of a task, or one of its answers, at most 262144 bytes.';

CREATE TABLE urlmode.task (
	id           uuid           PRIMARY KEY,
	binding      urlmode.digest NOT NULL,
	elicitation  uuid           NOT NULL,
	call         urlmode.task_call NOT NULL,
	round        integer        NOT NULL DEFAULT 1,
	answered     text[]         NOT NULL DEFAULT '{}',
	answers      bytea[]        NOT NULL DEFAULT '{}',
	state        text           NOT NULL DEFAULT 'open' CHECK (state IN ('open', 'ended', 'cancelled')),
	result       urlmode.fulfilled,
	lease        integer        NOT NULL DEFAULT 0,
	leased_until timestamptz,
	created_at   timestamptz    NOT NULL DEFAULT now(),
	updated_at   timestamptz    NOT NULL DEFAULT now(),
	expires_at   timestamptz    NOT NULL
);
-- It is sealed: nothing makes it smaller.
ALTER TABLE urlmode.task ALTER COLUMN call SET STORAGE EXTERNAL, ALTER COLUMN result SET STORAGE EXTERNAL;
ALTER TABLE urlmode.task SET (vacuum_truncate = off, toast.vacuum_truncate = off);
CREATE INDEX task_elicitation ON urlmode.task (elicitation, created_at);
CREATE INDEX task_expires_at ON urlmode.task (expires_at);
COMMENT ON TABLE urlmode.task IS
	'Calls that MCP clients hold as tasks: each waits for one elicitation at a time, and goes on '
	'when somebody asks for its result. At most 8 of one elicitation. Written by create_task, '
	'answer_task_input, begin_task, continue_task, end_task and cancel_task; deleted by purge.';
COMMENT ON INDEX urlmode.task_elicitation IS 'Finds the tasks of an elicitation.';
COMMENT ON INDEX urlmode.task_expires_at IS 'Finds tasks that are over.';
COMMENT ON COLUMN urlmode.task.id IS 'Random: the client names the task by it.';
COMMENT ON COLUMN urlmode.task.binding IS 'Whose it is, as in urlmode.elicitation.';
COMMENT ON COLUMN urlmode.task.elicitation IS 'What it waits for.';
COMMENT ON COLUMN urlmode.task.call IS
	'Sealed: which tool was called, with which arguments, how the call goes on, and what its '
	'client is asked meanwhile.';
COMMENT ON COLUMN urlmode.task.round IS 'How often its client was asked for something, from 1 on.';
COMMENT ON COLUMN urlmode.task.answered IS 'The keys of this round that the client has answered.';
COMMENT ON COLUMN urlmode.task.answers IS 'Sealed: what it has answered, in the order of answered.';
COMMENT ON COLUMN urlmode.task.state IS
	'open: it waits, or its tool is run. ended: it has a result. cancelled: by its client, which '
	'ends the task alone.';
COMMENT ON COLUMN urlmode.task.result IS 'Sealed: what the call has returned.';
COMMENT ON COLUMN urlmode.task.lease IS 'Number of the last instance that has run its tool.';
COMMENT ON COLUMN urlmode.task.leased_until IS 'Until when no other one runs it. NULL: none does.';
COMMENT ON COLUMN urlmode.task.created_at IS 'When the client got it.';
COMMENT ON COLUMN urlmode.task.updated_at IS 'When it last moved.';
COMMENT ON COLUMN urlmode.task.expires_at IS
	'When purge deletes it: a day after its elicitation can have ended, and a day after it has '
	'ended itself.';
