-- The vault: how the tokens of accounts are stored, refreshed and deleted.
--
-- The lease of a refresh is in the account's row. Who does what, and when:
--
--   hold              a listening session, each time it is opened: it has the advisory lock of its instance from then
--                     on, until it ends. Others see by it that the instance is there. Never on a pool, never behind
--                     a pooler.
--   begin_lease_of    anybody who finds no lease, or one that is over: the lease is theirs, for a short time, with
--                     a new number. `holder` names the lock of their instance.
--   mark_sending      the holder, before the request: the refresh token may reach the provider from now on. The lease
--                     begins anew, for as long as the answer may still be stored. It fails if the lease is over.
--   store_refreshed   the holder, whether the lease is still theirs or not: what the provider has given is not thrown
--                     away because it came late.
--   end_refresh       the holder, if there are no tokens: why, and whether the provider may have replaced the token.
--   begin_disconnect  anybody who finds no lease, or one that is over: no refresh gets tokens while others are revoked.
--
-- When a lease is over, so that another may begin (is_lease_over):
--
--   the holder has not sent, and its session is there     when its time is over
--   the holder has not sent, and its session has ended    at once, and mark_sending fails
--   it has sent, and its session is there                 when its time is over. It may be frozen, and its answer on the way
--   it has sent, and its session has ended:
--     the provider takes the token again (reuse_ms)       at once, while that window is open. It begins with mark_sending
--     the window is over, or reuse_ms is 0: never         when its time is over
--     nothing is known of the provider                    ten seconds after somebody has seen it, unless the holder is
--                                                         back: `hold` forgets that it was away
--     nothing is known, and PostgreSQL is another one     when its time is over. A restart, and a standby that was
--                                                         promoted, end all sessions, and prove the death of none
--   it has no session, because of a pooler                when its time is over
--
-- A token that arrives late is stored if the version is still the same and nobody else has sent the old refresh token
-- since. If somebody has, the provider may have ended the family: the late refresh token is tried once under a new lease
-- (begin_lease_of, `late`), and what comes of that is stored; if it is refused, the state is reconnect. Behind newer
-- tokens it is dropped.
--
-- After a lost answer, the provider may have replaced the refresh token. It is lost if none came that can be read, or if the
-- lease was over by itself after mark_sending ('answer'); or if a status came that says nothing of it: 408, 5xx, or any
-- other without an error that can be read ('status'). Which attempts are allowed (may_send), and when (pause_of):
--
--   the window of the provider is open     as many as needed. The first at once, the others as after failures
--   nothing is known, or it is over        one, at once. If that one is lost as well, no other: when the access
--                                          token has expired, the state is reconnect
--   never: a second use ends the family    none
--
-- Lost by status, all answers for one token count as one, in every kind, and where a second use ends the family as none: they
-- come in outages, which cost no account. After the first, the next attempt waits a minute, and where a second use ends the
-- family the first does too, because a gateway may have passed the request on. `Retry-After` makes each pause longer. No
-- answer is lost of a provider at which a refresh token stays good after its use.
--
-- begin_refresh, mark_sent, commit_refresh and fail_refresh are the same for older packages, which have no lock.
--
-- delete_account deletes the tokens that were revoked, and no others. Its answer may be lost: a second attempt does not
-- delete an account that was connected since. A refresh whose lease was lost finds its row gone, and revokes what came.

CREATE OR REPLACE FUNCTION urlmode.account_owner(tenant text, subject text) RETURNS text
LANGUAGE sql IMMUTABLE AS $$
	SELECT CASE WHEN tenant <> '' OR strpos(subject, U&'\001F') > 0 THEN tenant || U&'\001F' || subject ELSE subject END
$$;
COMMENT ON FUNCTION urlmode.account_owner IS
	'Internal. Whose an account is: what the functions for accounts, and the seal of its tokens, take '
	'as its subject.';

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
		WHERE e.id = store_account.elicitation AND urlmode.account_owner(e.tenant, e.subject) = store_account.subject FOR KEY SHARE;
		IF NOT FOUND THEN
			RETURN NULL;
		END IF;
	END IF;
	IF kept IS NOT NULL THEN
		PERFORM FROM urlmode.account a
		WHERE a.subject = store_account.subject AND a.provider = store_account.provider AND a.account = store_account.account
			AND a.version = kept AND a.state = 'connected' AND urlmode.is_lease_over(a)
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
		leased_until = NULL, lease = a.lease + 1, sent = false, failures = 0, pause_until = NULL, holder = NULL, gone_at = NULL,
		first_sent_at = CASE WHEN kept IS NULL THEN NULL ELSE a.first_sent_at END
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
	SELECT urlmode.account_owner(e.tenant, e.subject) AS owner, e.provider, e.exchange INTO this FROM urlmode.elicitation e
	WHERE e.id = store_exchanged.id AND e.binding = store_exchanged.binding FOR UPDATE;
	IF this.exchange IS DISTINCT FROM 'exchanging' THEN
		RETURN coalesce(this.exchange = '', false);
	END IF;
	PERFORM urlmode.store_account(this.owner, this.provider, account, scopes, requested, tokens, expires_in_ms, NULL, kept);
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

