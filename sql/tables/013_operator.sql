-- What the operator's command asks: what became of an elicitation, what
-- providers sent, what nobody has claimed.
--
-- None of it returns a result, a verifier, a binding, a session or a target
-- URL: they are sealed, or give access to their reader. A subject is
-- personal, and only show_elicitation returns it.

SET LOCAL ROLE urlmode_owner;

-- Events come in the order of this column, so that a few bytes for each megabyte
-- of the table are enough to find those of a day.
CREATE INDEX event_received_at ON urlmode.event USING brin (received_at) WITH (autosummarize = on);
COMMENT ON INDEX urlmode.event_received_at IS 'Finds the events of a time.';
