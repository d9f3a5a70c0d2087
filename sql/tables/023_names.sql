-- Internal things got the names by which they are known elsewhere. The functions that
-- replace these are in ../functions/.

SET LOCAL ROLE :"owner";

ALTER TABLE urlmode.elicitation RENAME COLUMN dormant TO is_final;
COMMENT ON COLUMN urlmode.elicitation.is_final IS
	'Whether it was superseded, abandoned or expired, and no call can be given it unless an event '
	'or a payment comes. Set by those, reset by these.';

DROP FUNCTION IF EXISTS
	urlmode.announce, urlmode.announcement, urlmode.becomes_dormant,
	urlmode.keep_unknown, urlmode.take_unknown, urlmode.find_unknown;
