-- What was applied is kept by its digest, so that a file that was changed afterwards is noticed.

SET LOCAL ROLE :"owner";

ALTER TABLE urlmode.migration ADD COLUMN digest text COLLATE "C" CHECK (digest ~ '^[0-9a-f]{64}$');
COMMENT ON COLUMN urlmode.migration.digest IS
	'SHA-256 of its file, in hexadecimal. NULL: the next migrate takes the one of its own file.';
