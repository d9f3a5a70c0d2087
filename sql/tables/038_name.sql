-- Payments with two names. What becomes of them is in ../functions/038_name.sql.

SET LOCAL ROLE :"owner";

CREATE TABLE urlmode.payment_name (
	provider  urlmode.provider NOT NULL,
	name      urlmode.reference NOT NULL,
	reference urlmode.reference NOT NULL,
	told_at   timestamptz NOT NULL DEFAULT clock_timestamp(),
	is_kept   boolean     NOT NULL DEFAULT false,
	PRIMARY KEY (provider, name)
);
CREATE INDEX payment_name_told_at ON urlmode.payment_name (told_at) WHERE NOT is_kept;
COMMENT ON TABLE urlmode.payment_name IS
	'Other names of payments, by which their refunds and disputes name them. Written by '
	'receive_events.';
COMMENT ON INDEX urlmode.payment_name_told_at IS 'Finds the rows that may be purged.';
COMMENT ON COLUMN urlmode.payment_name.provider IS
	'Name of the provider in the configuration of the callback programs.';
COMMENT ON COLUMN urlmode.payment_name.name IS 'The other name.';
COMMENT ON COLUMN urlmode.payment_name.reference IS
	'The reference of the payment. A payment that is not known may be somebody else''s: its name is '
	'kept for thirty days.';
COMMENT ON COLUMN urlmode.payment_name.told_at IS 'When the event came that names it.';
COMMENT ON COLUMN urlmode.payment_name.is_kept IS
	'Whether its payment was known after thirty days. Then it stays as long as the payment.';
