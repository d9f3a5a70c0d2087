-- What only few rows are looked for among many.

SET LOCAL ROLE :"owner";

CREATE INDEX entitlement_unowned ON urlmode.entitlement (provider, changed_at) WHERE subject IS NULL;
COMMENT ON INDEX urlmode.entitlement_unowned IS 'Finds the subscriptions that are nobody''s.';
