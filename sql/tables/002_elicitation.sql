-- The elicitation: one request of an MCP server to one user, to go somewhere in a
-- browser and come back. One row each. ../functions/002_elicitation.sql says how it moves.

SET LOCAL ROLE :"owner";

-- The limits of the columns are domains rather than constraints of the table,
-- for two reasons. A constraint is checked whenever a row is written, a domain
-- only when its column is set, which makes completing a row a third cheaper.
-- And the error of a constraint quotes the whole row; that of a domain only
-- names the domain.
-- btrim() is faster than a regular expression, and every completion checks these.
-- Indexed texts have the collation "C": names and references are compared
-- byte by byte, and no upgrade of the C library changes their order under an index.
CREATE DOMAIN urlmode.provider AS text COLLATE "C" CHECK (octet_length(VALUE) BETWEEN 1 AND 64
	AND btrim(VALUE, 'abcdefghijklmnopqrstuvwxyz0123456789_-') = '' AND left(VALUE, 1) NOT IN ('_', '-'));
CREATE DOMAIN urlmode.currency AS text CHECK (octet_length(VALUE) = 3
	AND btrim(VALUE, 'ABCDEFGHIJKLMNOPQRSTUVWXYZ') = '');
CREATE DOMAIN urlmode.kind AS text COLLATE "C" CHECK (VALUE IN ('oauth', 'payment', 'signature', 'input', 'approval'));
CREATE DOMAIN urlmode.subject AS text CHECK (octet_length(VALUE) BETWEEN 1 AND 512);
CREATE DOMAIN urlmode.session AS text CHECK (octet_length(VALUE) <= 512);
CREATE DOMAIN urlmode.digest AS bytea CHECK (octet_length(VALUE) = 16);
CREATE DOMAIN urlmode.requester AS text CHECK (octet_length(VALUE) BETWEEN 1 AND 200);
CREATE DOMAIN urlmode.client_id AS text CHECK (octet_length(VALUE) BETWEEN 1 AND 2048);
-- W3C Trace Context, version 00: 00-, the trace, the parent, the flags.
CREATE DOMAIN urlmode.traceparent AS text CHECK (VALUE ~ '^00-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$'
	AND VALUE !~ '^00-0{32}|-0{16}-');
CREATE DOMAIN urlmode.kid AS smallint CHECK (VALUE BETWEEN 0 AND 255);
CREATE DOMAIN urlmode.target_url AS text CHECK (octet_length(VALUE) BETWEEN 1 AND 8192);
CREATE DOMAIN urlmode.expected AS jsonb CHECK (VALUE IS NULL OR VALUE = '"any"' OR coalesce(
	jsonb_typeof(VALUE -> 'amount') = 'number' AND VALUE ->> 'amount' ~ '^[0-9]{1,18}$'
	AND VALUE ->> 'currency' ~ '^[A-Z]{3}$', false));
CREATE DOMAIN urlmode.verifier AS bytea CHECK (octet_length(VALUE) <= 1024);
CREATE DOMAIN urlmode.resume_key AS text COLLATE "C" CHECK (octet_length(VALUE) BETWEEN 1 AND 512);
CREATE DOMAIN urlmode.status AS text
	CHECK (VALUE IN ('pending', 'opened', 'processing', 'completed'));
CREATE DOMAIN urlmode.action AS text CHECK (VALUE IN ('accept', 'decline', 'cancel'));
CREATE DOMAIN urlmode.reason AS text CHECK (octet_length(VALUE) <= 64
	AND btrim(VALUE, 'abcdefghijklmnopqrstuvwxyz0123456789_') = '');
