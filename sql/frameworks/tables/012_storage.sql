-- A key-value store with expiry, and channels of messages, for MCP frameworks
-- whose instances share them.

SET LOCAL ROLE :"owner";

CREATE DOMAIN urlmode_frameworks.name AS text COLLATE "C" CHECK (octet_length(VALUE) BETWEEN 1 AND 2048);
CREATE DOMAIN urlmode_frameworks.value AS text CHECK (octet_length(VALUE) <= 1048576);
COMMENT ON DOMAIN urlmode_frameworks.name IS 'Name of a key or a channel, 1 to 2048 bytes.';
COMMENT ON DOMAIN urlmode_frameworks.value IS 'Value of a key, or a message, at most 1048576 bytes.';

CREATE TABLE urlmode_frameworks.stored (
	key        urlmode_frameworks.name  PRIMARY KEY,
	value      urlmode_frameworks.value NOT NULL,
	expires_at timestamptz
);
CREATE INDEX stored_expires_at ON urlmode_frameworks.stored (expires_at) WHERE expires_at IS NOT NULL;
COMMENT ON TABLE urlmode_frameworks.stored IS 'Values that MCP frameworks store.';
COMMENT ON INDEX urlmode_frameworks.stored_expires_at IS 'Finds values that expired, to delete them.';
COMMENT ON COLUMN urlmode_frameworks.stored.key IS 'Key that the framework chose.';
COMMENT ON COLUMN urlmode_frameworks.stored.value IS 'Text that the framework stored.';
COMMENT ON COLUMN urlmode_frameworks.stored.expires_at IS
	'From then on the value does not exist any more. NULL: it does not expire.';

CREATE TABLE urlmode_frameworks.published (
	id         bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
	channel    urlmode_frameworks.name  NOT NULL,
	message    urlmode_frameworks.value NOT NULL,
	expires_at timestamptz   NOT NULL DEFAULT now() + interval '10 minutes'
);
CREATE INDEX published_channel ON urlmode_frameworks.published (channel, id);
CREATE INDEX published_expires_at ON urlmode_frameworks.published (expires_at);
COMMENT ON TABLE urlmode_frameworks.published IS
	'Messages of channels, kept for ten minutes, so that a subscriber that lost its connection can '
	'read the messages that it missed.';
COMMENT ON INDEX urlmode_frameworks.published_channel IS 'Finds the messages that a subscriber has not read.';
COMMENT ON INDEX urlmode_frameworks.published_expires_at IS 'Finds messages that expired, to delete them.';
COMMENT ON COLUMN urlmode_frameworks.published.id IS 'Number of the message, ascending over all channels.';
COMMENT ON COLUMN urlmode_frameworks.published.channel IS 'Channel that the framework chose.';
COMMENT ON COLUMN urlmode_frameworks.published.message IS 'Text that the framework published.';
COMMENT ON COLUMN urlmode_frameworks.published.expires_at IS
	'From then on it is not read, and may be deleted.';
