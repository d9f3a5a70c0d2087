-- The vault: how the tokens of accounts are stored, refreshed and deleted.
--
-- A token is refreshed by one instance at a time:
--
--   begin_refresh    takes a lease in the row, which lasts longer than a request may take.
--   mark_sent        says, before the request, that it may reach the provider, and whether
--                    a second request could harm. The lease begins anew.
--   commit_refresh   stores what came. It compares the version of the tokens, not the
--                    lease: what the provider has given is never thrown away because
--                    it came late.
--   fail_refresh     ends the lease without new tokens.
--
-- An answer is lost if the lease ended by itself after mark_sent, or if fail_refresh says
-- so: the provider may have replaced the refresh token. The old one is tried once more. If
-- the answer to that is lost as well, it is not sent again: the account has to be connected
-- again when its access token has expired. All that gateways say of one token counts as one
-- answer that was lost, so that their outage costs no account. No answer is lost of a
-- provider at which a refresh token stays good after its use.
--
-- begin_disconnect takes the same lease, so that no refresh gets new tokens while the old
-- ones are revoked. delete_account deletes the tokens that were revoked, and no others. Its
-- answer may be lost: a second attempt does not delete an account that was connected since.
-- A refresh whose lease was lost finds its row gone, and revokes what came.

CREATE OR REPLACE FUNCTION urlmode.store_account(
	subject text, provider text, account text, scopes text[], requested text[], tokens bytea, expires_in_ms bigint DEFAULT NULL,
	elicitation uuid DEFAULT NULL, kept bigint DEFAULT NULL
)
RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
	stored bigint;
BEGIN
	IF elicitation IS NOT NULL THEN
		-- forget_subject locks it first, and deletes the accounts last.
		PERFORM FROM urlmode.elicitation e
		WHERE e.id = store_account.elicitation AND e.subject = store_account.subject FOR KEY SHARE;
		IF NOT FOUND THEN
			RETURN NULL;
		END IF;
	END IF;
	IF kept IS NOT NULL THEN
		PERFORM FROM urlmode.account a
		WHERE a.subject = store_account.subject AND a.provider = store_account.provider AND a.account = store_account.account
			AND a.version = kept AND a.state = 'connected' AND (a.leased_until > now()) IS NOT TRUE
		FOR UPDATE;
		IF NOT FOUND THEN
			RAISE serialization_failure USING MESSAGE = 'the refresh token that is kept was replaced, or is being used';
		END IF;
	END IF;
	INSERT INTO urlmode.account AS a (subject, provider, account, scopes, requested, tokens, expires_at)
	VALUES (subject, provider, account, scopes, requested, tokens, now() + expires_in_ms * interval '1 millisecond')
	ON CONFLICT ON CONSTRAINT account_pkey DO UPDATE
	SET state = 'connected', reason = '', scopes = EXCLUDED.scopes, requested = EXCLUDED.requested, tokens = EXCLUDED.tokens,
		expires_at = EXCLUDED.expires_at, connected_at = now(), refreshed_at = now(), version = a.version + 1,
		lost = CASE WHEN kept IS NULL THEN 0 ELSE a.lost + (a.leased_until IS NOT NULL AND a.sent)::integer END,
		leased_until = NULL, lease = a.lease + 1, sent = false, failures = 0, pause_until = NULL
	RETURNING a.version INTO stored;
	RETURN stored;
END
$$;
COMMENT ON FUNCTION urlmode.store_account IS
	'Stores the tokens of an account that the user has connected, over those that there are, and '
	'returns their version. expires_in_ms: of the access token; NULL: not known. elicitation: with '
	'which it was connected. NULL instead of a version: this user has no such elicitation, because '
	'the user was forgotten meanwhile, and nothing was stored. kept: the tokens have the refresh '
	'token of this version, because the provider has given no new one. SQLSTATE 40001: the account '
	'has another version by now, or a refresh is under way; read it again.';

CREATE OR REPLACE FUNCTION urlmode.store_exchanged(
	id uuid, binding bytea, account text, scopes text[], requested text[], tokens bytea, expires_in_ms bigint DEFAULT NULL,
	kept bigint DEFAULT NULL
)
RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
	this record;