CREATE OR REPLACE FUNCTION urlmode.find_accounts(subject text, provider text DEFAULT NULL, account text DEFAULT NULL)
RETURNS TABLE (
	provider_name text, account_id text, state text, reason text, scopes text[], requested text[], connected_at timestamptz, refreshed_at timestamptz,
	expires_at timestamptz, expires_in_ms bigint, lifetime_ms bigint, version bigint, tokens bytea, since_refresh_ms bigint
)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
	SELECT a.provider::text, a.account::text, a.state::text, a.reason::text, a.scopes::text[], a.requested::text[], a.connected_at, a.refreshed_at, a.expires_at,
		floor(extract(epoch FROM a.expires_at - now()) * 1000)::bigint,
		floor(extract(epoch FROM a.expires_at - a.refreshed_at) * 1000)::bigint, a.version, a.tokens::bytea,
		CASE WHEN a.refreshed_at > a.connected_at THEN floor(extract(epoch FROM now() - a.refreshed_at) * 1000)::bigint END
	FROM urlmode.account a
	WHERE a.subject = find_accounts.subject
		AND (find_accounts.provider IS NULL OR a.provider = find_accounts.provider)
		AND (find_accounts.account IS NULL OR a.account = find_accounts.account)
	ORDER BY a.connected_at DESC, a.provider, a.account
$$;
COMMENT ON FUNCTION urlmode.find_accounts IS
	'The accounts of a user, of all providers or of one, the one that was connected last first. '
	'lifetime_ms: how long the access token lived when it was new. since_refresh_ms: how long ago a '
	'refresh has stored the tokens; NULL: none has since the user has connected the account.';

CREATE OR REPLACE FUNCTION urlmode.read_accounts(subject text, provider text DEFAULT NULL, account text DEFAULT NULL)
RETURNS TABLE (
	provider_name text, account_id text, state text, reason text, scopes text[], requested text[], connected_at timestamptz, refreshed_at timestamptz,
	expires_at timestamptz, expires_in_ms bigint, lifetime_ms bigint, version bigint, tokens bytea
)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
	SELECT a.provider_name, a.account_id, a.state, a.reason, a.scopes, a.requested, a.connected_at, a.refreshed_at, a.expires_at,
		a.expires_in_ms, a.lifetime_ms, a.version, a.tokens
	FROM urlmode.find_accounts(subject, provider, account) WITH ORDINALITY AS a ORDER BY a.ordinality
$$;
COMMENT ON FUNCTION urlmode.read_accounts IS
	'find_accounts without since_refresh_ms, as older packages call it.';

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

CREATE OR REPLACE FUNCTION urlmode.hold(holder bigint) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
	-- First: whoever looks from here on sees it.
	IF NOT pg_try_advisory_lock_shared(hold.holder) THEN
		RETURN false;
	END IF;
	UPDATE urlmode.account a SET gone_at = NULL WHERE a.holder = hold.holder AND a.gone_at IS NOT NULL;
	RETURN true;
END
$$;
COMMENT ON FUNCTION urlmode.hold IS
	'Takes the advisory lock of an instance, whose key is a random positive number, for as long as this session lasts, and '
	'forgets that its holder was away. For the session that listens.';

CREATE OR REPLACE FUNCTION urlmode.is_held(holder bigint) RETURNS boolean
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
	SELECT EXISTS (
		SELECT FROM pg_locks l
		WHERE l.locktype = 'advisory' AND l.granted AND l.objsubid = 1
			AND l.database = (SELECT d.oid FROM pg_database d WHERE d.datname = current_database())
			AND l.classid = (is_held.holder >> 32)::oid AND l.objid = (is_held.holder & 4294967295)::oid
	)
$$;
COMMENT ON FUNCTION urlmode.is_held IS
	'Internal. Whether a session has the advisory lock of this key.';

