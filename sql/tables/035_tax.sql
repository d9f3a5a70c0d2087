-- How much of a payment was tax, where the provider's event says it.

SET LOCAL ROLE :"owner";

ALTER TABLE urlmode.payment ADD COLUMN tax bigint;
COMMENT ON COLUMN urlmode.payment.tax IS 'How much of the amount is tax, in its minor units; NULL: nobody has said it.';
