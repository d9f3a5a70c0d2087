-- What is to be purged: the ids of the rows are in a queue, one entry for each batch, and
-- not in a column of the elicitation. Such a column would need an index, and every
-- completion would have to change it.

SET LOCAL ROLE :"owner";

CREATE TABLE urlmode.purge_queue (
	ids    uuid[]      NOT NULL,
	due_at timestamptz NOT NULL DEFAULT now() + interval '1 day'
);
CREATE INDEX purge_queue_due_at ON urlmode.purge_queue (due_at);
COMMENT ON TABLE urlmode.purge_queue IS
	'Elicitations whose result and verifier will be purged. complete, settle and record_events '
	'(also for what went back) add an entry for a day later, mark_read and the last end of a claim '
	'one for sooner; purge_results takes them.';
COMMENT ON INDEX urlmode.purge_queue_due_at IS 'Finds the entries that are due.';
COMMENT ON COLUMN urlmode.purge_queue.ids IS
	'Elicitations that were completed, or read, in one batch.';
COMMENT ON COLUMN urlmode.purge_queue.due_at IS 'When they may be purged.';

-- A purge goes through the rows of a kind once, in the order of their expiry, and
-- each batch begins where the one before it ended. Otherwise it would read again
-- the rows that had to stay, and those that were deleted and not vacuumed yet.
CREATE TABLE urlmode.purge_pass (
	kind       urlmode.kind PRIMARY KEY,
	since      timestamptz NOT NULL DEFAULT '-infinity',
	expires_at timestamptz NOT NULL DEFAULT '-infinity',
	id         uuid        NOT NULL DEFAULT '00000000-0000-0000-0000-000000000000'
);
INSERT INTO urlmode.purge_pass (kind) VALUES ('oauth'), ('payment'), ('signature'), ('input'), ('approval');
COMMENT ON TABLE urlmode.purge_pass IS
	'How far the purge of elicitations is, for each kind. Locked while a batch is purged.';
COMMENT ON COLUMN urlmode.purge_pass.kind IS 'Kind of the elicitations.';
COMMENT ON COLUMN urlmode.purge_pass.since IS
	'Since when they must have been purgeable, at the beginning of the last pass. The next one '
	'begins an hour later at the earliest.';
COMMENT ON COLUMN urlmode.purge_pass.expires_at IS
	'Expiry of the last one that was purged; -infinity: the pass has ended.';
COMMENT ON COLUMN urlmode.purge_pass.id IS
	'Id of the last one that was purged, where several expired at the same time.';
