-- 049_console.sql got this index after databases had it without. In all others it is there already.

SET LOCAL ROLE :"owner";

CREATE INDEX IF NOT EXISTS unreadable_delivery_seen ON urlmode.unreadable_delivery (last_seen_at);
COMMENT ON INDEX urlmode.unreadable_delivery_seen IS 'Finds those that came last, of all providers.';
