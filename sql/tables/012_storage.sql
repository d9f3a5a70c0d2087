-- A key-value store with expiry, and channels of messages, for MCP frameworks
-- whose instances share them.

SET LOCAL ROLE :"owner";

CREATE DOMAIN urlmode.name AS text COLLATE "C" CHECK (octet_length(VALUE) BETWEEN 1 AND 2048);
CREATE DOMAIN urlmode.value AS text CHECK (octet_length(VALUE) <= 1048576);
COMMENT ON DOMAIN urlmode.name IS 'Name of a key or a channel, 1 to 2048 bytes.';
COMMENT ON DOMAIN urlmode.value IS 'Value of a key, or a message, at most 1048576 bytes.';

CREATE TABLE urlmode.stored (
	key        urlmode.name  PRIMARY KEY,
	value      urlmode.value NOT NULL,
	expires_at timestamptz
);
CREATE INDEX stored_expires_at ON urlmode.stored (expires_at) WHERE expires_at IS NOT NULL;
COMMENT ON TABLE urlmode.stored IS 'Values that MCP frameworks store.';
COMMENT ON INDEX urlmode.stored_expires_at IS 'Finds values that expired, to delete them.';
COMMENT ON COLUMN urlmode.stored.key IS 'Key that the framework chose.';
COMMENT ON COLUMN urlmode.stored.value IS 'Text that the framework stored.';
COMMENT ON COLUMN urlmode.stored.expires_at IS
	'From then on the value does not exist any more. NULL: it does not expire.';

CREATE TABLE urlmode.published (
	id         bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
	channel    urlmode.name  NOT NULL,
	message    urlmode.value NOT NULL,
	expires_at timestamptz   NOT NULL DEFAULT now() + interval '10 minutes'
);
CREATE INDEX published_channel ON urlmode.published (channel, id);
CREATE INDEX published_expires_at ON urlmode.published (expires_at);
COMMENT ON TABLE urlmode.published IS
	'Messages of channels, kept for ten minutes, so that a subscriber that lost its connection can '
	'read the messages that it missed.';
COMMENT ON INDEX urlmode.published_channel IS 'Finds the messages that a subscriber has not read.';
COMMENT ON INDEX urlmode.published_expires_at IS 'Finds messages that expired, to delete them.';
COMMENT ON COLUMN urlmode.published.id IS 'Number of the message, ascending over all channels.';
COMMENT ON COLUMN urlmode.published.channel IS 'Channel that the framework chose.';
COMMENT ON COLUMN urlmode.published.message IS 'Text that the framework published.';
COMMENT ON COLUMN urlmode.published.expires_at IS
	'From then on it is not read, and may be deleted.';
