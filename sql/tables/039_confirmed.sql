-- Who has confirmed the claim of what is no payment; which payments of a subscription pay for no period of it; and
-- subscriptions of which nobody knows yet what for.

SET LOCAL ROLE :"owner";

ALTER TABLE urlmode.elicitation ADD COLUMN claim_fence bigint;
COMMENT ON COLUMN urlmode.elicitation.claim_fence IS
	'The fencing number of the call that has confirmed the claim, so that it can be confirmed '
	'again after a lost answer. Of a payment, payment.claim_fence.';

ALTER TABLE urlmode.payment ADD COLUMN extra boolean NOT NULL DEFAULT false;
COMMENT ON COLUMN urlmode.payment.extra IS
	'Of a payment of a subscription: whether it was charged beside its periods. If it goes back, '
	'the subscription goes on.';

ALTER TABLE urlmode.entitlement ADD COLUMN named boolean NOT NULL DEFAULT true;
COMMENT ON COLUMN urlmode.entitlement.named IS
	'Whether an event has named its elicitation or its first payment. Of nobody''s rows, which may be foreign, the '
	'others are deleted first.';
DROP INDEX urlmode.entitlement_unowned;
CREATE INDEX entitlement_unowned ON urlmode.entitlement (provider, named, changed_at) WHERE subject IS NULL;
COMMENT ON INDEX urlmode.entitlement_unowned IS 'Finds the subscriptions that are nobody''s.';
