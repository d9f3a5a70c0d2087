-- The vault: accounts of users at providers, with their tokens.
--
-- The tokens are sealed under a keys file that no callback host holds, for one
-- subject, provider and account. Only MCP servers reach this table.
--
--   state       what it means
--   connected   the tokens are good, as far as anyone knows
--   reconnect   the provider refuses the refresh token: only the user can help

SET LOCAL ROLE :"owner";

CREATE DOMAIN urlmode.account_id AS text COLLATE "C" CHECK (octet_length(VALUE) BETWEEN 1 AND 512);
CREATE DOMAIN urlmode.tokens AS bytea CHECK (octet_length(VALUE) BETWEEN 30 AND 65536);
CREATE DOMAIN urlmode.scopes AS text[] CHECK (octet_length(VALUE::text) <= 8192);
CREATE DOMAIN urlmode.account_state AS text CHECK (VALUE IN ('connected', 'reconnect'));
COMMENT ON DOMAIN urlmode.account_id IS
	'Identifier of an account, as its provider gives it, 1 to 512 bytes.';
COMMENT ON DOMAIN urlmode.tokens IS 'Sealed tokens, at most 65536 bytes.';
COMMENT ON DOMAIN urlmode.scopes IS 'Scopes of a token, at most 8192 bytes as text.';
COMMENT ON DOMAIN urlmode.account_state IS 'State of an account: connected or reconnect.';

CREATE TABLE urlmode.account (
	subject      urlmode.subject    COLLATE "C" NOT NULL,
	provider     urlmode.provider   NOT NULL,
	account      urlmode.account_id NOT NULL,
	state        urlmode.account_state NOT NULL DEFAULT 'connected',
	reason       urlmode.reason     NOT NULL DEFAULT '',
	scopes       urlmode.scopes     NOT NULL,
	requested    urlmode.scopes     NOT NULL,
	connected_at timestamptz        NOT NULL DEFAULT now(),
	refreshed_at timestamptz        NOT NULL DEFAULT now(),
	expires_at   timestamptz,
	-- A late answer for an account that was deleted must not be of the one that came after it.
	version      bigint             NOT NULL DEFAULT extract(epoch FROM clock_timestamp()) * 1000000,
	first_version bigint           NOT NULL DEFAULT extract(epoch FROM clock_timestamp()) * 1000000,
	lease        bigint             NOT NULL DEFAULT extract(epoch FROM clock_timestamp()) * 1000000,
	leased_until timestamptz,
	sent         boolean            NOT NULL DEFAULT false,
	lost         integer            NOT NULL DEFAULT 0,
	failures     integer            NOT NULL DEFAULT 0,
	pause_until  timestamptz,
	tokens       urlmode.tokens     NOT NULL,
	PRIMARY KEY (subject, provider, account)
);
COMMENT ON TABLE urlmode.account IS 'Accounts that users have connected, with their tokens.';
COMMENT ON COLUMN urlmode.account.subject IS
	'The user, as the authorization of the MCP server names them.';
COMMENT ON COLUMN urlmode.account.provider IS
	'Name of the provider in the configuration of the callback programs.';
COMMENT ON COLUMN urlmode.account.account IS 'The account, as the provider names it.';
COMMENT ON COLUMN urlmode.account.state IS
	'connected, or reconnect: the provider refuses the refresh token.';
COMMENT ON COLUMN urlmode.account.reason IS
	'Why it has to be connected again; empty while it is connected.';
COMMENT ON COLUMN urlmode.account.scopes IS 'Scopes that the user has granted.';
COMMENT ON COLUMN urlmode.account.requested IS
	'Scopes that the user was asked for. Some providers do not say which of them were granted, or '
	'say it in other words.';
COMMENT ON COLUMN urlmode.account.connected_at IS 'When the user last connected it.';
COMMENT ON COLUMN urlmode.account.refreshed_at IS 'When the tokens were stored.';
COMMENT ON COLUMN urlmode.account.expires_at IS
	'When the access token expires. NULL: the provider has not said it.';
COMMENT ON COLUMN urlmode.account.version IS
	'Grows with all tokens that are stored. It begins with the time in microseconds, so that an '
	'account that is connected anew has no version of the one before.';
COMMENT ON COLUMN urlmode.account.first_version IS
	'Set once. An account that is connected anew after it was deleted has another.';
COMMENT ON COLUMN urlmode.account.lease IS
	'Number of the last lease, so that who has lost it changes nothing.';
COMMENT ON COLUMN urlmode.account.leased_until IS 'Until then nobody else begins a refresh.';
COMMENT ON COLUMN urlmode.account.sent IS
	'The holder of the lease has sent a refresh token that the provider may replace, or is about '
	'to.';
COMMENT ON COLUMN urlmode.account.lost IS 'How many answers for this version were lost.';
COMMENT ON COLUMN urlmode.account.failures IS
	'How many refreshes have failed since the last success.';
COMMENT ON COLUMN urlmode.account.pause_until IS
	'After a failure, nobody begins a refresh until then.';
COMMENT ON COLUMN urlmode.account.tokens IS
	'Access token, refresh token and the rest of the answer, sealed (lib/PROTOCOL.md).';
