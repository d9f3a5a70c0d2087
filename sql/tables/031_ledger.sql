-- The ledger: everything about money, in order, for servers that follow it. And whose a
-- payment is, and what it is for, which stay when its elicitation is purged.

SET LOCAL ROLE :"owner";

ALTER TABLE urlmode.payment
	ADD COLUMN subject urlmode.subject COLLATE "C",
	ADD COLUMN item    urlmode.item,
	ADD COLUMN tenant  urlmode.tenant NOT NULL DEFAULT '';
COMMENT ON COLUMN urlmode.payment.subject IS
	'Who was asked to pay. NULL: the user was forgotten, or the elicitation was purged before this '
	'column was there.';
COMMENT ON COLUMN urlmode.payment.item IS 'The item of the elicitation; NULL: it has none.';
COMMENT ON COLUMN urlmode.payment.tenant IS 'The MCP server that it belongs to, or empty.';
-- With the provider first, PostgreSQL took it for the primary key in a new database, and read all payments of the provider.
DROP INDEX urlmode.payment_proven_at;
CREATE INDEX payment_proven_at ON urlmode.payment (proven_at, provider);
COMMENT ON INDEX urlmode.payment_proven_at IS 'Finds the payments of a time.';
CREATE INDEX payment_subject ON urlmode.payment (subject, item) WHERE subject IS NOT NULL;
COMMENT ON INDEX urlmode.payment_subject IS 'Finds what a user has paid, and for which item.';

CREATE DOMAIN urlmode.consumer AS text COLLATE "C" CHECK (octet_length(VALUE) BETWEEN 1 AND 64
	AND btrim(VALUE, 'abcdefghijklmnopqrstuvwxyz0123456789_-') = '');
COMMENT ON DOMAIN urlmode.consumer IS
	'Name of a consumer of the ledger: 1 to 64 lower-case letters, digits, underscores and hyphens.';

CREATE SEQUENCE urlmode.ledger_number;
COMMENT ON SEQUENCE urlmode.ledger_number IS 'Numbers the entries of the ledger that were committed.';

CREATE TABLE urlmode.ledger (
	id          bigint      GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
	number      bigint,
	entered_at  timestamptz NOT NULL DEFAULT clock_timestamp(),
	tenant      urlmode.tenant NOT NULL,
	type        text        NOT NULL CHECK (type IN ('paid', 'mismatched', 'late', 'refunded', 'refund_reversed',
		'disputed', 'dispute_won', 'dispute_lost', 'held', 'released', 'voided', 'claimed', 'delivered')),
	kind        text        NOT NULL,
	provider    urlmode.provider NOT NULL,
	elicitation uuid,
	payment     urlmode.reference,
	checkout    urlmode.reference,
	reference   urlmode.reference,
	amount      bigint,
	currency    urlmode.currency,
	refunded    bigint,
	status      text,
	occurred_at timestamptz,
	evidence_due_at timestamptz
);
CREATE UNIQUE INDEX ledger_number_key ON urlmode.ledger (tenant, number) WHERE number IS NOT NULL;
CREATE INDEX ledger_unnumbered ON urlmode.ledger (id) WHERE number IS NULL;
CREATE INDEX ledger_payment ON urlmode.ledger (provider, payment, id) WHERE payment IS NOT NULL;
COMMENT ON TABLE urlmode.ledger IS
	'What became of money, one row for each change. Written by the triggers of payment, refund, '
	'decision and lease (031_ledger). Nothing here is changed, but for the number.';
COMMENT ON INDEX urlmode.ledger_number_key IS 'Finds what comes after a cursor.';
COMMENT ON INDEX urlmode.ledger_unnumbered IS 'Finds what has no number yet.';
COMMENT ON INDEX urlmode.ledger_payment IS 'Finds the last entries of a payment.';
COMMENT ON COLUMN urlmode.ledger.id IS
	'Grows with the time at which an entry was written, which is not the order in which '
	'transactions commit.';
