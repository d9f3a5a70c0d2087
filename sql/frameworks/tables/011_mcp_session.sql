-- The sessions of MCP clients, where any instance of a server may serve any
-- session, and the messages that were sent in them.
--
-- A key is the SHA-256 of a session's id, so that these tables contain no id that
-- gives access to a session.

SET LOCAL ROLE :"owner";

CREATE DOMAIN urlmode_frameworks.message AS jsonb CHECK (octet_length(VALUE::text) <= 1048576);
CREATE DOMAIN urlmode_frameworks.stream AS text COLLATE "C" CHECK (octet_length(VALUE) <= 512);
COMMENT ON DOMAIN urlmode_frameworks.message IS
	'JSON-RPC message, or properties of a session, at most 1048576 bytes of text.';
COMMENT ON DOMAIN urlmode_frameworks.stream IS 'Name of a stream of messages, at most 512 bytes.';

CREATE TABLE urlmode_frameworks.mcp_session (
	key        urlmode_frameworks.hash    PRIMARY KEY,
	meta       urlmode_frameworks.message NOT NULL,
	expires_at timestamptz     NOT NULL
);
CREATE INDEX mcp_session_expires_at ON urlmode_frameworks.mcp_session (expires_at);
COMMENT ON TABLE urlmode_frameworks.mcp_session IS 'Sessions of MCP clients.';
COMMENT ON INDEX urlmode_frameworks.mcp_session_expires_at IS 'Finds sessions that ended, to delete them.';
COMMENT ON COLUMN urlmode_frameworks.mcp_session.key IS 'SHA-256 of the session''s id.';
COMMENT ON COLUMN urlmode_frameworks.mcp_session.meta IS
	'Protocol version, client information and capabilities.';
COMMENT ON COLUMN urlmode_frameworks.mcp_session.expires_at IS
	'When the session ends, unless it is used before.';

CREATE TABLE urlmode_frameworks.mcp_event (
	session urlmode_frameworks.hash    NOT NULL REFERENCES urlmode_frameworks.mcp_session ON DELETE CASCADE,
	stream  urlmode_frameworks.stream  NOT NULL,
	n       bigint          NOT NULL,
	message urlmode_frameworks.message NOT NULL,
	PRIMARY KEY (session, stream, n)
);
COMMENT ON TABLE urlmode_frameworks.mcp_event IS
	'The last messages of each stream, for clients that lost their connection and resume it.';
COMMENT ON COLUMN urlmode_frameworks.mcp_event.session IS 'Key of the session.';
COMMENT ON COLUMN urlmode_frameworks.mcp_event.stream IS 'Name of the stream.';
COMMENT ON COLUMN urlmode_frameworks.mcp_event.n IS 'Number of the message in its stream, from 1.';
COMMENT ON COLUMN urlmode_frameworks.mcp_event.message IS 'The JSON-RPC message.';
