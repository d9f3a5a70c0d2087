-- The states became one table (functions/001_states.sql). Functions whose parameters or
-- results are others now are made anew.

SET LOCAL ROLE :"owner";

DROP FUNCTION IF EXISTS
	urlmode.supersede(uuid[]),
	urlmode.decide_event(text, text, text, text),
	urlmode.keep_events(uuid[], text[], text[], text[], text[], bigint[], text[], text[], text[], text[], bytea[], text[]),
	urlmode.apply_events(uuid[], text[], text[], text[], text[], boolean[], bytea[], bytea[]),
	urlmode.open(uuid[], bytea[], text[], bytea[], text[], bigint[]),
	urlmode.open_link(uuid[], text[], bytea[], text[], bigint[]),
	urlmode.is_completable(urlmode.elicitation, text, text, text),
	urlmode.complete(uuid[], bytea[], text[], text[], text[], bytea[], text[], bytea[]),
	urlmode.record_events(uuid[], text[], text[], text[], text[], bigint[], text[], text[], bytea[], bytea[], text[], text[], text[]);