CREATE OR REPLACE FUNCTION urlmode.is_window_open(a urlmode.account) RETURNS boolean
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
	SELECT coalesce(now() < a.first_sent_at + a.reuse_ms * interval '1 millisecond', false)
$$;
COMMENT ON FUNCTION urlmode.is_window_open IS
	'Internal. Whether the provider still takes a refresh token again that was sent.';

CREATE OR REPLACE FUNCTION urlmode.is_lease_over(a urlmode.account) RETURNS boolean
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
	SELECT CASE
		WHEN a.leased_until IS NULL OR a.leased_until <= now() THEN true
		WHEN a.holder IS NULL OR urlmode.is_held(a.holder) THEN false
		WHEN NOT a.sent OR urlmode.is_window_open(a) THEN true
		WHEN a.reuse_ms IS NOT NULL OR a.server_started_at <> pg_postmaster_start_time() THEN false
		ELSE coalesce(now() >= a.gone_at + interval '10 seconds', false)
	END
$$;
COMMENT ON FUNCTION urlmode.is_lease_over IS
	'Internal. Whether nobody holds the lease of this account, by the table above.';

CREATE OR REPLACE FUNCTION urlmode.note_holder(a urlmode.account) RETURNS void
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
	UPDATE urlmode.account x SET gone_at = CASE WHEN a.gone_at IS NULL THEN now() END
	WHERE x.subject = a.subject AND x.provider = a.provider AND x.account = a.account
		AND a.sent AND a.holder IS NOT NULL AND (a.gone_at IS NULL) <> urlmode.is_held(a.holder)
$$;
COMMENT ON FUNCTION urlmode.note_holder IS
	'Internal. Keeps since when the holder of a lease that is not over is away. The row is locked.';

CREATE OR REPLACE FUNCTION urlmode.may_send(a urlmode.account, losses integer) RETURNS boolean
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
	SELECT urlmode.is_window_open(a) OR losses <= CASE a.reuse_ms WHEN 0 THEN 0 ELSE 1 END
$$;
COMMENT ON FUNCTION urlmode.may_send IS
	'Internal. Whether the refresh token may be sent, after so many answers to it were lost.';

CREATE OR REPLACE FUNCTION urlmode.pause_of(a urlmode.account, lost text) RETURNS interval
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
	SELECT interval '1 second' * CASE
		WHEN lost = 'status' AND a.reuse_ms = 0 THEN 60
		WHEN lost IS NOT NULL AND a.lost = 0 THEN 0
		WHEN lost = 'status' AND NOT urlmode.is_window_open(a) THEN 60
		WHEN lost = 'answer' AND NOT urlmode.is_window_open(a) THEN 0
		ELSE least(60, power(2, least(a.failures, 6)))
	END
$$;
COMMENT ON FUNCTION urlmode.pause_of IS
	'Internal. How long nobody tries again, after an answer to the refresh token was lost or, with NULL, the refresh has failed.';

CREATE OR REPLACE FUNCTION urlmode.begin_lease_of(
	subject text, provider text, account text, version bigint, lease_ms bigint, holder bigint DEFAULT NULL, late boolean DEFAULT false
)
RETURNS TABLE (outcome text, lease bigint, wait_ms bigint)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
	row urlmode.account;
	losses integer;
BEGIN
	SELECT * INTO row FROM urlmode.account a
	WHERE a.subject = begin_lease_of.subject AND a.provider = begin_lease_of.provider AND a.account = begin_lease_of.account
	FOR UPDATE;
	IF NOT FOUND OR row.version <> begin_lease_of.version OR row.state <> 'connected' AND NOT late THEN
		outcome := 'changed';
	ELSIF NOT urlmode.is_lease_over(row) THEN
		outcome := 'leased';
		wait_ms := ceil(extract(epoch FROM row.leased_until - now()) * 1000);
		PERFORM urlmode.note_holder(row);
	ELSIF row.pause_until > now() AND NOT late THEN
		outcome := 'paused';
		wait_ms := ceil(extract(epoch FROM row.pause_until - now()) * 1000);
	ELSE
		losses := row.lost + (row.leased_until IS NOT NULL AND row.sent)::integer;
		IF urlmode.may_send(row, losses) OR late THEN
			UPDATE urlmode.account a
			SET leased_until = now() + lease_ms * interval '1 millisecond', lease = a.lease + 1, sent = false, lost = losses,
				holder = begin_lease_of.holder, gone_at = NULL
			WHERE a.subject = row.subject AND a.provider = row.provider AND a.account = row.account;
			outcome := 'begun';
			lease := row.lease + 1;
		ELSIF row.expires_at > now() THEN
			outcome := 'paused';
			wait_ms := ceil(extract(epoch FROM row.expires_at - now()) * 1000);
		ELSE
			UPDATE urlmode.account a SET state = 'reconnect', reason = 'refresh_lost', leased_until = NULL, sent = false
			WHERE a.subject = row.subject AND a.provider = row.provider AND a.account = row.account;
			outcome := 'lost';
		END IF;
	END IF;
	RETURN NEXT;
