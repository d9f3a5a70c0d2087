-- Money that a provider has proved: one row for each payment, ever. One reference pays
-- for one elicitation of its provider: that is the primary key.
--
-- What went back has rows of its own.

SET LOCAL ROLE :"owner";

CREATE TABLE urlmode.payment (
	provider    urlmode.provider  NOT NULL,
	reference   urlmode.reference NOT NULL,
	elicitation uuid        NOT NULL,
	checkout    urlmode.reference,
	amount      bigint      NOT NULL CHECK (amount >= 0),
	currency    urlmode.currency NOT NULL,
	matches     boolean     NOT NULL,
	late        boolean     NOT NULL,
	proven_at   timestamptz NOT NULL DEFAULT now(),
	claimed_at  timestamptz,
	refunded    bigint      NOT NULL DEFAULT 0,
	refunded_at timestamptz,
	held        boolean     NOT NULL DEFAULT false,
	result      urlmode.result,
	PRIMARY KEY (provider, reference)
);
CREATE INDEX payment_elicitation ON urlmode.payment (elicitation);
CREATE INDEX payment_checkout ON urlmode.payment (provider, checkout) WHERE checkout IS NOT NULL;
CREATE INDEX payment_proven_at ON urlmode.payment (provider, proven_at);
CREATE INDEX payment_unclaimed ON urlmode.payment (proven_at)
	WHERE claimed_at IS NULL AND refunded_at IS NULL;
COMMENT ON TABLE urlmode.payment IS
	'Payments that a provider has proved. Written by record_events and settle.';
COMMENT ON INDEX urlmode.payment_elicitation IS 'Finds the payments of an elicitation.';
COMMENT ON INDEX urlmode.payment_checkout IS
	'Finds the payments of a checkout, also when their elicitation was purged.';
COMMENT ON INDEX urlmode.payment_proven_at IS 'Finds the payments of a provider and a time.';
COMMENT ON INDEX urlmode.payment_unclaimed IS 'Finds the payments that no call has claimed.';
COMMENT ON COLUMN urlmode.payment.provider IS
	'Name of the provider in the configuration of the callback programs.';
COMMENT ON COLUMN urlmode.payment.reference IS
	'The provider''s reference of the payment; the id of the elicitation where the provider sends '
	'none.';
COMMENT ON COLUMN urlmode.payment.elicitation IS
	'What it was paid for. Not a foreign key: a reference stays used when its elicitation is '
	'deleted, which is refused until the payment is claimed or refunded.';
COMMENT ON COLUMN urlmode.payment.checkout IS
	'The provider''s id of the checkout that was paid. NULL: it is not known.';
COMMENT ON COLUMN urlmode.payment.amount IS 'In minor units of the currency.';
COMMENT ON COLUMN urlmode.payment.currency IS 'ISO 4217.';
COMMENT ON COLUMN urlmode.payment.matches IS
	'Whether amount and currency are those that the elicitation expected.';
COMMENT ON COLUMN urlmode.payment.late IS
	'Whether the elicitation was completed, or its expiry and grace were over, before the payment '
	'was proved.';
COMMENT ON COLUMN urlmode.payment.proven_at IS 'When it was proved.';
COMMENT ON COLUMN urlmode.payment.claimed_at IS
	'When a call claimed it, to deliver or to refund it.';
COMMENT ON COLUMN urlmode.payment.refunded IS
	'How much of it went back, in minor units; at most all of it.';
COMMENT ON COLUMN urlmode.payment.refunded_at IS
	'When all of it went back, or the operator voided it. NULL again when what went back has come '
	'again.';
COMMENT ON COLUMN urlmode.payment.held IS
	'Whether no call is offered it until the operator decides: a part of it went back, or a refund '
	'that names no payment may be of this one.';
COMMENT ON COLUMN urlmode.payment.result IS
	'What came back, as sealed JSON. Purged some time after the claim.';

