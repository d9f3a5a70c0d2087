-- What only few rows are looked for among many. And functions whose parameters have changed.

SET LOCAL ROLE :"owner";

CREATE INDEX entitlement_unowned ON urlmode.entitlement (provider, changed_at) WHERE subject IS NULL;
COMMENT ON INDEX urlmode.entitlement_unowned IS 'Finds the subscriptions that are nobody''s.';

-- The entries of each tenant are numbered by themselves: none waits for those of another one.
DROP FUNCTION IF EXISTS urlmode.number_ledger();
DROP INDEX urlmode.ledger_unnumbered;
CREATE INDEX ledger_unnumbered ON urlmode.ledger (tenant, id) WHERE number IS NULL;
COMMENT ON INDEX urlmode.ledger_unnumbered IS 'Finds what has no number yet.';

-- Its callers have read the elicitation, and hand on whose it is.
DROP FUNCTION IF EXISTS urlmode.prove_payments(uuid[], text[], text[], bigint[], text[], boolean[], boolean[], bytea[], text[]);
