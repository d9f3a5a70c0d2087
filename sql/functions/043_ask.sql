-- A client is asked to open the page of an elicitation, and its answer ends that ask alone. Clients
-- decline, dismiss and fail by themselves, so none of this moves a row: only people on our
-- pages, the MCP server, the operator and time do. A client that did not open this elicitation
-- is given its link as text from then on.

CREATE OR REPLACE FUNCTION urlmode.max_asked_clients() RETURNS integer
LANGUAGE sql IMMUTABLE AS $$
	SELECT 8
$$;
COMMENT ON FUNCTION urlmode.max_asked_clients IS
	'Internal. Of how many clients an elicitation remembers what they have answered.';

CREATE OR REPLACE FUNCTION urlmode.remember_ask(elicitation uuid, client bytea, answer text) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
	INSERT INTO urlmode.asked_client AS c (elicitation, client, answer) VALUES ($1, $2, $3)
	ON CONFLICT ON CONSTRAINT asked_client_pkey DO UPDATE SET answer = excluded.answer, answered_at = excluded.answered_at;
	DELETE FROM urlmode.asked_client c
	WHERE c.elicitation = $1 AND c.client IN (
		SELECT o.client FROM urlmode.asked_client o WHERE o.elicitation = $1
		ORDER BY o.answered_at DESC OFFSET urlmode.max_asked_clients()
	);
END
$$;
COMMENT ON FUNCTION urlmode.remember_ask IS
	'Internal. Writes what a client has answered, and forgets the oldest ones that are too many. '
	'The caller has locked the elicitation.';

CREATE OR REPLACE FUNCTION urlmode.begin_ask(id uuid, binding bytea, client bytea, awaited boolean) RETURNS text
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
	earlier text;
BEGIN
	-- Also of a row that has just ended: its client is not asked again for it.
	PERFORM FROM urlmode.elicitation e WHERE e.id = begin_ask.id AND e.binding = begin_ask.binding FOR NO KEY UPDATE;
	IF NOT FOUND THEN
		RETURN '';
	END IF;
	SELECT c.answer INTO earlier FROM urlmode.asked_client c WHERE c.elicitation = begin_ask.id AND c.client = begin_ask.client;
	IF earlier = 'asked' THEN
		PERFORM urlmode.remember_ask(id, client, 'failed');
	ELSIF earlier IS NULL AND awaited THEN
		PERFORM urlmode.remember_ask(id, client, 'asked');
	END IF;
	RETURN coalesce(earlier, '');
END
$$;
COMMENT ON FUNCTION urlmode.begin_ask IS
	'Whether this client may be asked to open this elicitation: empty, it may; otherwise it is given '
	'the link as text. asked: it was asked, and nothing came back; it has not seen the link, so '
	'the call gives it at once, and then it is failed. declined, dismissed, failed: it was given '
	'the link after that. awaited: its answer comes with its next call, so that it is remembered '
	'as asked until end_ask.';

CREATE OR REPLACE FUNCTION urlmode.end_ask(id uuid, binding bytea, client bytea, answer text) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
	PERFORM FROM urlmode.elicitation e
	WHERE e.id = end_ask.id AND e.binding = end_ask.binding AND e.status <> 'completed'
	FOR NO KEY UPDATE;
	IF NOT FOUND THEN
		RETURN;
	END IF;
	IF answer = 'accepted' THEN
		DELETE FROM urlmode.asked_client c WHERE c.elicitation = end_ask.id AND c.client = end_ask.client;
	ELSE
		PERFORM urlmode.remember_ask(id, client, answer);
	END IF;
END
$$;
COMMENT ON FUNCTION urlmode.end_ask IS
	'Remembers what a client has answered: declined, dismissed or failed; asked, if it has failed '
	'and the call could not give it the link. accepted: it is forgotten, and can be asked again. '
	'Moves nothing, and wakes nobody.';

CREATE OR REPLACE FUNCTION urlmode.show_asks(id uuid)
RETURNS TABLE (answered_at timestamptz, answer text, client text)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
	SELECT c.answered_at, c.answer, encode(c.client, 'hex')
	FROM urlmode.asked_client c WHERE c.elicitation = show_asks.id
	ORDER BY c.answered_at, c.client
$$;
COMMENT ON FUNCTION urlmode.show_asks IS
	'The clients that were asked to open an elicitation and did not, in the order of their answers: '
	'asked (nothing has come back), declined, dismissed or failed. client: the digest of its name and version.';

GRANT EXECUTE ON FUNCTION urlmode.begin_ask, urlmode.end_ask TO :"server";
GRANT EXECUTE ON FUNCTION urlmode.show_asks TO :"operator";
