-- The forms of kinds input and approval.

SET LOCAL ROLE :"owner";

CREATE INDEX elicitation_check_until ON urlmode.elicitation (check_until) WHERE check_until IS NOT NULL;
COMMENT ON INDEX urlmode.elicitation_check_until IS 'Finds values that were not checked in time.';
CREATE INDEX elicitation_form ON urlmode.elicitation (expires_at) WHERE form IS NOT NULL;
COMMENT ON INDEX urlmode.elicitation_form IS 'Finds forms that have expired.';