END
$$;
COMMENT ON FUNCTION urlmode.begin_lease_of IS
	'Begins to refresh the tokens of this version. holder: key of the advisory lock of the caller''s '
	'listening session; NULL: it has none. outcome: begun, and the lease is the caller''s '
	'for lease_ms milliseconds; leased, another instance is refreshing, for wait_ms at most; '
	'paused, the last refresh has failed, and nobody tries again for wait_ms; lost, the answers '
	'were lost after which the token may not be sent again, and the state is reconnect from now on; '
	'changed, there are other tokens now, or none, or the state is reconnect. late: to try a refresh '
	'token that came late, also if the state is reconnect.';

CREATE OR REPLACE FUNCTION urlmode.begin_refresh(subject text, provider text, account text, version bigint, lease_ms bigint)
RETURNS TABLE (outcome text, lease bigint, wait_ms bigint)
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
	SELECT b.outcome, b.lease, b.wait_ms FROM urlmode.begin_lease_of(subject, provider, account, version, lease_ms) b
$$;
COMMENT ON FUNCTION urlmode.begin_refresh IS
	'begin_lease_of without a listening session, as older packages call it.';

CREATE OR REPLACE FUNCTION urlmode.mark_sending(
	subject text, provider text, account text, lease bigint, lease_ms bigint, stays_good boolean DEFAULT false, reuse_ms bigint DEFAULT NULL
)
RETURNS boolean
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
	WITH marked AS (
		UPDATE urlmode.account a
		SET sent = NOT stays_good, leased_until = now() + lease_ms * interval '1 millisecond', server_started_at = pg_postmaster_start_time(), sent_lease = a.lease,
			first_sent_at = coalesce(a.first_sent_at, now()), reuse_ms = mark_sending.reuse_ms
		WHERE a.subject = mark_sending.subject AND a.provider = mark_sending.provider AND a.account = mark_sending.account
			AND a.lease = mark_sending.lease AND a.leased_until > now() AND (a.sent OR a.holder IS NULL OR urlmode.is_held(a.holder))
		RETURNING a.lease
	)
	SELECT EXISTS (SELECT FROM marked)
$$;
COMMENT ON FUNCTION urlmode.mark_sending IS
	'Says that the refresh token is about to be sent, and prolongs the lease: it ends lease_ms '
	'milliseconds from now. stays_good: it can be sent again, whatever becomes of the answer. '
	'reuse_ms: for how long the provider takes it again; 0: never; NULL: not known. '
	'False: the lease is lost, or the listening session of its holder has ended, and the token must '
	'not be sent.';

CREATE OR REPLACE FUNCTION urlmode.mark_sent(subject text, provider text, account text, lease bigint, lease_ms bigint, stays_good boolean DEFAULT false)
RETURNS boolean
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
	SELECT urlmode.mark_sending(subject, provider, account, lease, lease_ms, stays_good)
$$;
COMMENT ON FUNCTION urlmode.mark_sent IS 'mark_sending, as older packages call it.';

CREATE OR REPLACE FUNCTION urlmode.store_refreshed(
	subject text, provider text, account text, version bigint, lease bigint, replaced boolean, scopes text[], tokens bytea,
	expires_in_ms bigint DEFAULT NULL
)
RETURNS text
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
	is_same boolean;
