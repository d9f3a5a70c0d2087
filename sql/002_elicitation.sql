-- The elicitation: one request of an MCP server to one user to go somewhere
-- in a browser and come back.

SET LOCAL ROLE urlmode_owner;

-- The limits of each column, as types. A constraint of the table is checked
-- whenever a row is written, a type only where its column is set: completing a
-- row costs a third less so. And an error says no more than the type's name,
-- where a constraint quotes the row that it keeps out, with all that stands in
-- it.
CREATE DOMAIN urlmode.provider AS text CHECK (VALUE ~ '^[a-z0-9][a-z0-9_-]{0,63}$');
CREATE DOMAIN urlmode.kind AS text CHECK (VALUE IN ('oauth', 'payment', 'signature'));
CREATE DOMAIN urlmode.subject AS text CHECK (octet_length(VALUE) BETWEEN 1 AND 512);
CREATE DOMAIN urlmode.session AS text CHECK (octet_length(VALUE) <= 512);
CREATE DOMAIN urlmode.digest AS bytea CHECK (octet_length(VALUE) = 16);
CREATE DOMAIN urlmode.requester AS text CHECK (octet_length(VALUE) BETWEEN 1 AND 200);
CREATE DOMAIN urlmode.target_url AS text CHECK (octet_length(VALUE) BETWEEN 1 AND 8192);
CREATE DOMAIN urlmode.expected AS jsonb CHECK (VALUE IS NULL OR coalesce(
	jsonb_typeof(VALUE -> 'amount') = 'number' AND VALUE ->> 'amount' ~ '^[0-9]{1,18}$'
	AND VALUE ->> 'currency' ~ '^[A-Z]{3}$', false));
CREATE DOMAIN urlmode.verifier AS bytea CHECK (octet_length(VALUE) <= 1024);
CREATE DOMAIN urlmode.status AS text
	CHECK (VALUE IN ('pending', 'opened', 'processing', 'completed'));
CREATE DOMAIN urlmode.action AS text CHECK (VALUE IN ('accept', 'decline', 'cancel'));
-- Not a regular expression: this one is checked with every completion.
CREATE DOMAIN urlmode.reason AS text CHECK (octet_length(VALUE) <= 64
	AND btrim(VALUE, 'abcdefghijklmnopqrstuvwxyz0123456789_') = '');
CREATE DOMAIN urlmode.result AS bytea CHECK (octet_length(VALUE) <= 65536);
CREATE DOMAIN urlmode.event_type AS text CHECK (octet_length(VALUE) <= 512);
CREATE DOMAIN urlmode.reference AS text CHECK (octet_length(VALUE) <= 800);
COMMENT ON DOMAIN urlmode.provider IS 'A provider''s name in the callback programs'' configuration.';
COMMENT ON DOMAIN urlmode.kind IS 'What an elicitation is for.';
COMMENT ON DOMAIN urlmode.subject IS 'Who the user is.';
COMMENT ON DOMAIN urlmode.session IS 'An MCP session, or empty.';
COMMENT ON DOMAIN urlmode.digest IS 'The first half of a SHA-256.';
COMMENT ON DOMAIN urlmode.requester IS 'Who asks.';
COMMENT ON DOMAIN urlmode.target_url IS 'Where a browser is sent on to.';
COMMENT ON DOMAIN urlmode.expected IS 'Minor units and an ISO 4217 code in upper case.';
COMMENT ON DOMAIN urlmode.verifier IS 'A sealed code verifier.';
COMMENT ON DOMAIN urlmode.status IS 'How far an elicitation is.';
COMMENT ON DOMAIN urlmode.action IS 'How an elicitation ended: the protocol''s own three.';
COMMENT ON DOMAIN urlmode.reason IS 'A short code beside an action.';
COMMENT ON DOMAIN urlmode.result IS 'A sealed result.';
COMMENT ON DOMAIN urlmode.event_type IS 'A provider''s type of an event.';
COMMENT ON DOMAIN urlmode.reference IS 'A provider''s own reference.';