CREATE DOMAIN urlmode.result AS bytea CHECK (octet_length(VALUE) <= 65536);
CREATE DOMAIN urlmode.form AS bytea CHECK (octet_length(VALUE) <= 16414);
CREATE DOMAIN urlmode.problem AS bytea CHECK (octet_length(VALUE) <= 8222);
CREATE DOMAIN urlmode.typed AS bytea CHECK (octet_length(VALUE) <= 65536);
CREATE DOMAIN urlmode.verify_ms AS integer CHECK (VALUE BETWEEN 1000 AND 120000);
CREATE DOMAIN urlmode.approvers AS jsonb CHECK (VALUE IS NULL OR CASE WHEN jsonb_typeof(VALUE) = 'array'
	THEN jsonb_array_length(VALUE) <= 16 AND NOT jsonb_path_exists(VALUE, '$[*] ? (@.type() != "string" || @ == "")') ELSE false END);
CREATE DOMAIN urlmode.event_type AS text CHECK (octet_length(VALUE) <= 512);
CREATE DOMAIN urlmode.reference AS text COLLATE "C" CHECK (octet_length(VALUE) <= 800);
COMMENT ON DOMAIN urlmode.provider IS
	'Name of a provider in the configuration of the callback programs.';
COMMENT ON DOMAIN urlmode.currency IS 'Currency, as ISO 4217 names it: three letters.';
COMMENT ON DOMAIN urlmode.kind IS
	'What the user is asked to do: connect an account (oauth), pay, sign documents, type something '
	'(input), or decide (approval).';
COMMENT ON DOMAIN urlmode.subject IS 'Name of a user, 1 to 512 bytes.';
COMMENT ON DOMAIN urlmode.session IS 'Name of an MCP session, at most 512 bytes; may be empty.';
COMMENT ON DOMAIN urlmode.digest IS 'First 16 bytes of a SHA-256.';
COMMENT ON DOMAIN urlmode.requester IS 'Name of an MCP server for people to read, 1 to 200 bytes.';
COMMENT ON DOMAIN urlmode.traceparent IS
	'The trace of a call: traceparent of W3C Trace Context, version 00.';
COMMENT ON DOMAIN urlmode.client_id IS 'OAuth client id of an MCP client, 1 to 2048 bytes.';
COMMENT ON DOMAIN urlmode.kid IS 'Id of a key in the keys file.';
COMMENT ON DOMAIN urlmode.target_url IS 'URL that a browser is sent to, 1 to 8192 bytes.';
COMMENT ON DOMAIN urlmode.expected IS
	'Amount and currency as JSON: {"amount": 1050, "currency": "EUR"}, in minor units and ISO '
	'4217; or the string "any".';
COMMENT ON DOMAIN urlmode.verifier IS 'Sealed code verifier, at most 1024 bytes.';
COMMENT ON DOMAIN urlmode.resume_key IS
	'Key by which a later call finds an elicitation again, 1 to 512 bytes.';
COMMENT ON DOMAIN urlmode.status IS
	'State of an elicitation: pending, opened, processing or completed.';
COMMENT ON DOMAIN urlmode.action IS
	'Outcome of an elicitation, as the MCP specification names them: accept, decline or cancel.';
COMMENT ON DOMAIN urlmode.reason IS
	'Code that explains an action, at most 64 lower-case letters, digits and underscores; may be '
	'empty.';
COMMENT ON DOMAIN urlmode.result IS 'Sealed result, at most 65536 bytes.';
COMMENT ON DOMAIN urlmode.form IS 'Sealed definition of a form, at most 16414 bytes.';
COMMENT ON DOMAIN urlmode.problem IS 'Sealed problem of a value, at most 8222 bytes.';
COMMENT ON DOMAIN urlmode.typed IS 'Sealed values that are not secret, at most 65536 bytes.';
COMMENT ON DOMAIN urlmode.verify_ms IS
	'How long the check of a value may take, in milliseconds, 1000 to 120000.';
COMMENT ON DOMAIN urlmode.approvers IS
	'Who may decide: names of at most 16 users as a JSON array; an empty one: anybody but the '
	'subject.';
COMMENT ON DOMAIN urlmode.event_type IS
	'Type of an event, in the words of its provider, at most 512 bytes.';
