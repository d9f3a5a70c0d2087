-- What only some events say, for events of elicitations that are not known: they are
-- given back as they came (015_unknown_event in ../functions).

SET LOCAL ROLE :"owner";

ALTER TABLE urlmode.unknown_event
	ADD COLUMN details jsonb CHECK (jsonb_typeof(details) = 'object');
COMMENT ON TABLE urlmode.unknown_event IS
	'Signed events about money, of elicitations that are not known. Written by receive_events.';
COMMENT ON COLUMN urlmode.unknown_event.effect IS
	'What it does, as for receive_events: paid, refunded or refund_reversed.';
COMMENT ON COLUMN urlmode.unknown_event.details IS
	'What only some events say, as for receive_events, or NULL.';

COMMENT ON TABLE urlmode.event IS
	'The events that providers sent for elicitations. Written by receive_events.';
COMMENT ON TABLE urlmode.payment IS
	'Payments that a provider has proved. Written by receive_events and settle.';
COMMENT ON TABLE urlmode.refund IS
	'What went back, in the provider''s words: refunds, disputes, cancelled authorisations. '
	'Written by receive_events.';

DROP FUNCTION IF EXISTS
	urlmode.keep_events(uuid[], text[], text[], text[], text[], bigint[], text[], text[], text[], text[], bytea[], text[], text[]),
	urlmode.store_unmatched(uuid[], text[], text[], text[], text[], bigint[], text[], text[], text[], text[], bytea[], text[], text[]);
