-- After a file of tables/, in its transaction: says that it was applied. Before 055_digest.sql there is no column for the digest.

RESET ROLE;
INSERT INTO urlmode.migration SELECT (jsonb_populate_record(NULL::urlmode.migration,
	jsonb_build_object('name', :'file', 'applied_at', now(), 'digest', :'digests'::jsonb ->> :'file'))).*;
