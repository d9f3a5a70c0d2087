-- Places that are made once, for what MCP servers say of an elicitation: whose it is
-- where several servers share a deployment, what it is for, and what it was created with.

SET LOCAL ROLE :"owner";

CREATE DOMAIN urlmode.tenant AS text COLLATE "C" CHECK (octet_length(VALUE) <= 128);
CREATE DOMAIN urlmode.item AS text COLLATE "C" CHECK (octet_length(VALUE) BETWEEN 1 AND 512);
COMMENT ON DOMAIN urlmode.tenant IS
	'Name of one of several MCP servers in a deployment, at most 128 bytes; empty where there is one.';
COMMENT ON DOMAIN urlmode.item IS 'What a payment or signature is for, 1 to 512 bytes.';

ALTER TABLE urlmode.elicitation
	ADD COLUMN tenant  urlmode.tenant NOT NULL DEFAULT '',
	ADD COLUMN item    urlmode.item,
	ADD COLUMN content urlmode.digest;
COMMENT ON COLUMN urlmode.elicitation.tenant IS 'The MCP server that it belongs to, or empty.';
COMMENT ON COLUMN urlmode.elicitation.item IS
	'What a payment or signature is for, in the words of the MCP server; NULL: it does not say.';
COMMENT ON COLUMN urlmode.elicitation.content IS
	'Digest of all that it was created with, so that the same create can be repeated; NULL: it '
	'cannot.';

-- How an amount must match is a member of expected. Until others are compared, it is exact.
ALTER DOMAIN urlmode.expected ADD CONSTRAINT expected_match
	CHECK (VALUE IS NULL OR coalesce(VALUE ->> 'match', 'exact') = 'exact');

DROP FUNCTION IF EXISTS urlmode.create_elicitation(uuid[], text[], text[], text[], text[], bytea[], text[], text[], jsonb[],
	bytea[], bigint[], boolean[], text[], boolean[], bytea[], text[], text[], smallint[], bytea[], jsonb[], integer[], text[]);
