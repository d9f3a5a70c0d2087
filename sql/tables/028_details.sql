-- What only some events say. A refund has a kind, and the state and times of its provider:
-- events come in any order, and what counts is the order of what happened there.

SET LOCAL ROLE :"owner";

ALTER TABLE urlmode.unknown_event
	ADD COLUMN details jsonb CHECK (jsonb_typeof(details) = 'object'),
	DROP CONSTRAINT unknown_event_effect_check,
	ADD CONSTRAINT unknown_event_effect_check CHECK (effect IN ('paid', 'refunded', 'refund_reversed', 'disputed'));
COMMENT ON TABLE urlmode.unknown_event IS
	'Signed events about money, of elicitations that are not known. Written by receive_events.';
COMMENT ON COLUMN urlmode.unknown_event.effect IS
	'What it does, as for receive_events: paid, refunded, refund_reversed or disputed.';
COMMENT ON COLUMN urlmode.unknown_event.details IS
	'What only some events say, as for receive_events, or NULL.';

ALTER TABLE urlmode.refund
	ADD COLUMN kind text NOT NULL DEFAULT 'refund' CHECK (kind IN ('refund', 'dispute', 'cancellation')),
	ADD COLUMN state text COLLATE "C" CHECK (octet_length(state) BETWEEN 1 AND 64),
	ADD COLUMN ended text CHECK (ended IN ('won', 'lost')),
	ADD COLUMN occurred_at timestamptz,
	ADD COLUMN moved_at timestamptz,
	ADD COLUMN evidence_due_at timestamptz;
COMMENT ON TABLE urlmode.refund IS
	'What went back, in the provider''s words: refunds, disputes, cancelled authorisations. '
	'Written by receive_events.';
COMMENT ON COLUMN urlmode.refund.amount IS
	'In minor units. NULL: all of the payment. 0 of a dispute: no money has moved yet.';
COMMENT ON COLUMN urlmode.refund.reversed_at IS
	'When it came again. NULL again when it went back once more, by the provider''s times.';
COMMENT ON COLUMN urlmode.refund.refunded_at IS
	'When the provider first said that it went back, or that it is disputed. NULL: it has only said '
	'that it came again.';
COMMENT ON COLUMN urlmode.refund.kind IS
	'refund, dispute (also an inquiry, of which no money has moved yet) or cancellation (of an '
	'authorisation that was not captured).';
COMMENT ON COLUMN urlmode.refund.state IS
	'What the provider calls its state, in the last event that said so. NULL: no event did.';
COMMENT ON COLUMN urlmode.refund.ended IS
	'Of a dispute: won (the money stays or has come again) or lost. NULL: it is open, or no dispute.';
COMMENT ON COLUMN urlmode.refund.occurred_at IS
	'The provider''s time of the last event, in its order. NULL: its events have no time.';
COMMENT ON COLUMN urlmode.refund.moved_at IS
	'The provider''s time of the last event that moved money. An older one does not undo it.';
COMMENT ON COLUMN urlmode.refund.evidence_due_at IS
	'Of a dispute: until when the provider takes evidence. NULL: it did not say.';

ALTER TABLE urlmode.event
	DROP CONSTRAINT event_action_check,
	ADD CONSTRAINT event_action_check CHECK (action IN
		('accept', 'decline', 'cancel', 'processing', 'attempt_failed', 'recheck', 'refunded', 'refund_reversed', 'disputed', 'late',
		'repeated', 'reference_taken', 'other_mode', 'other_account', 'other_checkout', 'other_kind', 'ignored'));
COMMENT ON TABLE urlmode.event IS
	'The events that providers sent for elicitations. Written by receive_events.';
COMMENT ON COLUMN urlmode.event.action IS
	'What it did. accept, decline, cancel: it completed the elicitation. processing: an attempt to '
	'pay is under way, and the elicitation is processing, unless that attempt is known to have '
	'failed. attempt_failed: an attempt to pay failed, and another is possible; if no other one is '
	'under way, an elicitation that was processing is what it was before. recheck: it proves '
	'nothing, and asks the waiting side to recheck. refunded: money went back. refund_reversed: it '
	'came again. disputed: how a dispute stands, which moved no money. late: the elicitation was '
	'completed before; money that it proves is in urlmode.payment. repeated: the same payment '
	'again. reference_taken: the payment belongs to another elicitation. other_kind: it proves '
	'money, and the elicitation or the provider''s entry is no payment; the money is in '
	'urlmode.payment. other_mode, other_account: it comes from the provider''s test mode (or live '
	'mode), or from an account that is not configured. other_checkout: it is of another checkout '
	'than the one that the MCP server made. ignored: its type means nothing to us. The last eight '
	'move nothing.';
COMMENT ON COLUMN urlmode.event.reference IS
	'Of processing and attempt_failed, and of decline, cancel and late: the attempt to pay that it '
	'is about. Of refunded, refund_reversed and disputed: the refund or dispute, or the payment. Of '
	'repeated, reference_taken, other_kind, other_mode and other_account: the payment. NULL: the '
	'event does not say, or it is another one.';
COMMENT ON TABLE urlmode.payment IS
	'Payments that a provider has proved. Written by receive_events and settle.';

DROP FUNCTION IF EXISTS
	urlmode.keep_events(uuid[], text[], text[], text[], text[], bigint[], text[], text[], text[], text[], bytea[], text[], text[]),
	urlmode.store_unmatched(uuid[], text[], text[], text[], text[], bigint[], text[], text[], text[], text[], bytea[], text[], text[]),
	urlmode.keep_refunds(uuid[], text[], text[], bigint[], text[], text[], text[], boolean[]);
