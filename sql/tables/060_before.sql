-- Databases from a checkout of 29 November 2026 have no such index, because 049_console.sql had none then. All others have it.

SET LOCAL ROLE :"owner";

CREATE INDEX IF NOT EXISTS unreadable_delivery_seen ON urlmode.unreadable_delivery (last_seen_at);
COMMENT ON INDEX urlmode.unreadable_delivery_seen IS 'Finds those that came last, of all providers.';
