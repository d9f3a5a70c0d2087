-- The result of a task is delivered when its client has read it. Until then the claims that it was made of are fulfilled.

SET LOCAL ROLE :"owner";

ALTER TABLE urlmode.task ADD COLUMN claimed uuid[] NOT NULL DEFAULT '{}', ADD COLUMN fences bigint[] NOT NULL DEFAULT '{}',
	ADD COLUMN read_at timestamptz;
CREATE INDEX task_claimed ON urlmode.task USING gin (claimed) WHERE state = 'ended' AND read_at IS NULL;
COMMENT ON INDEX urlmode.task_claimed IS 'Finds the unread tasks whose results were made of an outcome.';
COMMENT ON COLUMN urlmode.task.claimed IS
	'The elicitations whose outcomes its result was made of. They are confirmed when it was read.';
COMMENT ON COLUMN urlmode.task.fences IS 'The fencing numbers of these claims, in the same order.';
COMMENT ON COLUMN urlmode.task.read_at IS
	'When its result was written to its client for the first time. NULL: not yet, or it has none.';
COMMENT ON COLUMN urlmode.task.expires_at IS
	'When purge deletes it, or looks at it again: a day after its elicitation can have ended, a day after '
	'it has ended itself, and a day after its result was read first. An unread result is kept for thirty days.';
COMMENT ON TABLE urlmode.task IS
	'Calls that MCP clients hold as tasks: each waits for one elicitation at a time, and goes on '
	'when somebody asks for its result. At most 8 of one elicitation. Written by create_task, '
	'answer_task_input, begin_task, continue_task, end_task, confirm_task and cancel_task; deleted by purge.';