BEGIN
	SELECT e.subject, e.provider, e.exchange INTO this FROM urlmode.elicitation e
	WHERE e.id = store_exchanged.id AND e.binding = store_exchanged.binding FOR UPDATE;
	IF this.exchange IS DISTINCT FROM 'exchanging' THEN
		RETURN coalesce(this.exchange = '', false);
	END IF;
	PERFORM urlmode.store_account(this.subject, this.provider, account, scopes, requested, tokens, expires_in_ms, NULL, kept);
	UPDATE urlmode.elicitation e SET exchange = '' WHERE e.id = store_exchanged.id;
	RETURN true;
END
$$;
COMMENT ON FUNCTION urlmode.store_exchanged IS
	'Stores the tokens for which the call that has claimed this elicitation has exchanged its '
	'code, and ends the exchange: the account is connected. Can be repeated if its answer was '
	'lost: it stores once, so that an account that was disconnected meanwhile does not come back. '
	'False: the elicitation is not there any more, because the user was forgotten, or another end '
	'of the exchange was told, and nothing was stored. kept: as in store_account.';

CREATE OR REPLACE FUNCTION urlmode.read_accounts(subject text, provider text DEFAULT NULL, account text DEFAULT NULL)
RETURNS TABLE (
	provider_name text, account_id text, state text, reason text, scopes text[], requested text[], connected_at timestamptz, refreshed_at timestamptz,
	expires_at timestamptz, expires_in_ms bigint, lifetime_ms bigint, version bigint, tokens bytea
)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
	SELECT a.provider::text, a.account::text, a.state::text, a.reason::text, a.scopes::text[], a.requested::text[], a.connected_at, a.refreshed_at, a.expires_at,
		floor(extract(epoch FROM a.expires_at - now()) * 1000)::bigint,
		floor(extract(epoch FROM a.expires_at - a.refreshed_at) * 1000)::bigint, a.version, a.tokens::bytea
	FROM urlmode.account a
	WHERE a.subject = read_accounts.subject
		AND (read_accounts.provider IS NULL OR a.provider = read_accounts.provider)
		AND (read_accounts.account IS NULL OR a.account = read_accounts.account)
	ORDER BY a.connected_at DESC, a.provider, a.account
$$;
COMMENT ON FUNCTION urlmode.read_accounts IS
	'The accounts of a user, of all providers or of one, the one that was connected last first. '
	'lifetime_ms: how long the access token lived when it was new.';

CREATE OR REPLACE FUNCTION urlmode.list_accounts(subject text DEFAULT NULL, provider text DEFAULT NULL, state text DEFAULT NULL)
RETURNS TABLE (
	subject_name text, provider_name text, account_id text, state_name text, reason text, scopes text[],
	connected_at timestamptz, refreshed_at timestamptz, expires_at timestamptz
)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
	SELECT a.subject::text, a.provider::text, a.account::text, a.state::text, a.reason::text, a.scopes::text[],
		a.connected_at, a.refreshed_at, a.expires_at
	FROM urlmode.account a
	WHERE (list_accounts.subject IS NULL OR a.subject = list_accounts.subject)
		AND (list_accounts.provider IS NULL OR a.provider = list_accounts.provider)
		AND (list_accounts.state IS NULL OR a.state = list_accounts.state)
	ORDER BY a.connected_at DESC, a.subject, a.provider, a.account
$$;
COMMENT ON FUNCTION urlmode.list_accounts IS
	'The accounts of all users, for the operator of the MCP server, without their tokens. NULL: '
	'any.';

CREATE OR REPLACE FUNCTION urlmode.begin_refresh(subject text, provider text, account text, version bigint, lease_ms bigint)
RETURNS TABLE (outcome text, lease bigint, wait_ms bigint)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
	row urlmode.account;
	losses integer;
