-- Rechecks that events ask for are found without a wait and without a claim.

SET LOCAL ROLE :"owner";

-- Not on recheck_at: so the lease of a recheck writes no index.
CREATE INDEX recheck_due ON urlmode.recheck (elicitation) WHERE rechecks > rechecked;
COMMENT ON INDEX urlmode.recheck_due IS 'Finds what nobody has answered.';
COMMENT ON TABLE urlmode.recheck IS
	'What unproven events ask the MCP server to look at: one row for each elicitation of which '
	'there was one. Written by receive_events, begin_recheck, answer_recheck and end_recheck.';