COMMENT ON DOMAIN urlmode.reference IS
	'Reference of a provider, such as the id of a payment, at most 800 bytes.';

CREATE TABLE urlmode.elicitation (
	-- What the MCP server asked. None of it changes.
	id           uuid        PRIMARY KEY,
	provider     urlmode.provider NOT NULL,
	kind         urlmode.kind NOT NULL,
	subject      urlmode.subject NOT NULL,
	session      urlmode.session NOT NULL DEFAULT '',
	binding      urlmode.digest NOT NULL,
	requester    urlmode.requester NOT NULL,
	client_id    urlmode.client_id,
	traceparent  urlmode.traceparent,
	link_kid     urlmode.kid,
	target_url   urlmode.target_url,
	expected     urlmode.expected,
	checkout     urlmode.reference,
	approvers    urlmode.approvers,
	verify_ms    urlmode.verify_ms,
	resume_key   urlmode.resume_key,
	request      urlmode.digest,
	created_at   timestamptz NOT NULL DEFAULT now(),
	expires_at   timestamptz NOT NULL,
	grace        interval    NOT NULL DEFAULT '0',
	-- How far it is.
	status       urlmode.status NOT NULL DEFAULT 'pending',
	browser      urlmode.digest,
	opened_at    timestamptz,
	failed_attempts integer  NOT NULL DEFAULT 0,
	refunds      integer     NOT NULL DEFAULT 0,
	-- What unproven events ask the MCP server to look at (009_wait.sql).
	event_type   urlmode.event_type,
	unproven_references urlmode.reference[] NOT NULL DEFAULT '{}',
	rechecks     integer     NOT NULL DEFAULT 0,
	rechecked    integer     NOT NULL DEFAULT 0,
	recheck_at   timestamptz,
	recheck_lease integer    NOT NULL DEFAULT 0,
	recheck_failures integer NOT NULL DEFAULT 0,
	-- A value that the MCP server checks (016_form.sql).
	checks       integer     NOT NULL DEFAULT 0,
	check_taken  integer     NOT NULL DEFAULT 0,
	check_until  timestamptz,
	unchecked    boolean     NOT NULL DEFAULT false,
	-- How it ended.
	action       urlmode.action,
	reason       urlmode.reason NOT NULL DEFAULT '',
	completed_at timestamptz,
	completed_from urlmode.status,
	decided_by   urlmode.subject,
	claimed_at   timestamptz,
	exchange     urlmode.reason,
	dormant      boolean     NOT NULL DEFAULT false,
	-- What is purged when it is no longer needed (005_retention.sql).
	verifier     urlmode.verifier,
	result       urlmode.result,
	form         urlmode.form,
	problem      urlmode.problem,
	typed        urlmode.typed,
	CHECK ((status = 'completed') = (action IS NOT NULL)
		AND (action IS NULL) = (completed_at IS NULL)),
	CHECK (kind <> 'payment' OR expected IS NOT NULL)
) WITH (fillfactor = 50);

-- No index has a column that changes when a row is opened or completed by a browser,
-- or by an event, so that these updates are heap-only ones where the page has room: all
-- of them at full load with a fillfactor of 50, and 85 % with 70.
CREATE INDEX elicitation_expires_at ON urlmode.elicitation (kind, expires_at);
CREATE INDEX elicitation_owner ON urlmode.elicitation (binding, resume_key, request) WHERE NOT dormant;
CREATE INDEX elicitation_checkout ON urlmode.elicitation (provider, checkout) WHERE checkout IS NOT NULL;
COMMENT ON TABLE urlmode.elicitation IS
	'Elicitations. Only the functions of this schema move a row: forward from pending over opened '
	'and processing to completed (back from processing only when the attempt to pay that was under '
	'way has failed, or the value that was typed was refused or not checked), and completed once.';
COMMENT ON INDEX urlmode.elicitation_expires_at IS
	'Finds rows of a kind that expired long ago, to delete them.';