CREATE TABLE urlmode.refund (
	provider    urlmode.provider  NOT NULL,
	reference   urlmode.reference NOT NULL,
	elicitations uuid[]     NOT NULL,
	payment     urlmode.reference,
	amount      bigint      CHECK (amount >= 0),
	currency    urlmode.currency,
	reversed    bigint      CHECK (reversed >= 0),
	reversed_at timestamptz,
	refunded_at timestamptz,
	unclear_at  timestamptz,
	received_at timestamptz NOT NULL DEFAULT clock_timestamp(),
	changed_at  timestamptz NOT NULL DEFAULT clock_timestamp(),
	PRIMARY KEY (provider, reference)
);
CREATE INDEX refund_payment ON urlmode.refund (provider, payment);
CREATE INDEX refund_elicitations ON urlmode.refund USING gin (elicitations) WITH (fastupdate = off);
CREATE INDEX refund_changed_at ON urlmode.refund (changed_at);
COMMENT ON TABLE urlmode.refund IS
	'What went back, in the provider''s words: refunds, disputes, cancelled authorisations. '
	'Written by record_events.';
COMMENT ON INDEX urlmode.refund_payment IS 'Finds the refunds of a payment.';
COMMENT ON INDEX urlmode.refund_elicitations IS 'Finds the refunds of an elicitation.';
COMMENT ON INDEX urlmode.refund_changed_at IS
	'Finds refunds that were recorded or reversed since a time.';
COMMENT ON COLUMN urlmode.refund.provider IS
	'Name of the provider in the configuration of the callback programs.';
COMMENT ON COLUMN urlmode.refund.reference IS
	'The provider''s reference of the refund. Where its events have none, they tell the total that '
	'went back of the payment, and this is the reference of the payment; or the id of the '
	'elicitation, where the payment is not known.';
COMMENT ON COLUMN urlmode.refund.elicitations IS
	'The elicitation of the payment, and each that an event of this refund has named. Not foreign '
	'keys: a refund stays when its elicitation is purged.';
COMMENT ON COLUMN urlmode.refund.payment IS
	'The reference of the payment, which may be proved later. NULL: the provider did not name it, '
	'and not exactly one payment was proved before, or it has named another elicitation since. '
	'Then it holds all payments of the elicitations.';
COMMENT ON COLUMN urlmode.refund.amount IS 'In minor units. NULL: all of the payment.';
COMMENT ON COLUMN urlmode.refund.currency IS 'ISO 4217. NULL: that of the payment.';
COMMENT ON COLUMN urlmode.refund.reversed IS
	'How much of it came again (a refund that failed, a dispute that was won): the largest amount '
	'that an event has named, since no provider says that they add up. NULL with reversed_at: all.';
COMMENT ON COLUMN urlmode.refund.reversed_at IS 'When it came again.';
COMMENT ON COLUMN urlmode.refund.refunded_at IS
	'When the provider first said that it went back. NULL: it has only said that it came again.';
COMMENT ON COLUMN urlmode.refund.unclear_at IS
	'When a total was told after a reversal: it may include what came again, or may be new. Or '
	'when a second currency was told, whose amounts are left out. The payment is held until the '
	'operator decides.';
COMMENT ON COLUMN urlmode.refund.received_at IS 'When the provider first told of it.';
COMMENT ON COLUMN urlmode.refund.changed_at IS 'When an event last changed this row.';

CREATE TABLE urlmode.decision (
	provider   urlmode.provider  NOT NULL,
	reference  urlmode.reference NOT NULL,
	decided_at timestamptz NOT NULL DEFAULT clock_timestamp(),
	decision   text        NOT NULL CHECK (decision IN ('released', 'voided')),
	refunded   bigint      NOT NULL,
	decided_by text        NOT NULL CHECK (octet_length(decided_by) BETWEEN 1 AND 200),
	note       text        NOT NULL DEFAULT '' CHECK (octet_length(note) <= 1000),
	PRIMARY KEY (provider, reference, decided_at)
);
COMMENT ON TABLE urlmode.decision IS
	'What the operator decided about payments that were held. Nothing is ever deleted here: the '
	'last row of a payment counts.';
COMMENT ON COLUMN urlmode.decision.provider IS
	'Name of the provider in the configuration of the callback programs.';
COMMENT ON COLUMN urlmode.decision.reference IS 'The reference of the payment.';
COMMENT ON COLUMN urlmode.decision.decided_at IS 'When it was decided.';
COMMENT ON COLUMN urlmode.decision.decision IS
	'released: a call is offered the payment, as long as nothing more goes back. voided: no call '
	'is offered it any more.';
COMMENT ON COLUMN urlmode.decision.refunded IS
	'How much of the payment had gone back at that time.';
COMMENT ON COLUMN urlmode.decision.decided_by IS 'Who decided, as the command says.';
COMMENT ON COLUMN urlmode.decision.note IS 'Why, in the operator''s words.';
