-- What the program api asks beside the functions that the packages call.

CREATE OR REPLACE FUNCTION urlmode.find_created(ids uuid[], bindings bytea[])
RETURNS TABLE (content bytea, kind text, provider text, expires_at timestamptz, link_kid smallint)
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
SET plan_cache_mode = force_generic_plan AS $$
BEGIN
	RETURN QUERY
	SELECT e.content::bytea, e.kind::text, e.provider::text, e.expires_at, e.link_kid::smallint
	FROM unnest(ids, bindings) WITH ORDINALITY AS a (id, binding, n)
	LEFT JOIN urlmode.elicitation e ON e.id = a.id AND e.binding = a.binding
	ORDER BY a.n;
END
$$;
COMMENT ON FUNCTION urlmode.find_created IS
	'For each id the elicitation that this owner has created with it, or NULL, so that the same '
	'call can be repeated: with the digest of what it was created with.';

GRANT EXECUTE ON FUNCTION urlmode.held, urlmode.find_created TO :"server";
