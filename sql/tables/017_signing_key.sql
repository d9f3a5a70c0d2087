-- Public keys of providers that give them one at a time, for a key id (`kid`) and for
-- credentials. The callback programs have no credentials and call nobody: they ask
-- for a key here, and the MCP server fetches it.
--
--   look_up_signing_keys  role urlmode_cgi: the key of each id, or asks for it
--   take_signing_key      role urlmode_server: an id that was asked for, for one instance
--   keep_signing_key      role urlmode_server: the key, or that there is none
--   list_wanted_keys      role urlmode_operator: the ids that wait for it, and no key
--
-- Only the MCP server can write a key, so that who has the login of the programs can
-- have no delivery verified with a key of his own. A key is public: it is not sealed.
--
-- Anybody can invent ids. So at most urlmode.max_wanted_keys() of each provider are
-- kept without a key, and the oldest go first: the provider repeats its delivery.

SET LOCAL ROLE urlmode_owner;

CREATE TABLE urlmode.signing_key (
	provider   urlmode.provider NOT NULL,
	kid        text        COLLATE "C" NOT NULL CHECK (octet_length(kid) BETWEEN 1 AND 128),
	key        text        CHECK (octet_length(key) <= 8192),
	expires_at timestamptz,
	fetched_at timestamptz,
	wanted_at  timestamptz,
	wanted_since timestamptz,
	leased_until timestamptz,
	PRIMARY KEY (provider, kid)
);
COMMENT ON TABLE urlmode.signing_key IS
	'Public keys of providers by their ids, and ids that deliveries have named.';
COMMENT ON COLUMN urlmode.signing_key.provider IS
	'Name of the provider in the configuration of the callback programs.';
COMMENT ON COLUMN urlmode.signing_key.kid IS 'The id of the key, as a token names it.';
COMMENT ON COLUMN urlmode.signing_key.key IS
	'The key as JSON (RFC 7517), or NULL: not fetched yet, or the provider has no such key.';
COMMENT ON COLUMN urlmode.signing_key.expires_at IS
	'From then on it verifies nothing. NULL: the provider has not said.';
COMMENT ON COLUMN urlmode.signing_key.fetched_at IS 'When the provider has answered last, or NULL.';
COMMENT ON COLUMN urlmode.signing_key.wanted_at IS
	'When a delivery has asked for it, or NULL: nobody needs to fetch it.';
COMMENT ON COLUMN urlmode.signing_key.wanted_since IS
	'When the first of the deliveries has asked that wait for it now, or NULL: nobody needs to '
	'fetch it.';
COMMENT ON COLUMN urlmode.signing_key.leased_until IS 'Until then an instance fetches it.';
