-- An approval that demands four eyes: approvers may be an object, which says so beside the names.

SET LOCAL ROLE :"owner";

ALTER DOMAIN urlmode.approvers DROP CONSTRAINT approvers_check;
ALTER DOMAIN urlmode.approvers ADD CONSTRAINT approvers_check CHECK (VALUE IS NULL
	OR CASE jsonb_typeof(coalesce(VALUE -> 'approvers', VALUE)) WHEN 'array'
		THEN jsonb_array_length(coalesce(VALUE -> 'approvers', VALUE)) <= 16
			AND NOT jsonb_path_exists(coalesce(VALUE -> 'approvers', VALUE), '$[*] ? (@.type() != "string" || @ == "")')
		ELSE false END
	AND CASE jsonb_typeof(VALUE) WHEN 'object'
		THEN VALUE = jsonb_build_object('approvers', VALUE -> 'approvers', 'four_eyes', true) ELSE true END) NOT VALID;
COMMENT ON DOMAIN urlmode.approvers IS
	'Who may decide: names of at most 16 users as a JSON array; an empty one: anybody but the '
	'subject. Or an object with this array as approvers, and with four_eyes, which is true.';
COMMENT ON COLUMN urlmode.form.approvers IS
	'Who may decide an approval: NULL: the subject. An empty array: anybody whom the web server '
	'knows, but the subject. Otherwise these users. An object with the array as approvers has '
	'four_eyes: then the subject is none of them, in no spelling.';
