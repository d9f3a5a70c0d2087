-- Whose a payment provider's entry is, what outlives elicitations carries its tenant, and
-- consumers of the ledger are forgotten.

SET LOCAL ROLE :"owner";

CREATE TABLE urlmode.provider_tenant (
	provider urlmode.provider PRIMARY KEY,
	tenant   urlmode.tenant NOT NULL
) WITH (vacuum_truncate = off);
COMMENT ON TABLE urlmode.provider_tenant IS
	'The payment providers whose entry in the configuration of the callback programs names a '
	'tenant. Written by assign_providers, whenever a program has connected.';
COMMENT ON COLUMN urlmode.provider_tenant.provider IS 'Name of the entry.';
COMMENT ON COLUMN urlmode.provider_tenant.tenant IS
	'The only tenant that the provider has payments of; empty: the servers that have none.';

ALTER TABLE urlmode.refund ADD COLUMN tenant urlmode.tenant;
UPDATE urlmode.refund r SET tenant = coalesce((SELECT min(e.tenant::text) FROM urlmode.elicitation e WHERE e.id = ANY (r.elicitations)), '');
COMMENT ON COLUMN urlmode.refund.tenant IS
	'That of what the first event has named, for when the elicitation is purged and the payment is '
	'not known. NULL: nobody knows it.';

ALTER TABLE urlmode.unknown_event ADD COLUMN tenant urlmode.tenant;
COMMENT ON COLUMN urlmode.unknown_event.tenant IS
	'That of the entry of the provider. NULL: the entry names none, and nobody knows whose it is.';

ALTER TABLE urlmode.ledger_consumer ADD COLUMN read_at timestamptz NOT NULL DEFAULT now();
COMMENT ON COLUMN urlmode.ledger_consumer.read_at IS
	'When an instance has begun to read for it the last time. After 400 days it is forgotten, as are '
	'the entries.';

-- Numbers are of one tenant, so that their gaps tell nothing of others.
COMMENT ON SEQUENCE urlmode.ledger_number IS
	'Has numbered the entries of all tenants before 1.0.0; nothing uses it.';