CREATE TABLE urlmode.elicitation (
	id           uuid        PRIMARY KEY,
	provider     urlmode.provider NOT NULL,
	kind         urlmode.kind NOT NULL,
	subject      urlmode.subject NOT NULL,
	session      urlmode.session NOT NULL DEFAULT '',
	binding      urlmode.digest NOT NULL,
	requester    urlmode.requester NOT NULL,
	target_url   urlmode.target_url NOT NULL,
	expected     urlmode.expected,
	verifier     urlmode.verifier,
	status       urlmode.status NOT NULL DEFAULT 'pending',
	action       urlmode.action,
	reason       urlmode.reason NOT NULL DEFAULT '',
	result       urlmode.result,
	browser      urlmode.digest,
	event_type   urlmode.event_type,
	reference    urlmode.reference,
	rechecks     integer     NOT NULL DEFAULT 0,
	created_at   timestamptz NOT NULL DEFAULT now(),
	expires_at   timestamptz NOT NULL,
	opened_at    timestamptz,
	completed_at timestamptz,
	CHECK ((status = 'completed') = (action IS NOT NULL)
		AND (action IS NULL) = (completed_at IS NULL))
) WITH (fillfactor = 70);

-- No index holds a column that an elicitation's way changes, so that every
-- step is a heap-only update.
CREATE INDEX elicitation_expires_at ON urlmode.elicitation (expires_at);

COMMENT ON TABLE urlmode.elicitation IS
	'One row an elicitation. It only ever moves forward (pending, opened, processing, completed) and is completed once; only the functions of this schema move it.';
COMMENT ON INDEX urlmode.elicitation_expires_at IS 'For clearing away what is long over.';
COMMENT ON COLUMN urlmode.elicitation.id IS 'The MCP elicitationId.';
COMMENT ON COLUMN urlmode.elicitation.provider IS 'The provider''s name in the callback programs'' configuration.';
COMMENT ON COLUMN urlmode.elicitation.kind IS 'oauth, payment or signature.';
COMMENT ON COLUMN urlmode.elicitation.subject IS 'Who the MCP server''s own authorization says the user is.';
COMMENT ON COLUMN urlmode.elicitation.session IS 'The MCP session, or empty.';
COMMENT ON COLUMN urlmode.elicitation.binding IS
	'First 16 bytes of SHA-256("urlmode binding v1" 00 subject 00 session): every function wants it beside the id.';
COMMENT ON COLUMN urlmode.elicitation.requester IS 'Who asks: the MCP server''s name, as the confirm page shows it.';
COMMENT ON COLUMN urlmode.elicitation.target_url IS 'Where /connect sends the browser; for oauth without its state.';
COMMENT ON COLUMN urlmode.elicitation.expected IS 'What a payment must match: {"amount": minor units, "currency": "EUR"}.';
COMMENT ON COLUMN urlmode.elicitation.verifier IS
	'The PKCE code verifier (RFC 7636) and the OpenID Connect nonce as JSON, sealed; only the waiting side opens it.';
COMMENT ON COLUMN urlmode.elicitation.status IS 'pending, opened, processing or completed.';
COMMENT ON COLUMN urlmode.elicitation.action IS 'accept, decline or cancel; set when completed.';
COMMENT ON COLUMN urlmode.elicitation.reason IS 'A short code beside the action; empty on a plain accept.';
COMMENT ON COLUMN urlmode.elicitation.result IS 'What came back, as JSON, sealed; only the waiting side opens it.';
COMMENT ON COLUMN urlmode.elicitation.browser IS
	'First 16 bytes of SHA-256("urlmode browser v1" 00 cookie value) of the browser that last went on from /connect.';
COMMENT ON COLUMN urlmode.elicitation.event_type IS 'The type of the last event that asks for a recheck.';
COMMENT ON COLUMN urlmode.elicitation.reference IS 'The provider''s own reference in that event, for its API.';
COMMENT ON COLUMN urlmode.elicitation.rechecks IS 'How many events have asked for a recheck.';
COMMENT ON COLUMN urlmode.elicitation.created_at IS 'When the MCP server created it.';
COMMENT ON COLUMN urlmode.elicitation.expires_at IS 'From then on nobody can open it, and no browser can complete it.';
COMMENT ON COLUMN urlmode.elicitation.opened_at IS 'When the user first went on from /connect.';
COMMENT ON COLUMN urlmode.elicitation.completed_at IS 'When the outcome was set.';

-- What came back is not kept for longer than it is of use. A note a batch, not
-- a column a row: see the indexes above.
CREATE TABLE urlmode.forgetting (
	at  timestamptz NOT NULL,
	ids uuid[]      NOT NULL
);
CREATE INDEX forgetting_at ON urlmode.forgetting (at);
COMMENT ON TABLE urlmode.forgetting IS
	'Whose result and verifier are to be dropped, and when: a day after completion, and some time after they were read.';
COMMENT ON INDEX urlmode.forgetting_at IS 'What is due.';
COMMENT ON COLUMN urlmode.forgetting.at IS 'From then on.';
COMMENT ON COLUMN urlmode.forgetting.ids IS 'Elicitations that were completed, or read, together.';
