-- One call acts on an outcome: it claims it. Payments that no call has claimed are listed.
--
-- A claim has two ends: the work is done, and the answer was written. claim takes
-- both at once. A call whose answer may be lost holds a lease meanwhile:
--
--   begin_claim    begins the lease, with a fencing number that is greater than
--                  each one before it
--   renew_claim    makes it longer, while the work goes on
--   fulfil_claim   the first end: the work is done, and what it has returned is kept.
--                  The next call is given this, and does not do the work again
--   confirm_claim  the second end: the answer was written
--   release_claim  the work was not done: the next call can begin at once
--
-- When a lease ends without one of them, the next call can begin as well; from
-- then on the earlier call can neither renew nor fulfil its claim. Its fencing
-- number decides that, and not the time: as long as no other call has begun, a
-- call whose lease has ended can still fulfil its claim.
--
-- The state of the claim of an outcome is in
--
--   claimed_at     of the payment, or of an elicitation without payments: the last
--                  end. Until then a later call is given the outcome (resume,
--                  is_paid), and neither it nor its result is purged
--   urlmode.lease  one row from begin_claim to the last end
--   is_leased      whether a call holds the lease, or has fulfilled the claim: no
--                  other call can do the work, and unclaimed does not list it
--
-- The claim of an account is final when it begins, since a provider revokes the
-- tokens of a code that is sent twice (RFC 6749 section 4.1.2). Its other end,
-- end_exchange, says whether the account is connected: for the user's page, and
-- for the calls that have waited for the one that exchanges the code.

SET LOCAL ROLE urlmode_owner;

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
