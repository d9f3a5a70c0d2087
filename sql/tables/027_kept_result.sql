-- What a call has returned is in a table of its own, so that results of megabytes weigh on
-- no other row. And a payment says how its claim has ended.

SET LOCAL ROLE :"owner";

ALTER DOMAIN urlmode.fulfilled DROP CONSTRAINT fulfilled_check;
ALTER DOMAIN urlmode.fulfilled ADD CONSTRAINT fulfilled_check CHECK (octet_length(VALUE) <= 16777280);
COMMENT ON DOMAIN urlmode.fulfilled IS 'Sealed result of a call: at most 16 MiB, its name and the seal.';

CREATE TABLE urlmode.kept_result (
	elicitation uuid        NOT NULL,
	reference   urlmode.reference NOT NULL,
	kept_at     timestamptz NOT NULL DEFAULT now(),
	result      urlmode.fulfilled NOT NULL,
	PRIMARY KEY (elicitation, reference),
	-- It gets the new name of its payment with the lease (urlmode.rename_payment).
	FOREIGN KEY (elicitation, reference) REFERENCES urlmode.lease ON UPDATE CASCADE ON DELETE CASCADE
);
-- It is sealed: nothing makes it smaller.
ALTER TABLE urlmode.kept_result ALTER COLUMN result SET STORAGE EXTERNAL;
CREATE INDEX kept_result_kept_at ON urlmode.kept_result (kept_at);
COMMENT ON TABLE urlmode.kept_result IS
	'What calls have returned whose answers were not written yet: one row for each lease that is '
	'fulfilled, until its last end, or until purge_results deletes the result. Written by '
	'fulfil_lease.';
COMMENT ON INDEX urlmode.kept_result_kept_at IS 'Finds results that were kept long ago.';
COMMENT ON COLUMN urlmode.kept_result.elicitation IS 'The elicitation whose outcome is claimed.';
COMMENT ON COLUMN urlmode.kept_result.reference IS 'As in urlmode.lease.';
COMMENT ON COLUMN urlmode.kept_result.kept_at IS 'When the claim was fulfilled.';
COMMENT ON COLUMN urlmode.kept_result.result IS
	'What the call has returned, as sealed JSON. Only the waiting side opens it.';

INSERT INTO urlmode.kept_result (elicitation, reference, kept_at, result)
SELECT l.elicitation, l.reference, l.fulfilled_at, l.fulfilled FROM urlmode.lease l WHERE l.fulfilled IS NOT NULL;

ALTER TABLE urlmode.lease DROP COLUMN fulfilled, ADD COLUMN claim_id uuid, ADD COLUMN given_at timestamptz;
COMMENT ON TABLE urlmode.lease IS
	'Claims that were begun and have not had their last end. Written by begin_lease.';
COMMENT ON COLUMN urlmode.lease.fulfilled_at IS
	'When it was fulfilled: its work was done, and nobody has confirmed since that the answer was '
	'written (urlmode.undelivered).';
COMMENT ON COLUMN urlmode.lease.claim_id IS
	'The name that the last call has given to its claim: with the same name, it is the same call. '
	'NULL: none.';
COMMENT ON COLUMN urlmode.lease.given_at IS
	'When another call was last given the result that is kept. NULL: no other call was.';

ALTER TABLE urlmode.payment
	ADD COLUMN claim_end    text CHECK (claim_end IN ('delivered', 'refunded')),
	ADD COLUMN claim_refund urlmode.reference,
	ADD COLUMN claim_fence  bigint;
COMMENT ON COLUMN urlmode.payment.claim_end IS
	'How the claim has ended: delivered, or refunded. NULL: it has not, or the caller of '
	'urlmode.claim has not said.';
COMMENT ON COLUMN urlmode.payment.claim_refund IS
	'The provider''s reference of the refund with which the claim has ended, if the caller has said '
	'it.';
COMMENT ON COLUMN urlmode.payment.claim_fence IS
	'The fencing number of the call that has ended the claim, so that it can say so twice.';

DROP FUNCTION IF EXISTS urlmode.end_claim(uuid, text, bigint);