BEGIN
	SELECT * INTO row FROM urlmode.account a
	WHERE a.subject = begin_refresh.subject AND a.provider = begin_refresh.provider AND a.account = begin_refresh.account
	FOR UPDATE;
	IF NOT FOUND OR row.version <> begin_refresh.version OR row.state <> 'connected' THEN
		outcome := 'changed';
	ELSIF row.leased_until > now() THEN
		outcome := 'leased';
		wait_ms := ceil(extract(epoch FROM row.leased_until - now()) * 1000);
	ELSIF row.pause_until > now() THEN
		outcome := 'paused';
		wait_ms := ceil(extract(epoch FROM row.pause_until - now()) * 1000);
	ELSE
		losses := row.lost + (row.leased_until IS NOT NULL AND row.sent)::integer;
		IF losses > 1 AND row.expires_at > now() THEN
			outcome := 'paused';
			wait_ms := ceil(extract(epoch FROM row.expires_at - now()) * 1000);
		ELSIF losses > 1 THEN
			UPDATE urlmode.account a SET state = 'reconnect', reason = 'refresh_lost', leased_until = NULL, sent = false
			WHERE a.subject = row.subject AND a.provider = row.provider AND a.account = row.account;
			outcome := 'lost';
		ELSE
			UPDATE urlmode.account a
			SET leased_until = now() + lease_ms * interval '1 millisecond', lease = a.lease + 1, sent = false, lost = losses
			WHERE a.subject = row.subject AND a.provider = row.provider AND a.account = row.account;
			outcome := 'begun';
			lease := row.lease + 1;
		END IF;
	END IF;
	RETURN NEXT;
END
$$;
COMMENT ON FUNCTION urlmode.begin_refresh IS
	'Begins to refresh the tokens of this version. outcome: begun, and the lease is the caller''s '
	'for lease_ms milliseconds; leased, another instance is refreshing, for wait_ms at most; '
	'paused, the last refresh has failed, and nobody tries again for wait_ms; lost, the answers to '
	'two refreshes were lost, and the state is reconnect from now on; changed, there are other '
	'tokens now, or none, or the state is reconnect.';

CREATE OR REPLACE FUNCTION urlmode.mark_sent(subject text, provider text, account text, lease bigint, lease_ms bigint, stays_good boolean DEFAULT false)
RETURNS boolean
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
	WITH marked AS (
		UPDATE urlmode.account a SET sent = NOT stays_good, leased_until = now() + lease_ms * interval '1 millisecond'
		WHERE a.subject = mark_sent.subject AND a.provider = mark_sent.provider AND a.account = mark_sent.account
			AND a.lease = mark_sent.lease AND a.leased_until > now()
		RETURNING a.lease
	)
	SELECT EXISTS (SELECT FROM marked)
$$;
COMMENT ON FUNCTION urlmode.mark_sent IS
	'Says that the refresh token is about to be sent, and prolongs the lease: it ends lease_ms '
	'milliseconds from now. stays_good: it can be sent again, whatever becomes of the answer. '
	'False: the lease is lost, and the token must not be sent.';

CREATE OR REPLACE FUNCTION urlmode.commit_refresh(
	subject text, provider text, account text, version bigint, scopes text[], tokens bytea, expires_in_ms bigint DEFAULT NULL
)
RETURNS text
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
	UPDATE urlmode.account a
	SET state = 'connected', reason = '', scopes = commit_refresh.scopes, tokens = commit_refresh.tokens,
		expires_at = now() + expires_in_ms * interval '1 millisecond', refreshed_at = now(), version = a.version + 1,
		leased_until = NULL, lease = a.lease + 1, sent = false, lost = 0, failures = 0, pause_until = NULL
	WHERE a.subject = commit_refresh.subject AND a.provider = commit_refresh.provider AND a.account = commit_refresh.account
		AND a.version = commit_refresh.version;
	IF FOUND THEN
		RETURN 'stored';
	END IF;
	-- A statement of its own, so that it sees a deletion for which the first one has waited.
	PERFORM FROM urlmode.account a
	WHERE a.subject = commit_refresh.subject AND a.provider = commit_refresh.provider AND a.account = commit_refresh.account;
	RETURN CASE WHEN FOUND THEN 'changed' ELSE 'gone' END;
END
$$;
COMMENT ON FUNCTION urlmode.commit_refresh IS
	'Stores the tokens that have replaced those of this version, even if another call holds the '
	'lease. stored; changed: there are newer ones; gone: the account was disconnected.';

