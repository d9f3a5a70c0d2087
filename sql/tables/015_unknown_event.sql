-- Events about money for an elicitation that nobody knows, without their body.

SET LOCAL ROLE :"owner";

CREATE TABLE urlmode.unknown_event (
	provider    urlmode.provider NOT NULL,
	identity    text        COLLATE "C" NOT NULL CHECK (octet_length(identity) BETWEEN 1 AND 800),
	type        urlmode.event_type NOT NULL,
	effect      text        NOT NULL CHECK (effect IN ('paid', 'refunded', 'refund_reversed')),
	elicitation uuid,
	reference   urlmode.reference,
	refund      urlmode.reference,
	checkout    urlmode.reference,
	amount      bigint      CHECK (amount >= 0),
	currency    urlmode.currency,
	result      urlmode.result,
	received_at timestamptz NOT NULL DEFAULT clock_timestamp(),
	expires_at  timestamptz NOT NULL DEFAULT now() + interval '30 days',
	PRIMARY KEY (provider, identity)
);
CREATE INDEX unknown_event_elicitation ON urlmode.unknown_event (elicitation);
CREATE INDEX unknown_event_reference ON urlmode.unknown_event (provider, reference);
CREATE INDEX unknown_event_expires_at ON urlmode.unknown_event (expires_at);
COMMENT ON TABLE urlmode.unknown_event IS
	'Signed events about money, of elicitations that are not known. Written by record_events.';
COMMENT ON INDEX urlmode.unknown_event_elicitation IS
	'Finds the events of an elicitation that is created.';
COMMENT ON INDEX urlmode.unknown_event_reference IS 'Finds the refunds of a proved payment.';
COMMENT ON INDEX urlmode.unknown_event_expires_at IS
	'Finds those that have expired, to delete them.';
COMMENT ON COLUMN urlmode.unknown_event.provider IS
	'Name of the provider in the configuration of the callback programs.';
COMMENT ON COLUMN urlmode.unknown_event.identity IS 'As in urlmode.event.';
COMMENT ON COLUMN urlmode.unknown_event.type IS 'The type of the event, in the provider''s words.';
COMMENT ON COLUMN urlmode.unknown_event.effect IS
	'What it does, as for record_events: paid, refunded or refund_reversed.';
COMMENT ON COLUMN urlmode.unknown_event.elicitation IS
	'The elicitation that it names. NULL: it names its payment alone.';
COMMENT ON COLUMN urlmode.unknown_event.reference IS
	'The provider''s reference of the payment, or NULL.';
COMMENT ON COLUMN urlmode.unknown_event.refund IS
	'The provider''s reference of the refund, or NULL.';
COMMENT ON COLUMN urlmode.unknown_event.checkout IS
	'The provider''s id of the checkout that was paid, or NULL.';
COMMENT ON COLUMN urlmode.unknown_event.amount IS 'Minor units, or NULL.';
COMMENT ON COLUMN urlmode.unknown_event.currency IS 'ISO 4217, or NULL.';
COMMENT ON COLUMN urlmode.unknown_event.result IS
	'The result that the elicitation would get, as sealed JSON, or NULL.';
COMMENT ON COLUMN urlmode.unknown_event.received_at IS 'When it was received.';
COMMENT ON COLUMN urlmode.unknown_event.expires_at IS 'From then on it may be deleted.';
