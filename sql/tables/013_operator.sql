-- What the operator's command looks for.

SET LOCAL ROLE :"owner";

-- Events come in the order of this column, so that a few bytes for each megabyte
-- of the table are enough to find those of a day.
CREATE INDEX event_received_at ON urlmode.event USING brin (received_at) WITH (autosummarize = on);
COMMENT ON INDEX urlmode.event_received_at IS 'Finds the events of a time.';