BEGIN
	UPDATE urlmode.account a
	SET state = 'connected', reason = '', scopes = store_refreshed.scopes, tokens = store_refreshed.tokens,
		expires_at = now() + expires_in_ms * interval '1 millisecond', refreshed_at = now(), version = a.version + 1,
		leased_until = NULL, lease = a.lease + 1, sent = false, lost = 0, failures = 0, pause_until = NULL,
		holder = NULL, first_sent_at = NULL, gone_at = NULL
	WHERE a.subject = store_refreshed.subject AND a.provider = store_refreshed.provider AND a.account = store_refreshed.account
		AND a.version = store_refreshed.version
		AND (store_refreshed.lease IS NULL OR a.sent_lease = store_refreshed.lease OR NOT replaced AND a.state = 'connected');
	IF FOUND THEN
		RETURN 'stored';
	END IF;
	-- A statement of its own, so that it sees a deletion for which the first one has waited.
	SELECT a.version = store_refreshed.version INTO is_same FROM urlmode.account a
	WHERE a.subject = store_refreshed.subject AND a.provider = store_refreshed.provider AND a.account = store_refreshed.account;
	RETURN CASE WHEN NOT FOUND THEN 'gone' WHEN is_same THEN 'late' ELSE 'changed' END;
END
$$;
COMMENT ON FUNCTION urlmode.store_refreshed IS
	'Stores the tokens that have replaced those of this version, even if the lease was lost. '
	'replaced: there is a new refresh token. stored; changed: there are newer ones; late: another '
	'instance has sent the old refresh token since, and the new one, or the old one that was refused '
	'since, must be tried before it is stored; gone: the account was disconnected.';

CREATE OR REPLACE FUNCTION urlmode.commit_refresh(
	subject text, provider text, account text, version bigint, scopes text[], tokens bytea, expires_in_ms bigint DEFAULT NULL
)
RETURNS text
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
	SELECT urlmode.store_refreshed(subject, provider, account, version, NULL, false, scopes, tokens, expires_in_ms)
$$;
COMMENT ON FUNCTION urlmode.commit_refresh IS
	'store_refreshed, as older packages call it: what comes late is stored as it is.';

CREATE OR REPLACE FUNCTION urlmode.end_refresh(
	subject text, provider text, account text, version bigint, lease bigint, reason text DEFAULT NULL, lost text DEFAULT NULL,
	retry_after_ms bigint DEFAULT NULL
)
RETURNS void
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
	UPDATE urlmode.account a
	SET state = CASE WHEN end_refresh.reason IS NULL THEN a.state ELSE 'reconnect' END,
		reason = coalesce(end_refresh.reason, a.reason),
		leased_until = NULL, lease = a.lease + 1, sent = false, failures = a.failures + 1, holder = NULL, gone_at = NULL,
		-- Of a token that stays good nothing is lost. An answer that came says that the token was not replaced: the window has not begun.
		first_sent_at = CASE WHEN a.sent AND end_refresh.lost IS NOT NULL OR a.lost > 0 THEN a.first_sent_at END,
		lost = CASE WHEN NOT a.sent THEN a.lost
			WHEN end_refresh.lost = 'answer' THEN a.lost + 1
			WHEN end_refresh.lost = 'status' THEN greatest(a.lost, (a.reuse_ms IS DISTINCT FROM 0)::integer)
			ELSE a.lost END,
		pause_until = now() + greatest(urlmode.pause_of(a, CASE WHEN a.sent THEN end_refresh.lost END), retry_after_ms * interval '1 millisecond')
	WHERE a.subject = end_refresh.subject AND a.provider = end_refresh.provider AND a.account = end_refresh.account
		AND a.version = end_refresh.version AND a.lease = end_refresh.lease
$$;
COMMENT ON FUNCTION urlmode.end_refresh IS
	'Ends the refresh of this lease without new tokens. reason: the provider has refused the '
	'refresh token for good, and the user has to connect the account again. lost: the request was '
	'sent, and nobody knows whether the provider has replaced the token. answer: none came that can '
	'be read; status: one with a status that does not say it came, and all of these count as one '
	'that was lost. retry_after_ms: as the provider says it. Nobody tries again for a while: not at '
	'all after the first that was lost, otherwise for a second, after another failure for two, and '
	'so on up to a minute, and no sooner than the provider says.';

CREATE OR REPLACE FUNCTION urlmode.fail_refresh(
	subject text, provider text, account text, version bigint, lease bigint, reason text DEFAULT NULL, answer_lost boolean DEFAULT false,
	by_gateway boolean DEFAULT false
)
RETURNS void
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
	SELECT urlmode.end_refresh(subject, provider, account, version, lease, reason, CASE WHEN by_gateway THEN 'status' WHEN answer_lost THEN 'answer' END)
