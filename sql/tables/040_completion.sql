-- What PostgreSQL looked at whenever a row was written, and that no browser changes: what
-- create_elicitation is given, which it checks itself, and whether a lease refers to the row,
-- which is deleted with it (urlmode.delete_events).

SET LOCAL ROLE :"owner";

ALTER TABLE urlmode.elicitation
	DROP CONSTRAINT elicitation_check1,
	DROP CONSTRAINT elicitation_subscription_item;
ALTER TABLE urlmode.lease DROP CONSTRAINT lease_elicitation_fkey;
