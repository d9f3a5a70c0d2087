-- What the console looks for, and its figures by hour and day, which the purge counts
-- (../functions/049_counts.sql). Of the indexes none has a column that a browser's return writes.
--
-- The indexes of large tables can be made before, with CREATE INDEX CONCURRENTLY: nothing waits
-- then (nginx/UPGRADING.md).

SET LOCAL ROLE :"owner";

CREATE DOMAIN urlmode.unit AS text COLLATE "C" CHECK (VALUE IN ('hour', 'day'));
COMMENT ON DOMAIN urlmode.unit IS 'A unit of time, of UTC: hour or day.';

CREATE TABLE urlmode.ended_count (
	provider urlmode.provider NOT NULL,
	unit     urlmode.unit NOT NULL,
	begins_at timestamptz NOT NULL,
	kind     urlmode.kind NOT NULL,
	action   urlmode.action COLLATE "C" NOT NULL,
	reason   urlmode.reason COLLATE "C" NOT NULL,
	number   bigint NOT NULL,
	PRIMARY KEY (provider, unit, begins_at, kind, action, reason)
) WITH (vacuum_truncate = off);
CREATE INDEX ended_count_begins_at ON urlmode.ended_count (unit, begins_at);
COMMENT ON TABLE urlmode.ended_count IS
	'How many elicitations have ended in each hour of the last three days, and in each of the last 40 '
	'days. Written by count_hours.';
COMMENT ON INDEX urlmode.ended_count_begins_at IS 'Finds the hours or days of a time, and the old ones.';
COMMENT ON COLUMN urlmode.ended_count.provider IS 'As in urlmode.elicitation, like kind, action and reason.';
COMMENT ON COLUMN urlmode.ended_count.unit IS 'hour or day.';
COMMENT ON COLUMN urlmode.ended_count.begins_at IS 'The beginning of the hour or day in which they were completed.';
COMMENT ON COLUMN urlmode.ended_count.kind IS 'Their kind.';
COMMENT ON COLUMN urlmode.ended_count.action IS 'Their action.';
COMMENT ON COLUMN urlmode.ended_count.reason IS 'Their reason.';
COMMENT ON COLUMN urlmode.ended_count.number IS 'How many these were.';

CREATE TABLE urlmode.event_count (
	provider urlmode.provider NOT NULL,
	unit     urlmode.unit NOT NULL,
	begins_at timestamptz NOT NULL,
	type     text        COLLATE "C" NOT NULL CHECK (octet_length(type) <= 512),
	action   text        COLLATE "C" NOT NULL,
	number   bigint      NOT NULL,
	last_at  timestamptz NOT NULL,
	PRIMARY KEY (provider, unit, begins_at, type, action)
) WITH (vacuum_truncate = off);
CREATE INDEX event_count_begins_at ON urlmode.event_count (unit, begins_at);
COMMENT ON TABLE urlmode.event_count IS
	'How many events of known elicitations have come in each hour of the last three days, and in each '
	'of the last 40 days. Written by count_hours.';
COMMENT ON INDEX urlmode.event_count_begins_at IS 'Finds the hours or days of a time, and the old ones.';
COMMENT ON COLUMN urlmode.event_count.provider IS 'As in urlmode.event, like type and action.';
COMMENT ON COLUMN urlmode.event_count.unit IS 'hour or day.';
COMMENT ON COLUMN urlmode.event_count.begins_at IS 'The beginning of the hour or day in which they were received.';
COMMENT ON COLUMN urlmode.event_count.type IS
	'Their type. Empty: all those beyond urlmode.max_types() in an hour or day.';
COMMENT ON COLUMN urlmode.event_count.action IS 'What they did.';
COMMENT ON COLUMN urlmode.event_count.number IS 'How many these were.';
COMMENT ON COLUMN urlmode.event_count.last_at IS 'When the last one of them was received.';

CREATE TABLE urlmode.uncounted_end (
	ids      uuid[]      NOT NULL,
	ended_at timestamptz NOT NULL DEFAULT now()
) WITH (vacuum_truncate = off);
CREATE INDEX uncounted_end_ended_at ON urlmode.uncounted_end (ended_at);
COMMENT ON TABLE urlmode.uncounted_end IS
	'Elicitations that have ended and were not counted yet: one row for each batch. Written by '
	'move_rows. Those that a browser''s return has ended are in purge_queue, and not here.';
COMMENT ON INDEX urlmode.uncounted_end_ended_at IS 'Finds the rows of a time.';
COMMENT ON COLUMN urlmode.uncounted_end.ids IS 'The elicitations of the batch.';
COMMENT ON COLUMN urlmode.uncounted_end.ended_at IS 'Their completed_at.';

-- Not in days, which have 23 or 25 hours where a clock is changed: that of a completion is its
-- completed_at and 24 hours, exactly.
ALTER TABLE urlmode.purge_queue ALTER COLUMN due_at SET DEFAULT now() + interval '24 hours';

