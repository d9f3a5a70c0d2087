-- When the server last asked the provider, so that a claim can ask anew what is too old.

SET LOCAL ROLE :"owner";

ALTER TABLE urlmode.recheck ADD COLUMN answered_at timestamptz;
COMMENT ON COLUMN urlmode.recheck.answered_at IS
	'When the last recheck ended that did not fail. NULL: none did.';
COMMENT ON TABLE urlmode.recheck IS
	'What unproven events ask the MCP server to look at: one row for each elicitation of which '
	'there was one. Written by record_events, begin_recheck, answer_recheck and end_recheck.';
