-- The claims of calls that act on an outcome.

SET LOCAL ROLE :"owner";

CREATE DOMAIN urlmode.fulfilled AS bytea CHECK (octet_length(VALUE) <= 262144);
COMMENT ON DOMAIN urlmode.fulfilled IS 'Sealed result of a call, at most 262144 bytes.';

CREATE TABLE urlmode.lease (
	elicitation  uuid        NOT NULL REFERENCES urlmode.elicitation ON DELETE CASCADE,
	reference    urlmode.reference NOT NULL,
	fence        bigint      NOT NULL,
	ends_at      timestamptz NOT NULL,
	fulfilled_at timestamptz,
	fulfilled    urlmode.fulfilled,
	PRIMARY KEY (elicitation, reference)
);
CREATE INDEX lease_fulfilled_at ON urlmode.lease (fulfilled_at);
COMMENT ON TABLE urlmode.lease IS
	'Claims that were begun and have not had their last end. Written by begin_claim.';
COMMENT ON INDEX urlmode.lease_fulfilled_at IS
	'Finds claims that were fulfilled long ago and never confirmed.';
COMMENT ON COLUMN urlmode.lease.elicitation IS 'The elicitation whose outcome is claimed.';
COMMENT ON COLUMN urlmode.lease.reference IS
	'The reference of the payment that is claimed; empty where the outcome is no payment.';
COMMENT ON COLUMN urlmode.lease.fence IS
	'The fencing number of the last call that has begun: microseconds since 1970, so that it also '
	'grows when a failover has lost commits.';
COMMENT ON COLUMN urlmode.lease.ends_at IS
	'Until then no other call can begin; infinity: it is fulfilled.';
COMMENT ON COLUMN urlmode.lease.fulfilled_at IS 'When it was fulfilled.';
COMMENT ON COLUMN urlmode.lease.fulfilled IS
	'What the call has returned, as sealed JSON. Only the waiting side opens it.';
