-- A payment or signature is found again by what it is for (../functions/006_create.sql).

SET LOCAL ROLE :"owner";

CREATE INDEX elicitation_item ON urlmode.elicitation (binding, item) WHERE item IS NOT NULL AND NOT is_final;
COMMENT ON INDEX urlmode.elicitation_item IS
	'Finds the elicitations of an owner for an item.';

DROP FUNCTION IF EXISTS urlmode.is_paid(text, bytea, text, bytea);
