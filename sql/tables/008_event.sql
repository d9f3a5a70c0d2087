-- The events that providers send to the webhook. Each is kept once.

SET LOCAL ROLE :"owner";

CREATE TABLE urlmode.event (
	provider    text        COLLATE "C" NOT NULL,
	identity    text        COLLATE "C" NOT NULL CHECK (octet_length(identity) BETWEEN 1 AND 800),
	type        text        NOT NULL CHECK (octet_length(type) <= 512),
	elicitation uuid        NOT NULL,
	received_at timestamptz NOT NULL DEFAULT clock_timestamp(),
	reference   urlmode.reference,
	amount      bigint,
	request     text        CHECK (request ~ '^[0-9a-f]{32}$'),
	action      text        NOT NULL CHECK (action IN
		('accept', 'decline', 'cancel', 'processing', 'attempt_failed', 'recheck', 'refunded', 'refund_reversed', 'late',
		'repeated', 'reference_taken', 'other_mode', 'other_account', 'other_checkout', 'ignored')),
	PRIMARY KEY (provider, identity)
);
CREATE INDEX event_elicitation ON urlmode.event (elicitation);
CREATE INDEX event_attempt ON urlmode.event (provider, reference)
	WHERE action IN ('processing', 'attempt_failed') AND reference IS NOT NULL;
COMMENT ON TABLE urlmode.event IS
	'The events that providers sent for elicitations. Written by record_events.';
COMMENT ON INDEX urlmode.event_elicitation IS 'Finds the events of an elicitation.';
COMMENT ON INDEX urlmode.event_attempt IS
	'Finds the elicitation of an attempt to pay, for later events that do not name it.';
COMMENT ON COLUMN urlmode.event.provider IS
	'Name of the provider in the configuration of the callback programs.';
COMMENT ON COLUMN urlmode.event.identity IS
	'The provider''s id of the event, or sha256: and the digest of its body; 1 to 800 bytes.';
COMMENT ON COLUMN urlmode.event.type IS
	'The type of the event, in the provider''s words, at most 512 bytes.';
COMMENT ON COLUMN urlmode.event.elicitation IS
	'The elicitation that the event is about. Its events are deleted with it.';
COMMENT ON COLUMN urlmode.event.received_at IS 'When it was first received.';
COMMENT ON COLUMN urlmode.event.reference IS
	'Of processing and attempt_failed, and of decline, cancel and late: the attempt to pay that it '
	'is about. Of refunded and refund_reversed: the refund, or the payment. Of repeated, '
	'reference_taken, other_mode and other_account: the payment. NULL: the event does not say, or '
	'it is another one.';
COMMENT ON COLUMN urlmode.event.amount IS
	'Of refunded and refund_reversed: how much, in minor units. Of reference_taken, other_mode and '
	'other_account: the amount that was paid. NULL: the event does not name it, or is another one.';
COMMENT ON COLUMN urlmode.event.request IS
	'The request id of its delivery, as in the logs; NULL: it is not known.';
COMMENT ON COLUMN urlmode.event.action IS
	'What it did. accept, decline, cancel: it completed the elicitation. processing: an attempt to '
	'pay is under way, and the elicitation is processing, unless that attempt is known to have '
	'failed. attempt_failed: an attempt to pay failed, and another is possible; if no other one is '
	'under way, an elicitation that was processing is what it was before. recheck: it proves '
	'nothing, and asks the waiting side to recheck. refunded: money went back. refund_reversed: it '
	'came again. late: the elicitation was completed before; money that it proves is in '
	'urlmode.payment. repeated: the same payment again. reference_taken: the payment belongs to '
	'another elicitation. other_mode, other_account: it comes from the provider''s test mode (or '
	'live mode), or from an account that is not configured. other_checkout: it is of another '
	'checkout than the one that the MCP server made. ignored: its type means nothing to us. The '
	'last seven move nothing.';
