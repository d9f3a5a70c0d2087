-- Deliveries of providers whose signature is right and whose content is refused, without
-- their body.

SET LOCAL ROLE :"owner";

CREATE TABLE urlmode.unreadable_delivery (
	provider      urlmode.provider NOT NULL,
	digest        bytea       NOT NULL CHECK (octet_length(digest) = 16),
	reason        text        COLLATE "C" NOT NULL CHECK (octet_length(reason) BETWEEN 1 AND 64),
	place         text        COLLATE "C" NOT NULL CHECK (octet_length(place) <= 400),
	request       text        COLLATE "C" NOT NULL CHECK (octet_length(request) <= 64),
	times         bigint      NOT NULL,
	first_seen_at timestamptz NOT NULL DEFAULT clock_timestamp(),
	last_seen_at  timestamptz NOT NULL DEFAULT clock_timestamp(),
	PRIMARY KEY (provider, digest)
);
CREATE INDEX unreadable_delivery_last_seen_at ON urlmode.unreadable_delivery (provider, last_seen_at);
COMMENT ON TABLE urlmode.unreadable_delivery IS
	'Deliveries whose signature is right and whose content was refused, for the operator. Written '
	'by record_unreadable.';
COMMENT ON INDEX urlmode.unreadable_delivery_last_seen_at IS
	'Finds the oldest ones of a provider that has too many.';
COMMENT ON COLUMN urlmode.unreadable_delivery.provider IS
	'Name of the provider in the configuration of the callback programs.';
COMMENT ON COLUMN urlmode.unreadable_delivery.digest IS
	'Keyed digest of the delivery, so that one that comes again is the same row: without a key of '
	'the keys file it says nothing of the content.';
COMMENT ON COLUMN urlmode.unreadable_delivery.reason IS 'The reason code of the refusal.';
COMMENT ON COLUMN urlmode.unreadable_delivery.place IS
	'Where in the description and in the delivery, and why, as the log says it; never a value. Of '
	'the last time that it came.';
COMMENT ON COLUMN urlmode.unreadable_delivery.request IS
	'Request id of the last time that it came: the log has a line with it.';
COMMENT ON COLUMN urlmode.unreadable_delivery.times IS 'How often it came.';
COMMENT ON COLUMN urlmode.unreadable_delivery.first_seen_at IS 'When it came first.';
COMMENT ON COLUMN urlmode.unreadable_delivery.last_seen_at IS
	'When it came last. Thirty days later it may be deleted.';
