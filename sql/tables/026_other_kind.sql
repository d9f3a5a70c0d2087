-- A provider proves money for an elicitation that is no payment, or at an entry of the
-- configuration that is of another kind: it is a payment, and never an accept. And
-- /connect refuses an elicitation of another kind than its provider.

SET LOCAL ROLE :"owner";

ALTER TABLE urlmode.event
	DROP CONSTRAINT event_action_check,
	ADD CONSTRAINT event_action_check CHECK (action IN
		('accept', 'decline', 'cancel', 'processing', 'attempt_failed', 'recheck', 'refunded', 'refund_reversed', 'late',
		'repeated', 'reference_taken', 'other_mode', 'other_account', 'other_checkout', 'other_kind', 'ignored'));
COMMENT ON COLUMN urlmode.event.reference IS
	'Of processing and attempt_failed, and of decline, cancel and late: the attempt to pay that it '
	'is about. Of refunded and refund_reversed: the refund, or the payment. Of repeated, '
	'reference_taken, other_kind, other_mode and other_account: the payment. NULL: the event does '
	'not say, or it is another one.';
COMMENT ON COLUMN urlmode.event.amount IS
	'Of refunded and refund_reversed: how much, in minor units. Of reference_taken, other_kind, '
	'other_mode and other_account: the amount that was paid. NULL: the event does not name it, or '
	'is another one.';
COMMENT ON COLUMN urlmode.event.action IS
	'What it did. accept, decline, cancel: it completed the elicitation. processing: an attempt to '
	'pay is under way, and the elicitation is processing, unless that attempt is known to have '
	'failed. attempt_failed: an attempt to pay failed, and another is possible; if no other one is '
	'under way, an elicitation that was processing is what it was before. recheck: it proves '
	'nothing, and asks the waiting side to recheck. refunded: money went back. refund_reversed: it '
	'came again. late: the elicitation was completed before; money that it proves is in '
	'urlmode.payment. repeated: the same payment again. reference_taken: the payment belongs to '
	'another elicitation. other_kind: it proves money, and the elicitation or the provider''s entry '
	'is no payment; the money is in urlmode.payment. other_mode, other_account: it comes from the '
	'provider''s test mode (or live mode), or from an account that is not configured. '
	'other_checkout: it is of another checkout than the one that the MCP server made. ignored: its '
	'type means nothing to us. The last eight move nothing.';

DROP FUNCTION IF EXISTS
	urlmode.look_up_link(uuid[], text[]),
	urlmode.store_unmatched(uuid[], text[], text[], text[], text[], bigint[], text[], text[], text[], text[], bytea[], text[]);
