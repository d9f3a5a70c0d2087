-- An account has a tenant. Its owner is one text, so that the key of the row and the seal of its
-- tokens carry it: the subject; of a tenant, its name, U+001F and the subject. A subject that has
-- U+001F itself follows one as well (urlmode.account_owner).

SET LOCAL ROLE :"owner";

CREATE DOMAIN urlmode.owner AS text CHECK (octet_length(VALUE) BETWEEN 1 AND 577);
COMMENT ON DOMAIN urlmode.owner IS
	'Whose an account is, 1 to 577 bytes: a subject, perhaps behind the name of a tenant and U+001F.';

ALTER TABLE urlmode.account ALTER COLUMN subject TYPE urlmode.owner COLLATE "C";
COMMENT ON COLUMN urlmode.account.subject IS
	'The user, as the authorization of the MCP server names them; of a tenant, behind its name and U+001F.';
ALTER TABLE urlmode.account ADD COLUMN tenant text COLLATE "C" GENERATED ALWAYS AS (
	CASE WHEN strpos(subject, U&'\001F') > 0 THEN split_part(subject, U&'\001F', 1) ELSE '' END
) STORED;
COMMENT ON COLUMN urlmode.account.tenant IS 'The MCP server that it belongs to, or empty.';