COMMENT ON COLUMN urlmode.ledger.number IS
	'The place of the entry in the order in which consumers read. NULL: nobody has read since it '
	'was committed.';
COMMENT ON COLUMN urlmode.ledger.entered_at IS 'When it was written.';
COMMENT ON COLUMN urlmode.ledger.tenant IS 'The MCP server that it belongs to, or empty.';
COMMENT ON COLUMN urlmode.ledger.type IS
	'What happened. paid, late, mismatched: a payment was proved, or more of it: as expected, as '
	'expected after the end, or not as expected. refunded, disputed: money went back. '
	'refund_reversed, dispute_won: it came again. dispute_lost: it will not. held: no call is '
	'offered the payment; released: calls are again. voided: the operator decided that no call is. '
	'claimed: a call has begun to act on it. delivered: it has ended, and no later call does.';
COMMENT ON COLUMN urlmode.ledger.kind IS
	'What reference names: payment, or refund, dispute or cancellation.';
COMMENT ON COLUMN urlmode.ledger.provider IS
	'Name of the provider in the configuration of the callback programs.';
COMMENT ON COLUMN urlmode.ledger.elicitation IS
	'What was to be paid; NULL: it may be one of several.';
COMMENT ON COLUMN urlmode.ledger.payment IS
	'The reference of the payment. NULL: what went back is of a payment that is not known.';
COMMENT ON COLUMN urlmode.ledger.checkout IS
	'The provider''s id of the checkout, if it is known. A payment that was proved by its checkout '
	'alone has this as its reference until its own is known.';
COMMENT ON COLUMN urlmode.ledger.reference IS
	'The reference of the refund or dispute, or of the refund with which a claim has ended. NULL: '
	'that of the payment.';
COMMENT ON COLUMN urlmode.ledger.amount IS
	'In minor units. Of a payment: of all of it. Of refunded and disputed: how much this refund '
	'took in total; of refund_reversed and dispute_won: how much of it came again in total. NULL: '
	'not known.';
COMMENT ON COLUMN urlmode.ledger.currency IS 'ISO 4217.';
COMMENT ON COLUMN urlmode.ledger.refunded IS
	'How much of the payment has gone back by then, of all refunds together. NULL: the payment is '
	'not known.';
COMMENT ON COLUMN urlmode.ledger.status IS
	'What the provider calls the state of the refund or dispute; NULL: it does not say.';
COMMENT ON COLUMN urlmode.ledger.occurred_at IS
	'When it happened, as the provider says; NULL: it does not say.';
COMMENT ON COLUMN urlmode.ledger.evidence_due_at IS
	'Until when the provider takes evidence in a dispute; NULL: it does not say.';

CREATE TABLE urlmode.ledger_consumer (
	tenant       urlmode.tenant NOT NULL,
	consumer     urlmode.consumer NOT NULL,
	number       bigint      NOT NULL DEFAULT 0,
	lease        bigint      NOT NULL DEFAULT 0,
	leased_until timestamptz,
	PRIMARY KEY (tenant, consumer)
);
COMMENT ON TABLE urlmode.ledger_consumer IS
	'How far each consumer has read the ledger, and which instance reads for it. Written by '
	'begin_ledger, acknowledge_ledger and end_ledger.';
COMMENT ON COLUMN urlmode.ledger_consumer.tenant IS 'Whose entries it reads.';
COMMENT ON COLUMN urlmode.ledger_consumer.consumer IS 'Its name.';
COMMENT ON COLUMN urlmode.ledger_consumer.number IS
	'The last entry that it has acknowledged; 0: none.';
COMMENT ON COLUMN urlmode.ledger_consumer.lease IS
	'Number of the last lease: microseconds since 1970, as of the fence of a claim.';
COMMENT ON COLUMN urlmode.ledger_consumer.leased_until IS
	'Until then no other instance reads for it. NULL: none does.';