CREATE OR REPLACE FUNCTION urlmode.fail_refresh(
	subject text, provider text, account text, version bigint, lease bigint, reason text DEFAULT NULL, answer_lost boolean DEFAULT false,
	by_gateway boolean DEFAULT false
)
RETURNS void
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
	UPDATE urlmode.account a
	SET state = CASE WHEN fail_refresh.reason IS NULL THEN a.state ELSE 'reconnect' END,
		reason = coalesce(fail_refresh.reason, a.reason),
		leased_until = NULL, lease = a.lease + 1, sent = false, failures = a.failures + 1,
		lost = CASE WHEN NOT (answer_lost AND a.sent) THEN a.lost WHEN by_gateway THEN greatest(a.lost, 1) ELSE a.lost + 1 END,
		pause_until = now() + CASE WHEN answer_lost AND a.sent THEN 60 ELSE least(60, power(2, least(a.failures, 6))) END * interval '1 second'
	WHERE a.subject = fail_refresh.subject AND a.provider = fail_refresh.provider AND a.account = fail_refresh.account
		AND a.version = fail_refresh.version AND a.lease = fail_refresh.lease
$$;
COMMENT ON FUNCTION urlmode.fail_refresh IS
	'Ends the refresh of this lease without new tokens. reason: the provider has refused the '
	'refresh token for good, and the user has to connect the account again. answer_lost: the '
	'request was sent, and its answer did not come or cannot be read; nobody tries again for a '
	'minute, unless mark_sent said that the token stays good. by_gateway: a gateway has said so; '
	'however often it does, that counts as one answer that was lost. Otherwise nobody tries again '
	'for a second, after another failure for two, and so on up to a minute.';

CREATE OR REPLACE FUNCTION urlmode.begin_disconnect(subject text, provider text, account text, lease_ms bigint, first bigint DEFAULT NULL)
RETURNS TABLE (outcome text, wait_ms bigint, version bigint, tokens bytea, first_version bigint)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
	row urlmode.account;
BEGIN
	SELECT * INTO row FROM urlmode.account a
	WHERE a.subject = begin_disconnect.subject AND a.provider = begin_disconnect.provider AND a.account = begin_disconnect.account
	FOR UPDATE;
	first_version := row.first_version;
	IF NOT FOUND OR row.first_version <> first THEN
		outcome := 'gone';
	ELSIF row.leased_until > now() THEN
		outcome := 'leased';
		wait_ms := ceil(extract(epoch FROM row.leased_until - now()) * 1000);
	ELSE
		-- "sent" stays as it is: the answer of the lease before may be lost.
		UPDATE urlmode.account a SET leased_until = now() + lease_ms * interval '1 millisecond', lease = a.lease + 1
		WHERE a.subject = row.subject AND a.provider = row.provider AND a.account = row.account;
		outcome := 'begun';
		version := row.version;
		tokens := row.tokens;
	END IF;
	RETURN NEXT;
END
$$;
COMMENT ON FUNCTION urlmode.begin_disconnect IS
	'Begins to disconnect an account. first: the first_version that an earlier call for the same '
	'disconnect has returned. outcome: begun, and nobody refreshes its tokens for lease_ms '
	'milliseconds; leased, a refresh is under way, for wait_ms at most; gone, there is no such '
	'account, or another that was connected after it was deleted.';

CREATE OR REPLACE FUNCTION urlmode.delete_account(subject text, provider text, account text, version bigint) RETURNS boolean
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
	WITH deleted AS (
		DELETE FROM urlmode.account a
		WHERE a.subject = delete_account.subject AND a.provider = delete_account.provider AND a.account = delete_account.account
			AND a.version = delete_account.version
		RETURNING a.account
	)
	SELECT EXISTS (SELECT FROM deleted)
$$;
COMMENT ON FUNCTION urlmode.delete_account IS
	'Deletes an account with its tokens, if they are of this version. False: there are newer ones, '
	'or none.';

CREATE OR REPLACE FUNCTION urlmode.vault_keys() RETURNS TABLE (kid integer, accounts bigint)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
	SELECT get_byte(a.tokens, 1), count(*) FROM urlmode.account a GROUP BY 1 ORDER BY 1
