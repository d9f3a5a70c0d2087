-- Who holds the lease of a refresh, and what is known of the provider (functions/014_vault.sql).

SET LOCAL ROLE :"owner";

ALTER TABLE urlmode.account
	ADD COLUMN holder bigint,
	ADD COLUMN server_started_at timestamptz,
	ADD COLUMN sent_lease bigint,
	ADD COLUMN first_sent_at timestamptz,
	ADD COLUMN reuse_ms bigint CHECK (reuse_ms >= 0),
	ADD COLUMN gone_at timestamptz;
COMMENT ON COLUMN urlmode.account.holder IS
	'Key of the advisory lock that the listening session of the lease''s holder has. NULL: it has '
	'no such session, so that nobody knows when it ends.';
COMMENT ON COLUMN urlmode.account.server_started_at IS
	'When the PostgreSQL was started that was told, for the last lease, that the refresh token is sent. With another one all sessions have ended.';
COMMENT ON COLUMN urlmode.account.sent_lease IS
	'The last lease under which the refresh token of this version was sent. What comes for an '
	'earlier one may be dead.';
COMMENT ON COLUMN urlmode.account.first_sent_at IS
	'When the refresh token of this version was sent first: the window of the provider begins.';
COMMENT ON COLUMN urlmode.account.reuse_ms IS
	'For how long after its use the provider takes this refresh token again. 0: never, and a '
	'second use ends the family. NULL: not known.';
COMMENT ON COLUMN urlmode.account.gone_at IS
	'When it was first seen that the listening session of the holder has ended after it has sent '
	'the token.';

CREATE INDEX account_gone ON urlmode.account (holder) WHERE gone_at IS NOT NULL;
COMMENT ON INDEX urlmode.account_gone IS 'Finds the leases of a holder that comes back. Hardly ever a row is in it.';