COMMENT ON INDEX urlmode.elicitation_owner IS
	'Finds the elicitations of an owner that a call can go on with, also among thousands that it '
	'cannot.';
COMMENT ON INDEX urlmode.elicitation_checkout IS
	'Finds the elicitation of a checkout, for events that name no other thing.';
COMMENT ON COLUMN urlmode.elicitation.id IS 'The elicitationId of MCP.';
COMMENT ON COLUMN urlmode.elicitation.provider IS
	'Name of the provider in the configuration of the callback programs.';
COMMENT ON COLUMN urlmode.elicitation.kind IS 'oauth, payment, signature, input or approval.';
COMMENT ON COLUMN urlmode.elicitation.subject IS
	'The user, as the authorization of the MCP server names them.';
COMMENT ON COLUMN urlmode.elicitation.session IS 'The MCP session, or empty.';
COMMENT ON COLUMN urlmode.elicitation.binding IS
	'The owner: first 16 bytes of SHA-256("urlmode binding v1" 00 subject 00 session). Most '
	'functions require it beside the id.';
COMMENT ON COLUMN urlmode.elicitation.requester IS
	'Name of the MCP server, as the confirm page shows it.';
COMMENT ON COLUMN urlmode.elicitation.client_id IS
	'The MCP client whose call has created it, as the authorization of the MCP server names it. '
	'For the operator. Where the MCP server compares it, it is a part of request.';
COMMENT ON COLUMN urlmode.elicitation.traceparent IS
	'The trace of the call that created it (W3C Trace Context), for the operator; NULL: it has '
	'none.';
COMMENT ON COLUMN urlmode.elicitation.link_kid IS
	'The key that has minted its link, so that a later call shows the same one. NULL: the first '
	'key of the file mints it each time.';
COMMENT ON COLUMN urlmode.elicitation.target_url IS
	'Where /connect sends the browser. For kind oauth, /connect adds the parameter state. NULL for '
	'input and approval, whose page is urlmode''s own.';
COMMENT ON COLUMN urlmode.elicitation.expected IS
	'What a payment must amount to: {"amount": minor units, "currency": "EUR"}, or "any". NULL for '
	'the other kinds.';
COMMENT ON COLUMN urlmode.elicitation.resume_key IS
	'What the elicitation is for, in the words of the MCP server. A later call of the same owner '
	'with the same key resumes it.';
COMMENT ON COLUMN urlmode.elicitation.request IS
	'Digest of what the MCP server asks for, such as provider, price or client (lib/PROTOCOL.md). '
	'A later call resumes only an elicitation with the same digest.';
COMMENT ON COLUMN urlmode.elicitation.checkout IS
	'The provider''s id of the checkout that the MCP server made. Only a payment of that checkout '
	'counts. NULL: any.';
COMMENT ON COLUMN urlmode.elicitation.approvers IS
	'Who may decide an approval: NULL: the subject. An empty array: anybody whom the web server '
	'knows, but the subject. Otherwise these users.';
COMMENT ON COLUMN urlmode.elicitation.verify_ms IS
	'For how long the MCP server may check a value that was typed. NULL: it does not check.';
COMMENT ON COLUMN urlmode.elicitation.checks IS
	'Number of values that were sent to be checked. The last one is the lease of its check.';
COMMENT ON COLUMN urlmode.elicitation.check_taken IS
	'Which of them an instance has taken to check it.';
COMMENT ON COLUMN urlmode.elicitation.check_until IS
	'Until then the value that is processing must be checked. NULL: there is none.';
COMMENT ON COLUMN urlmode.elicitation.unchecked IS
	'Whether the last value could not be checked, and has to be sent again.';
COMMENT ON COLUMN urlmode.elicitation.decided_by IS 'Who has decided an approval.';
COMMENT ON COLUMN urlmode.elicitation.form IS
	'What the page asks, as sealed JSON. Kept until the elicitation ends.';
COMMENT ON COLUMN urlmode.elicitation.problem IS
	'What is wrong with the last value, as sealed JSON, for the page.';