CREATE TABLE urlmode.counted (
	is_only       boolean PRIMARY KEY DEFAULT true CHECK (is_only),
	counted_until timestamptz NOT NULL
) WITH (vacuum_truncate = off);
COMMENT ON TABLE urlmode.counted IS 'How far count_hours is: one row, locked while it counts.';
COMMENT ON COLUMN urlmode.counted.is_only IS 'So that there is one row.';
COMMENT ON COLUMN urlmode.counted.counted_until IS 'What was before is in the figures.';

-- What was there before, once. Nothing is locked yet.
INSERT INTO urlmode.counted (counted_until) VALUES (now() - interval '2 minutes');
INSERT INTO urlmode.ended_count (provider, unit, begins_at, kind, action, reason, number)
SELECT e.provider, u.unit, date_trunc(u.unit, e.completed_at, 'UTC'), e.kind, e.action, e.reason, count(*)
FROM urlmode.elicitation e CROSS JOIN (VALUES ('hour', interval '3 days'), ('day', interval '40 days')) AS u (unit, age)
WHERE e.completed_at > now() - u.age AND e.completed_at < now() - interval '2 minutes'
GROUP BY 1, 2, 3, 4, 5, 6;
INSERT INTO urlmode.event_count (provider, unit, begins_at, type, action, number, last_at)
SELECT v.provider, u.unit, date_trunc(u.unit, v.received_at, 'UTC'), v.type, v.action, count(*), max(v.received_at)
FROM urlmode.event v CROSS JOIN (VALUES ('hour', interval '3 days'), ('day', interval '40 days')) AS u (unit, age)
WHERE v.received_at > now() - u.age AND v.received_at < now() - interval '2 minutes'
GROUP BY 1, 2, 3, 4, 5;

CREATE TABLE urlmode.host_check (
	name       text COLLATE "C" PRIMARY KEY CHECK (octet_length(name) BETWEEN 1 AND 255),
	checked_at timestamptz NOT NULL,
	errors     integer NOT NULL CHECK (errors >= 0),
	warnings   integer NOT NULL CHECK (warnings >= 0)
) WITH (vacuum_truncate = off);
COMMENT ON TABLE urlmode.host_check IS
	'The last `urlmode check --record` of each host. Written by record_check.';
COMMENT ON COLUMN urlmode.host_check.name IS 'The name of the host, of its operating system.';
COMMENT ON COLUMN urlmode.host_check.checked_at IS 'When it was checked last.';
COMMENT ON COLUMN urlmode.host_check.errors IS 'How many errors that check has found.';
COMMENT ON COLUMN urlmode.host_check.warnings IS 'How many warnings.';

-- refunded: the operator has refunded it at the provider, and the claim has ended so.
ALTER TABLE urlmode.decision
	DROP CONSTRAINT decision_decision_check,
	ADD CONSTRAINT decision_decision_check CHECK (decision IN ('released', 'voided', 'refunded'));
COMMENT ON COLUMN urlmode.decision.decision IS
	'released: a call is offered the payment, as long as nothing more goes back. voided: no call '
	'is offered it any more. refunded: the operator has refunded it, and its claim has ended with '
	'that (payment.claim_end).';

CREATE INDEX IF NOT EXISTS account_reconnect ON urlmode.account (connected_at) WHERE state = 'reconnect';
COMMENT ON INDEX urlmode.account_reconnect IS
	'Finds the accounts that users have to connect again. A refresh writes no column of it.';
CREATE INDEX IF NOT EXISTS unknown_event_received_at ON urlmode.unknown_event (received_at);
COMMENT ON INDEX urlmode.unknown_event_received_at IS 'Finds those that came last.';
CREATE INDEX IF NOT EXISTS unreadable_delivery_seen ON urlmode.unreadable_delivery (last_seen_at);
COMMENT ON INDEX urlmode.unreadable_delivery_seen IS 'Finds those that came last, of all providers.';
CREATE INDEX IF NOT EXISTS payment_held ON urlmode.payment (proven_at)
	WHERE held AND claimed_at IS NULL AND refunded_at IS NULL;
COMMENT ON INDEX urlmode.payment_held IS 'Finds the payments that wait for the operator.';
-- With the item itself, PostgreSQL would take these two for what others ask of a user and an item.
CREATE INDEX IF NOT EXISTS payment_item ON urlmode.payment (left(item, 512), proven_at) WHERE item IS NOT NULL;
COMMENT ON INDEX urlmode.payment_item IS
	'Finds what was paid for an item, also when its elicitation was purged.';
CREATE INDEX IF NOT EXISTS event_request ON urlmode.event USING hash (request COLLATE "C");
COMMENT ON INDEX urlmode.event_request IS 'Finds the events of a delivery, by its request id.';
CREATE INDEX IF NOT EXISTS elicitation_of_item ON urlmode.elicitation (left(item, 512), created_at) WHERE item IS NOT NULL;
COMMENT ON INDEX urlmode.elicitation_of_item IS 'Finds the elicitations for an item, of all owners.';
CREATE INDEX IF NOT EXISTS elicitation_subject ON urlmode.elicitation (subject COLLATE "C", created_at);
COMMENT ON INDEX urlmode.elicitation_subject IS 'Finds the elicitations of a user, in all sessions and tenants.';