$$;
COMMENT ON FUNCTION urlmode.fail_refresh IS
	'end_refresh, as older packages call it.';

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
	ELSIF NOT urlmode.is_lease_over(row) THEN
		outcome := 'leased';
		wait_ms := ceil(extract(epoch FROM row.leased_until - now()) * 1000);
		PERFORM urlmode.note_holder(row);
	ELSE
		-- "sent" stays as it is: the answer of the lease before may be lost.
		UPDATE urlmode.account a SET leased_until = now() + lease_ms * interval '1 millisecond', lease = a.lease + 1, holder = NULL
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

CREATE OR REPLACE FUNCTION urlmode.vault_keys_of(tenant text) RETURNS TABLE (kid integer, accounts bigint)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
	SELECT get_byte(a.tokens, 1), count(*) FROM urlmode.account a WHERE a.tenant = vault_keys_of.tenant GROUP BY 1 ORDER BY 1
$$;
COMMENT ON FUNCTION urlmode.vault_keys_of IS
	'The keys that open the tokens of a tenant, and how many accounts each. A key that is not listed '
	'is not needed any more.';

CREATE OR REPLACE FUNCTION urlmode.vault_keys() RETURNS TABLE (kid integer, accounts bigint)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
	SELECT * FROM urlmode.vault_keys_of('')
$$;
COMMENT ON FUNCTION urlmode.vault_keys IS
	'vault_keys_of, of what has no tenant, as older packages call it.';

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

CREATE OR REPLACE FUNCTION urlmode.forget_owner(tenant text, subject text)
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
		SELECT e.id FROM urlmode.elicitation e WHERE e.subject = forget_owner.subject AND e.tenant = forget_owner.tenant ORDER BY e.id FOR UPDATE
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
	UPDATE urlmode.payment p SET subject = NULL WHERE p.subject = forget_owner.subject AND p.tenant = forget_owner.tenant;
	DELETE FROM urlmode.elicitation e WHERE e.id = ANY (theirs);
	DELETE FROM urlmode.account a WHERE a.subject = urlmode.account_owner(forget_owner.tenant, forget_owner.subject);
	DELETE FROM urlmode.entitlement e WHERE e.subject = forget_owner.subject AND e.tenant = forget_owner.tenant;
END
$$;
COMMENT ON FUNCTION urlmode.forget_owner IS
	'Deletes all data of a user of a tenant: accounts, elicitations with their events, results and '
	'entitlements. References and amounts of payments stay, as the books need them. If a payment is unclaimed, it deletes '
	'nothing and returns the unclaimed payments: claim or refund them first. An account whose code '
	'is exchanged just now is not stored afterwards.';

CREATE OR REPLACE FUNCTION urlmode.forget_subject(subject text)
RETURNS TABLE (
	unclaimed uuid, provider text, reference text, amount bigint, currency text
)
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
	SELECT * FROM urlmode.forget_owner('', subject)
$$;
COMMENT ON FUNCTION urlmode.forget_subject IS
	'forget_owner of a user without a tenant, as older packages call it.';

CREATE OR REPLACE FUNCTION urlmode.readings(
	OUT unclaimed bigint, OUT oldest_unclaimed_s bigint, OUT undelivered bigint, OUT oldest_undelivered_s bigint,
	OUT database_ms bigint, OUT queue_usage double precision, OUT failing bigint
)
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
	SELECT g.unclaimed, g.oldest_unclaimed_s, g.undelivered, g.oldest_undelivered_s, g.database_ms, g.queue_usage, (
		SELECT count(*) FROM urlmode.account a
		WHERE a.failures >= 3 AND a.state = 'connected' AND a.pause_until > now() - interval '1 hour'
	)
	FROM urlmode.gauges() g
$$;
COMMENT ON FUNCTION urlmode.readings IS
	'For the metrics: what gauges says, and how many connected accounts there are whose refreshes have '
	'failed three times in a row or more, the last time within an hour.';

GRANT EXECUTE ON FUNCTION urlmode.readings TO :"cgi";
GRANT EXECUTE ON FUNCTION
	urlmode.store_account, urlmode.store_exchanged, urlmode.find_accounts, urlmode.read_accounts, urlmode.list_accounts,
	urlmode.begin_lease_of, urlmode.begin_refresh, urlmode.mark_sending, urlmode.mark_sent, urlmode.store_refreshed, urlmode.commit_refresh,
	urlmode.hold, urlmode.end_refresh, urlmode.fail_refresh,
	urlmode.begin_disconnect, urlmode.delete_account, urlmode.vault_keys_of, urlmode.vault_keys, urlmode.list_sealed,
	urlmode.reseal_account, urlmode.forget_owner, urlmode.forget_subject
TO :"server";