COMMENT ON COLUMN urlmode.elicitation.typed IS
	'What was typed into the fields that are not secret, as sealed JSON, for the page of the '
	'browser that has sent it: a form that comes back shows it. Kept until the elicitation ends.';
COMMENT ON COLUMN urlmode.elicitation.dormant IS
	'Whether it was superseded, abandoned or expired, and no call can be given it unless an event '
	'or a payment comes. Set by those, reset by these.';
COMMENT ON COLUMN urlmode.elicitation.created_at IS 'When the MCP server created it.';
COMMENT ON COLUMN urlmode.elicitation.expires_at IS
	'From then on it cannot be opened, and no browser can complete it.';
COMMENT ON COLUMN urlmode.elicitation.grace IS
	'For how long after expires_at it waits for its provider before expire may complete it: set by '
	'open for a payment or a signature. While it is processing, it waits for thirty days or longer '
	'(urlmode.closes_at).';
COMMENT ON COLUMN urlmode.elicitation.status IS 'pending, opened, processing or completed.';
COMMENT ON COLUMN urlmode.elicitation.browser IS
	'First 16 bytes of SHA-256("urlmode browser v1" 00 cookie value), of the browser that last '
	'went on from /connect.';
COMMENT ON COLUMN urlmode.elicitation.opened_at IS 'When the user first went on from /connect.';
COMMENT ON COLUMN urlmode.elicitation.failed_attempts IS
	'Number of attempts to pay that failed while the provider''s session went on; of kind input, '
	'of values that had a problem.';
COMMENT ON COLUMN urlmode.elicitation.refunds IS
	'Number of events that said that money went back, also before it was paid.';
COMMENT ON COLUMN urlmode.elicitation.event_type IS
	'Type of the last event that asked for a recheck.';
COMMENT ON COLUMN urlmode.elicitation.unproven_references IS
	'The provider''s references in such events, each once, the last one last, at most '
	'urlmode.max_references(). The sender of the event chose them: the MCP server asks the '
	'provider''s API about them, and compares.';
COMMENT ON COLUMN urlmode.elicitation.rechecks IS 'Number of events that asked for a recheck.';
COMMENT ON COLUMN urlmode.elicitation.rechecked IS 'How many of them a recheck has answered.';
COMMENT ON COLUMN urlmode.elicitation.recheck_at IS
	'Until then nobody begins a recheck: one is under way, or the last one failed. NULL: none was '
	'begun.';
COMMENT ON COLUMN urlmode.elicitation.recheck_lease IS
	'Number of rechecks that were begun: the lease of the last one.';
COMMENT ON COLUMN urlmode.elicitation.recheck_failures IS
	'Rechecks that failed since one was answered.';
COMMENT ON COLUMN urlmode.elicitation.action IS
	'accept, decline or cancel; NULL until it is completed.';
COMMENT ON COLUMN urlmode.elicitation.reason IS
	'Code that explains the action; empty for a plain accept.';
COMMENT ON COLUMN urlmode.elicitation.completed_at IS 'When it was completed.';
COMMENT ON COLUMN urlmode.elicitation.completed_from IS
	'What a cancellation by the MCP server (settle) has cut off: opened or processing. NULL '
	'otherwise.';
COMMENT ON COLUMN urlmode.elicitation.claimed_at IS
	'When a call took the outcome to act on it. No other call will. Set by claim and by abandon.';
COMMENT ON COLUMN urlmode.elicitation.exchange IS
	'The exchange of the code of an account: exchanging; or how it has ended: empty, the account '
	'is connected; otherwise why it is not. NULL: no call has begun it, or nobody says.';
COMMENT ON COLUMN urlmode.elicitation.verifier IS
	'The PKCE code verifier (RFC 7636) and the OpenID Connect nonce, as sealed JSON. Only the '
	'waiting side opens it.';
COMMENT ON COLUMN urlmode.elicitation.result IS
	'What came back, as sealed JSON. Only the waiting side opens it.';
