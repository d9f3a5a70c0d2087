-- The forms of kinds input and approval: the browser opens, reads and answers
-- them, and the MCP server checks what was typed.
--
-- `subject` is the user that the browser is known to belong to; NULL: it is not
-- known. `four_eyes` says whether these names are the ones that MCP servers use as
-- subjects, so that nobody has two. As in 007_callback, the functions for the
-- callback programs take parallel arrays, return one row for each element in the
-- same order, and wait 20 ms for the lock of a row. A row of another kind than the
-- provider's is unknown to them.
--
--   answer_form   an input without verify_ms, or an approval, is completed. Another input
--                 is processing, and its value waits to be checked
--   take_check    one instance takes the value
--   end_check     it is good, and the input is completed; or it has a problem, and
--                 the form is opened again
--
-- A value that is not checked in time leaves its form opened: effective_status says so
-- at once, and end_due_checks wipes the value. A form that comes back shows what was typed
-- into the fields that are not secret (typed), to the browser that has sent it. Whatever
-- the page needs is wiped at the end of the form, also where nobody waits (expire_forms).

SET LOCAL ROLE urlmode_owner;

CREATE INDEX elicitation_check_until ON urlmode.elicitation (check_until) WHERE check_until IS NOT NULL;
COMMENT ON INDEX urlmode.elicitation_check_until IS 'Finds values that were not checked in time.';
CREATE INDEX elicitation_form ON urlmode.elicitation (expires_at) WHERE form IS NOT NULL;
COMMENT ON INDEX urlmode.elicitation_form IS 'Finds forms that have expired.';
