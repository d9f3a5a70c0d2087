-- Keys of providers are not given one at a time any more.

SET LOCAL ROLE :"owner";

DROP FUNCTION IF EXISTS
	urlmode.max_wanted_keys, urlmode.look_up_signing_keys, urlmode.take_signing_key, urlmode.keep_signing_key,
	urlmode.list_wanted_keys;
DROP TABLE IF EXISTS urlmode.signing_key;
