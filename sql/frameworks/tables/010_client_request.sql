-- The requests that MCP servers send to their clients, where the client's
-- answer may reach another instance than the one that waits for it.
--
-- A key is the SHA-256 of the session's and the request's id, so that this
-- table contains no id that gives access to a session.

SET LOCAL ROLE :"owner";

CREATE DOMAIN urlmode_frameworks.hash AS bytea CHECK (octet_length(VALUE) = 32);
CREATE DOMAIN urlmode_frameworks.response AS bytea CHECK (octet_length(VALUE) <= 262144);
COMMENT ON DOMAIN urlmode_frameworks.hash IS 'SHA-256.';
COMMENT ON DOMAIN urlmode_frameworks.response IS 'Sealed response of a client, at most 262144 bytes.';

CREATE TABLE urlmode_frameworks.client_request (
	key        urlmode_frameworks.hash PRIMARY KEY,
	expected   boolean      NOT NULL,
	response   urlmode_frameworks.response,
	expires_at timestamptz  NOT NULL,
	session    urlmode_frameworks.hash
);
CREATE INDEX client_request_expires_at ON urlmode_frameworks.client_request (expires_at);
CREATE INDEX client_request_unexpected ON urlmode_frameworks.client_request (session, expires_at) WHERE NOT expected;
COMMENT ON TABLE urlmode_frameworks.client_request IS
	'Requests of MCP servers to their clients. A row begins with the request or with its answer, '
	'whichever comes first, and ends when the answer is taken.';
COMMENT ON INDEX urlmode_frameworks.client_request_expires_at IS
	'Finds requests that timed out, to delete them.';
COMMENT ON INDEX urlmode_frameworks.client_request_unexpected IS
	'Counts the answers that came before their request, and may still be taken.';
COMMENT ON COLUMN urlmode_frameworks.client_request.key IS
	'SHA-256 of the session''s id and the request''s id.';
COMMENT ON COLUMN urlmode_frameworks.client_request.expected IS
	'Whether an instance waits for the answer. False: the answer came first.';
COMMENT ON COLUMN urlmode_frameworks.client_request.session IS
	'SHA-256 of the id of the session whose answer came first. NULL: the request came first, or '
	'there is no session.';
COMMENT ON COLUMN urlmode_frameworks.client_request.response IS
	'The JSON-RPC response, sealed. Only MCP servers open it. NULL until the client answers.';
COMMENT ON COLUMN urlmode_frameworks.client_request.expires_at IS
	'From then on nobody waits for it, and it may be deleted.';
