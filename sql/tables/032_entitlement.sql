-- Subscriptions of users: one row each. What it becomes is in ../functions/032_entitlement.sql.

SET LOCAL ROLE :"owner";

CREATE TABLE urlmode.entitlement (
	id            uuid        PRIMARY KEY DEFAULT gen_random_uuid(),
	provider      urlmode.provider NOT NULL,
	account       text        COLLATE "C" NOT NULL DEFAULT '' CHECK (octet_length(account) <= 800),
	subscription  urlmode.reference,
	first_payment urlmode.reference,
	-- Whose it is, and what for.
	elicitation   uuid,
	tenant        urlmode.tenant,
	subject       urlmode.subject COLLATE "C",
	item          urlmode.item,
	opened_at     timestamptz,
	-- What its provider says, and the provider's time of the event that has said it last.
	status        text        CHECK (status IN ('trialing', 'active', 'past_due', 'cancelled', 'paused', 'ended')),
	status_at     timestamptz NOT NULL DEFAULT '-infinity',
	until         timestamptz,
	until_at      timestamptz NOT NULL DEFAULT '-infinity',
	trial_until   timestamptz,
	trial_at      timestamptz NOT NULL DEFAULT '-infinity',
	cancel_at     timestamptz,
	cancel_known_at timestamptz NOT NULL DEFAULT '-infinity',
	paused        boolean     NOT NULL DEFAULT false,
	paused_at     timestamptz NOT NULL DEFAULT '-infinity',
	late          interval    NOT NULL DEFAULT '3 days',
	waiting       jsonb       NOT NULL DEFAULT '{}' CHECK (jsonb_typeof(waiting) = 'object'),
	changed_at    timestamptz NOT NULL DEFAULT clock_timestamp(),
	CHECK (subscription IS NOT NULL OR first_payment IS NOT NULL),
	CHECK ((subject IS NULL) = (item IS NULL) AND (subject IS NULL) = (tenant IS NULL) AND (subject IS NULL) = (opened_at IS NULL))
);
CREATE UNIQUE INDEX entitlement_subscription ON urlmode.entitlement (provider, account, subscription) WHERE subscription IS NOT NULL;
CREATE INDEX entitlement_first_payment ON urlmode.entitlement (provider, first_payment) WHERE first_payment IS NOT NULL;
CREATE INDEX entitlement_owner ON urlmode.entitlement (subject, tenant, item) WHERE subject IS NOT NULL;
CREATE INDEX entitlement_changed_at ON urlmode.entitlement (changed_at);
COMMENT ON TABLE urlmode.entitlement IS
	'Subscriptions: one row each, by the provider''s account and id. Written by receive_events '
	'and by the proof of a first payment.';
COMMENT ON INDEX urlmode.entitlement_subscription IS 'Finds a subscription, which has one row.';
COMMENT ON INDEX urlmode.entitlement_first_payment IS
	'Finds the subscription that a payment has begun.';
COMMENT ON INDEX urlmode.entitlement_owner IS 'Finds what a user has subscribed to.';
COMMENT ON INDEX urlmode.entitlement_changed_at IS 'Finds the rows that may be purged.';
COMMENT ON COLUMN urlmode.entitlement.id IS
	'A random id. Its later payments have it in place of an elicitation.';
COMMENT ON COLUMN urlmode.entitlement.provider IS
	'Name of the provider in the configuration of the callback programs.';
COMMENT ON COLUMN urlmode.entitlement.account IS
	'The provider''s account that the subscription is at; empty where its events name none.';
COMMENT ON COLUMN urlmode.entitlement.subscription IS
	'The provider''s id of the subscription. NULL: it is not known yet, because its first payment '
	'does not name it.';
COMMENT ON COLUMN urlmode.entitlement.first_payment IS
	'The provider''s reference of the payment that has begun it. NULL: it is not known yet.';
COMMENT ON COLUMN urlmode.entitlement.elicitation IS
	'The elicitation that was paid for. NULL: its first payment was not proved yet.';
COMMENT ON COLUMN urlmode.entitlement.tenant IS 'That of the elicitation.';
COMMENT ON COLUMN urlmode.entitlement.subject IS
	'Whose it is. NULL: nobody''s yet. Such a row is kept for thirty days.';
COMMENT ON COLUMN urlmode.entitlement.item IS 'What it is for, in the words of the MCP server.';
COMMENT ON COLUMN urlmode.entitlement.opened_at IS 'When its first payment was proved.';
COMMENT ON COLUMN urlmode.entitlement.status IS
	'The status that the provider says. NULL: none that means something here. What a call is told '
	'is urlmode.entitlement_status.';
COMMENT ON COLUMN urlmode.entitlement.status_at IS 'When the provider has said it.';
COMMENT ON COLUMN urlmode.entitlement.until IS 'The end of the current period.';
COMMENT ON COLUMN urlmode.entitlement.until_at IS 'When the provider has said it.';
COMMENT ON COLUMN urlmode.entitlement.trial_until IS 'The end of the trial. NULL: there is none.';
COMMENT ON COLUMN urlmode.entitlement.trial_at IS 'When the provider has said it.';
COMMENT ON COLUMN urlmode.entitlement.cancel_at IS
	'When it will end, or has ended, because it was cancelled. NULL: it was not.';
COMMENT ON COLUMN urlmode.entitlement.cancel_known_at IS 'When the provider has said it.';
COMMENT ON COLUMN urlmode.entitlement.paused IS 'Whether it is paused, whatever its status is.';
COMMENT ON COLUMN urlmode.entitlement.paused_at IS 'When the provider has said it.';
COMMENT ON COLUMN urlmode.entitlement.late IS
	'For how long after the end of a period the event of its renewal may still come.';
COMMENT ON COLUMN urlmode.entitlement.waiting IS
	'Renewals that were told before the first payment was proved, by their references. They are '
	'payments from then on.';
COMMENT ON COLUMN urlmode.entitlement.changed_at IS 'When an event of it came last.';

ALTER TABLE urlmode.payment
	ADD COLUMN entitlement uuid,
	ADD COLUMN paid_at     timestamptz;
CREATE INDEX payment_entitlement ON urlmode.payment (entitlement) WHERE entitlement IS NOT NULL;
COMMENT ON INDEX urlmode.payment_entitlement IS 'Finds the payments of a subscription.';
COMMENT ON COLUMN urlmode.payment.entitlement IS
	'The subscription whose first payment or renewal it is, which has claimed it; NULL: of none. '
	'A renewal has the same id as its elicitation, and there is no such elicitation.';
COMMENT ON COLUMN urlmode.payment.paid_at IS
	'Of a renewal: the provider''s time of the payment. NULL: it is another one, such as the first '
	'of a subscription.';

-- The first payment must be that of a subscription, which then has an item.
ALTER DOMAIN urlmode.expected ADD CONSTRAINT expected_subscription
	CHECK (VALUE IS NULL OR coalesce(VALUE -> 'subscription', 'true') = 'true');
ALTER TABLE urlmode.elicitation ADD CONSTRAINT elicitation_subscription_item
	CHECK (NOT coalesce(expected @> '{"subscription": true}', false) OR item IS NOT NULL) NOT VALID;
