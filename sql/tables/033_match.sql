-- How an amount must match: `at-least` and `checkout` (../functions/003_payment.sql).

SET LOCAL ROLE :"owner";

ALTER DOMAIN urlmode.expected DROP CONSTRAINT expected_match;
ALTER DOMAIN urlmode.expected DROP CONSTRAINT expected_check;
-- Each value that is there has fulfilled what was narrower.
ALTER DOMAIN urlmode.expected ADD CONSTRAINT expected_check CHECK (VALUE IS NULL OR VALUE = '"any"' OR coalesce(
	jsonb_typeof(VALUE -> 'amount') = 'number' AND VALUE ->> 'amount' ~ '^[0-9]{1,18}$'
	AND VALUE ->> 'currency' ~ '^[A-Z]{3}$', false)
	OR coalesce(VALUE ->> 'match' = 'checkout' AND NOT VALUE ? 'amount' AND NOT VALUE ? 'currency', false)) NOT VALID;
ALTER DOMAIN urlmode.expected ADD CONSTRAINT expected_match
	CHECK (VALUE IS NULL OR coalesce(VALUE ->> 'match', 'exact') IN ('exact', 'at-least', 'checkout')) NOT VALID;
COMMENT ON DOMAIN urlmode.expected IS
	'Amount and currency as JSON: {"amount": 1050, "currency": "EUR"}, in minor units and ISO '
	'4217; or the string "any". match: exact, at-least, or checkout, which needs no amount.';
