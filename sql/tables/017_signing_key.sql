-- Public keys of providers that give them one at a time, for a key id (`kid`). A key is
-- public: it is not sealed.

SET LOCAL ROLE :"owner";

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