$$;
COMMENT ON FUNCTION urlmode.vault_keys IS
	'The keys that open the tokens, and how many accounts each. A key that is not listed is not '
	'needed any more.';

CREATE OR REPLACE FUNCTION urlmode.list_sealed(
	minting integer, after_subject text DEFAULT '', after_provider text DEFAULT '', after_account text DEFAULT '', batch integer DEFAULT 100
)
RETURNS TABLE (subject text, provider text, account text, tokens bytea)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
	SELECT a.subject::text, a.provider::text, a.account::text, a.tokens::bytea FROM urlmode.account a
	WHERE get_byte(a.tokens, 1) <> minting
		AND (a.subject, a.provider, a.account) > (after_subject COLLATE "C", after_provider COLLATE "C", after_account COLLATE "C")
	ORDER BY a.subject, a.provider, a.account LIMIT batch
$$;
COMMENT ON FUNCTION urlmode.list_sealed IS
	'Some accounts whose tokens are sealed with another key than this one, in order, after a given '
	'account.';

CREATE OR REPLACE FUNCTION urlmode.reseal_account(subject text, provider text, account text, old bytea, tokens bytea)
RETURNS boolean
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
	WITH changed AS (
		UPDATE urlmode.account a SET tokens = reseal_account.tokens
		WHERE a.subject = reseal_account.subject AND a.provider = reseal_account.provider AND a.account = reseal_account.account
			AND a.tokens = reseal_account.old
		RETURNING a.account
	)
	SELECT EXISTS (SELECT FROM changed)
$$;
COMMENT ON FUNCTION urlmode.reseal_account IS
	'Replaces sealed tokens by the same ones, sealed with another key. False: they were replaced '
	'meanwhile.';

CREATE OR REPLACE FUNCTION urlmode.forget_subject(subject text)
RETURNS TABLE (
	unclaimed uuid, provider text, reference text, amount bigint, currency text
)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET enable_seqscan = on AS $$
DECLARE
	theirs uuid[];
BEGIN
	-- A transaction that proves or claims a payment, or stores an account that was connected, locks its row first.
	-- A row that is created from here on is not deleted: its payments were not looked at.
	SELECT array_agg(l.id) INTO theirs FROM (
		SELECT e.id FROM urlmode.elicitation e WHERE e.subject = forget_subject.subject ORDER BY e.id FOR UPDATE
	) l;
	RETURN QUERY
	SELECT p.elicitation, p.provider::text, p.reference::text, p.amount, p.currency::text
	FROM urlmode.payment p
	WHERE p.elicitation = ANY (theirs) AND p.claimed_at IS NULL AND p.refunded_at IS NULL
	ORDER BY p.proven_at, p.reference;
	IF FOUND THEN
		RETURN;
	END IF;
	UPDATE urlmode.payment p SET result = NULL WHERE p.elicitation = ANY (theirs) AND p.result IS NOT NULL;
	-- Also of elicitations that were purged, and with it of the ledger.
	UPDATE urlmode.payment p SET subject = NULL WHERE p.subject = forget_subject.subject;
	DELETE FROM urlmode.elicitation e WHERE e.id = ANY (theirs);
	DELETE FROM urlmode.account a WHERE a.subject = forget_subject.subject;
	DELETE FROM urlmode.entitlement e WHERE e.subject = forget_subject.subject;
END
$$;
COMMENT ON FUNCTION urlmode.forget_subject IS
	'Deletes all data of a user: accounts, elicitations with their events, results and '
	'entitlements. References and amounts of payments stay, as the books need them. If a payment is unclaimed, it deletes '
	'nothing and returns the unclaimed payments: claim or refund them first. An account whose code '
	'is exchanged just now is not stored afterwards.';

GRANT EXECUTE ON FUNCTION
	urlmode.store_account, urlmode.store_exchanged, urlmode.read_accounts, urlmode.list_accounts,
	urlmode.begin_refresh, urlmode.mark_sent, urlmode.commit_refresh, urlmode.fail_refresh,
	urlmode.begin_disconnect, urlmode.delete_account, urlmode.vault_keys, urlmode.list_sealed,
	urlmode.reseal_account, urlmode.forget_subject
TO :"server";
