-- What clients have done with an elicitation that they were asked to open. How that is used is in
-- ../functions/043_ask.sql.

SET LOCAL ROLE :"owner";

CREATE TABLE urlmode.asked_client (
	elicitation uuid           NOT NULL,
	client      urlmode.digest NOT NULL,
	answer      text           NOT NULL CHECK (answer IN ('asked', 'declined', 'dismissed', 'failed')),
	answered_at timestamptz    NOT NULL DEFAULT clock_timestamp(),
	PRIMARY KEY (elicitation, client)
);
COMMENT ON TABLE urlmode.asked_client IS
	'Clients that were asked to open an elicitation and did not, at most 8 of each. Written by '
	'begin_ask and end_ask. A row is deleted with its elicitation.';
COMMENT ON COLUMN urlmode.asked_client.elicitation IS 'The elicitation.';
COMMENT ON COLUMN urlmode.asked_client.client IS 'Digest of the name and the version of the client.';
COMMENT ON COLUMN urlmode.asked_client.answer IS
	'asked: nothing has come back. declined, dismissed: what the client has answered, which need '
	'not be what its user wants. failed: it has answered with an error, or with nothing, and was '
	'given the link as text.';
COMMENT ON COLUMN urlmode.asked_client.answered_at IS 'When that was written. The oldest go first.';
