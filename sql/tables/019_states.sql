-- The states became one table (functions/001_states.sql). Functions whose parameters or
-- results are others now are made anew.

SET LOCAL ROLE urlmode_owner;

DROP FUNCTION IF EXISTS
	urlmode.supersede(uuid[]),
	urlmode.decide_event(text, text, text, text),
	urlmode.keep_events(uuid[], text[], text[], text[], text[], bigint[], text[], text[], text[], text[], bytea[], text[]),
	urlmode.apply_events(uuid[], text[], text[], text[], text[], boolean[], bytea[], bytea[]);
