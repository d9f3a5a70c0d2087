-- The schema of the last version that had no sql/tables/ and sql/functions/, in a cluster
-- that has the roles: by pg_dump -s, without comments, and with functions that do nothing.

CREATE SCHEMA urlmode AUTHORIZATION urlmode_owner;
SET ROLE urlmode_owner;
GRANT USAGE ON SCHEMA urlmode TO urlmode_cgi, urlmode_server, urlmode_operator;
CREATE DOMAIN urlmode.account_id AS text COLLATE pg_catalog."C"
	CONSTRAINT account_id_check CHECK (((octet_length(VALUE) >= 1) AND (octet_length(VALUE) <= 512)));
CREATE DOMAIN urlmode.account_state AS text
	CONSTRAINT account_state_check CHECK ((VALUE = ANY (ARRAY['connected'::text, 'reconnect'::text])));
CREATE DOMAIN urlmode.action AS text
	CONSTRAINT action_check CHECK ((VALUE = ANY (ARRAY['accept'::text, 'decline'::text, 'cancel'::text])));
CREATE DOMAIN urlmode.approvers AS jsonb
	CONSTRAINT approvers_check CHECK (((VALUE IS NULL) OR
CASE
	WHEN (jsonb_typeof(VALUE) = 'array'::text) THEN ((jsonb_array_length(VALUE) <= 16) AND (NOT jsonb_path_exists(VALUE, '$[*]?(@.type() != "string" || @ == "")'::jsonpath)))
	ELSE false
END));
CREATE DOMAIN urlmode.client_id AS text
	CONSTRAINT client_id_check CHECK (((octet_length(VALUE) >= 1) AND (octet_length(VALUE) <= 2048)));
CREATE DOMAIN urlmode.currency AS text
	CONSTRAINT currency_check CHECK (((octet_length(VALUE) = 3) AND (btrim(VALUE, 'ABCDEFGHIJKLMNOPQRSTUVWXYZ'::text) = ''::text)));
CREATE DOMAIN urlmode.digest AS bytea
	CONSTRAINT digest_check CHECK ((octet_length(VALUE) = 16));
CREATE DOMAIN urlmode.event_type AS text
	CONSTRAINT event_type_check CHECK ((octet_length(VALUE) <= 512));
CREATE DOMAIN urlmode.expected AS jsonb
	CONSTRAINT expected_check CHECK (((VALUE IS NULL) OR (VALUE = '"any"'::jsonb) OR COALESCE(((jsonb_typeof((VALUE -> 'amount'::text)) = 'number'::text) AND ((VALUE ->> 'amount'::text) ~ '^[0-9]{1,18}$'::text) AND ((VALUE ->> 'currency'::text) ~ '^[A-Z]{3}$'::text)), false)));
CREATE DOMAIN urlmode.form AS bytea
	CONSTRAINT form_check CHECK ((octet_length(VALUE) <= 16414));
CREATE DOMAIN urlmode.fulfilled AS bytea
	CONSTRAINT fulfilled_check CHECK ((octet_length(VALUE) <= 262144));
CREATE DOMAIN urlmode.hash AS bytea
	CONSTRAINT hash_check CHECK ((octet_length(VALUE) = 32));
CREATE DOMAIN urlmode.kid AS smallint
	CONSTRAINT kid_check CHECK (((VALUE >= 0) AND (VALUE <= 255)));
CREATE DOMAIN urlmode.kind AS text COLLATE pg_catalog."C"
	CONSTRAINT kind_check CHECK ((VALUE = ANY (ARRAY['oauth'::text, 'payment'::text, 'signature'::text, 'input'::text, 'approval'::text])));
CREATE DOMAIN urlmode.message AS jsonb
	CONSTRAINT message_check CHECK ((octet_length((VALUE)::text) <= 1048576));
CREATE DOMAIN urlmode.name AS text COLLATE pg_catalog."C"
	CONSTRAINT name_check CHECK (((octet_length(VALUE) >= 1) AND (octet_length(VALUE) <= 2048)));
CREATE DOMAIN urlmode.problem AS bytea
	CONSTRAINT problem_check CHECK ((octet_length(VALUE) <= 8222));
CREATE DOMAIN urlmode.provider AS text COLLATE pg_catalog."C"
	CONSTRAINT provider_check CHECK (((octet_length(VALUE) BETWEEN 1 AND 64) AND (btrim(VALUE, 'abcdefghijklmnopqrstuvwxyz0123456789_-'::text) = ''::text) AND ("left"(VALUE, 1) <> ALL (ARRAY['_'::text, '-'::text]))));
CREATE DOMAIN urlmode.reason AS text
	CONSTRAINT reason_check CHECK (((octet_length(VALUE) <= 64) AND (btrim(VALUE, 'abcdefghijklmnopqrstuvwxyz0123456789_'::text) = ''::text)));
CREATE DOMAIN urlmode.reference AS text COLLATE pg_catalog."C"
	CONSTRAINT reference_check CHECK ((octet_length(VALUE) <= 800));
CREATE DOMAIN urlmode.requester AS text
	CONSTRAINT requester_check CHECK (((octet_length(VALUE) >= 1) AND (octet_length(VALUE) <= 200)));
CREATE DOMAIN urlmode.response AS bytea
	CONSTRAINT response_check CHECK ((octet_length(VALUE) <= 262144));
CREATE DOMAIN urlmode.result AS bytea
	CONSTRAINT result_check CHECK ((octet_length(VALUE) <= 65536));
CREATE DOMAIN urlmode.resume_key AS text COLLATE pg_catalog."C"
	CONSTRAINT resume_key_check CHECK (((octet_length(VALUE) >= 1) AND (octet_length(VALUE) <= 512)));
CREATE DOMAIN urlmode.scopes AS text[]
	CONSTRAINT scopes_check CHECK ((octet_length((VALUE)::text) <= 8192));
CREATE DOMAIN urlmode.session AS text
	CONSTRAINT session_check CHECK ((octet_length(VALUE) <= 512));
CREATE DOMAIN urlmode.status AS text
	CONSTRAINT status_check CHECK ((VALUE = ANY (ARRAY['pending'::text, 'opened'::text, 'processing'::text, 'completed'::text])));
CREATE DOMAIN urlmode.stream AS text COLLATE pg_catalog."C"
	CONSTRAINT stream_check CHECK ((octet_length(VALUE) <= 512));
CREATE DOMAIN urlmode.subject AS text
	CONSTRAINT subject_check CHECK (((octet_length(VALUE) >= 1) AND (octet_length(VALUE) <= 512)));
CREATE DOMAIN urlmode.target_url AS text
	CONSTRAINT target_url_check CHECK (((octet_length(VALUE) >= 1) AND (octet_length(VALUE) <= 8192)));
CREATE DOMAIN urlmode.tokens AS bytea
	CONSTRAINT tokens_check CHECK (((octet_length(VALUE) >= 30) AND (octet_length(VALUE) <= 65536)));
CREATE DOMAIN urlmode.traceparent AS text
	CONSTRAINT traceparent_check CHECK (((VALUE ~ '^00-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$'::text) AND (VALUE !~ '^00-0{32}|-0{16}-'::text)));
CREATE DOMAIN urlmode.typed AS bytea
	CONSTRAINT typed_check CHECK ((octet_length(VALUE) <= 65536));
CREATE DOMAIN urlmode.value AS text
	CONSTRAINT value_check CHECK ((octet_length(VALUE) <= 1048576));
CREATE DOMAIN urlmode.verifier AS bytea
	CONSTRAINT verifier_check CHECK ((octet_length(VALUE) <= 1024));
CREATE DOMAIN urlmode.verify_ms AS integer
	CONSTRAINT verify_ms_check CHECK (((VALUE >= 1000) AND (VALUE <= 120000)));
CREATE TABLE urlmode.elicitation (
	id uuid NOT NULL,
	provider urlmode.provider NOT NULL,
	kind urlmode.kind NOT NULL,
	subject urlmode.subject NOT NULL,
	session urlmode.session DEFAULT ''::text NOT NULL,
	binding urlmode.digest NOT NULL,
	requester urlmode.requester NOT NULL,
	client_id urlmode.client_id,
	traceparent urlmode.traceparent,
	link_kid urlmode.kid,
	target_url urlmode.target_url,
	expected urlmode.expected,
	checkout urlmode.reference,
	approvers urlmode.approvers,
	verify_ms urlmode.verify_ms,
	resume_key urlmode.resume_key,
	request urlmode.digest,
	created_at timestamptz DEFAULT now() NOT NULL,
	expires_at timestamptz NOT NULL,
	grace interval DEFAULT '00:00:00'::interval NOT NULL,
	status urlmode.status DEFAULT 'pending'::text NOT NULL,
	browser urlmode.digest,
	opened_at timestamptz,
	failed_attempts integer DEFAULT 0 NOT NULL,
	refunds integer DEFAULT 0 NOT NULL,
	event_type urlmode.event_type,
	unproven_references urlmode.reference[] DEFAULT '{}'::urlmode.reference[] NOT NULL,
	rechecks integer DEFAULT 0 NOT NULL,
	rechecked integer DEFAULT 0 NOT NULL,
	recheck_at timestamptz,
	recheck_lease integer DEFAULT 0 NOT NULL,
	recheck_failures integer DEFAULT 0 NOT NULL,
	checks integer DEFAULT 0 NOT NULL,
	check_taken integer DEFAULT 0 NOT NULL,
	check_until timestamptz,
	unchecked boolean DEFAULT false NOT NULL,
	action urlmode.action,
	reason urlmode.reason DEFAULT ''::text NOT NULL,
	completed_at timestamptz,
	completed_from urlmode.status,
	decided_by urlmode.subject,
	claimed_at timestamptz,
	exchange urlmode.reason,
	dormant boolean DEFAULT false NOT NULL,
	verifier urlmode.verifier,
	result urlmode.result,
	form urlmode.form,
	problem urlmode.problem,
	typed urlmode.typed,
	CONSTRAINT elicitation_check CHECK (((((status)::text = 'completed'::text) = (action IS NOT NULL)) AND ((action IS NULL) = (completed_at IS NULL)))),
	CONSTRAINT elicitation_check1 CHECK ((((kind)::text <> 'payment'::text) OR (expected IS NOT NULL)))
)
WITH (fillfactor='50');
CREATE TABLE urlmode.payment (
	provider urlmode.provider NOT NULL,
	reference urlmode.reference NOT NULL,
	elicitation uuid NOT NULL,
	checkout urlmode.reference,
	amount bigint NOT NULL,
	currency urlmode.currency NOT NULL,
	matches boolean NOT NULL,
	late boolean NOT NULL,
	proven_at timestamptz DEFAULT now() NOT NULL,
	claimed_at timestamptz,
	refunded bigint DEFAULT 0 NOT NULL,
	refunded_at timestamptz,
	held boolean DEFAULT false NOT NULL,
	result urlmode.result,
	CONSTRAINT payment_amount_check CHECK ((amount >= 0))
);
CREATE TABLE urlmode.refund (
	provider urlmode.provider NOT NULL,
	reference urlmode.reference NOT NULL,
	elicitations uuid[] NOT NULL,
	payment urlmode.reference,
	amount bigint,
	currency urlmode.currency,
	reversed bigint,
	reversed_at timestamptz,
	refunded_at timestamptz,
	unclear_at timestamptz,
	received_at timestamptz DEFAULT clock_timestamp() NOT NULL,
	changed_at timestamptz DEFAULT clock_timestamp() NOT NULL,
	CONSTRAINT refund_amount_check CHECK ((amount >= 0)),
	CONSTRAINT refund_reversed_check CHECK ((reversed >= 0))
);
CREATE TABLE urlmode.account (
	subject urlmode.subject NOT NULL COLLATE pg_catalog."C",
	provider urlmode.provider NOT NULL,
	account urlmode.account_id NOT NULL,
	state urlmode.account_state DEFAULT 'connected'::text NOT NULL,
	reason urlmode.reason DEFAULT ''::text NOT NULL,
	scopes urlmode.scopes NOT NULL,
	requested urlmode.scopes NOT NULL,
	connected_at timestamptz DEFAULT now() NOT NULL,
	refreshed_at timestamptz DEFAULT now() NOT NULL,
	expires_at timestamptz,
	version bigint DEFAULT (EXTRACT(epoch FROM clock_timestamp()) * (1000000)::numeric) NOT NULL,
	first_version bigint DEFAULT (EXTRACT(epoch FROM clock_timestamp()) * (1000000)::numeric) NOT NULL,
	lease bigint DEFAULT (EXTRACT(epoch FROM clock_timestamp()) * (1000000)::numeric) NOT NULL,
	leased_until timestamptz,
	sent boolean DEFAULT false NOT NULL,
	lost integer DEFAULT 0 NOT NULL,
	failures integer DEFAULT 0 NOT NULL,
	pause_until timestamptz,
	tokens urlmode.tokens NOT NULL
);
CREATE TABLE urlmode.client_request (
	key urlmode.hash NOT NULL,
	expected boolean NOT NULL,
	response urlmode.response,
	expires_at timestamptz NOT NULL,
	session urlmode.hash
);
CREATE TABLE urlmode.decision (
	provider urlmode.provider NOT NULL,
	reference urlmode.reference NOT NULL,
	decided_at timestamptz DEFAULT clock_timestamp() NOT NULL,
	decision text NOT NULL,
	refunded bigint NOT NULL,
	decided_by text NOT NULL,
	note text DEFAULT ''::text NOT NULL,
	CONSTRAINT decision_decided_by_check CHECK (((octet_length(decided_by) >= 1) AND (octet_length(decided_by) <= 200))),
	CONSTRAINT decision_decision_check CHECK ((decision = ANY (ARRAY['released'::text, 'voided'::text]))),
	CONSTRAINT decision_note_check CHECK ((octet_length(note) <= 1000))
);
CREATE TABLE urlmode.event (
	provider text NOT NULL COLLATE pg_catalog."C",
	identity text NOT NULL COLLATE pg_catalog."C",
	type text NOT NULL,
	elicitation uuid NOT NULL,
	received_at timestamptz DEFAULT clock_timestamp() NOT NULL,
	reference urlmode.reference,
	amount bigint,
	request text,
	action text NOT NULL,
	CONSTRAINT event_action_check CHECK ((action = ANY (ARRAY['accept'::text, 'decline'::text, 'cancel'::text, 'processing'::text, 'attempt_failed'::text, 'recheck'::text, 'refunded'::text, 'refund_reversed'::text, 'late'::text, 'repeated'::text, 'reference_taken'::text, 'other_mode'::text, 'other_account'::text, 'other_checkout'::text, 'ignored'::text]))),
	CONSTRAINT event_identity_check CHECK (((octet_length(identity) >= 1) AND (octet_length(identity) <= 800))),
	CONSTRAINT event_request_check CHECK ((request ~ '^[0-9a-f]{32}$'::text)),
	CONSTRAINT event_type_check1 CHECK ((octet_length(type) <= 512))
);
CREATE TABLE urlmode.lease (
	elicitation uuid NOT NULL,
	reference urlmode.reference NOT NULL,
	fence bigint NOT NULL,
	ends_at timestamptz NOT NULL,
	fulfilled_at timestamptz,
	fulfilled urlmode.fulfilled
);
CREATE TABLE urlmode.mcp_event (
	session urlmode.hash NOT NULL,
	stream urlmode.stream NOT NULL,
	n bigint NOT NULL,
	message urlmode.message NOT NULL
);
CREATE TABLE urlmode.mcp_session (
	key urlmode.hash NOT NULL,
	meta urlmode.message NOT NULL,
	expires_at timestamptz NOT NULL
);
CREATE TABLE urlmode.migration (
	name text NOT NULL COLLATE pg_catalog."C",
	applied_at timestamptz DEFAULT now() NOT NULL
);
CREATE TABLE urlmode.published (
	id bigint NOT NULL,
	channel urlmode.name NOT NULL,
	message urlmode.value NOT NULL,
	expires_at timestamptz DEFAULT (now() + '00:10:00'::interval) NOT NULL
);
ALTER TABLE urlmode.published ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
	SEQUENCE NAME urlmode.published_id_seq
	START WITH 1
	INCREMENT BY 1
	NO MINVALUE
	NO MAXVALUE
	CACHE 1
);
CREATE TABLE urlmode.purge_pass (
	kind urlmode.kind NOT NULL,
	since timestamptz DEFAULT '-infinity'::timestamptz NOT NULL,
	expires_at timestamptz DEFAULT '-infinity'::timestamptz NOT NULL,
	id uuid DEFAULT '00000000-0000-0000-0000-000000000000'::uuid NOT NULL
);
CREATE TABLE urlmode.purge_queue (
	ids uuid[] NOT NULL,
	due_at timestamptz DEFAULT (now() + '1 day'::interval) NOT NULL
);
CREATE TABLE urlmode.signing_key (
	provider urlmode.provider NOT NULL,
	kid text NOT NULL COLLATE pg_catalog."C",
	key text,
	expires_at timestamptz,
	fetched_at timestamptz,
	wanted_at timestamptz,
	wanted_since timestamptz,
	leased_until timestamptz,
	CONSTRAINT signing_key_key_check CHECK ((octet_length(key) <= 8192)),
	CONSTRAINT signing_key_kid_check CHECK (((octet_length(kid) >= 1) AND (octet_length(kid) <= 128)))
);
CREATE TABLE urlmode.stored (
	key urlmode.name NOT NULL,
	value urlmode.value NOT NULL,
	expires_at timestamptz
);
CREATE TABLE urlmode.unknown_event (
	provider urlmode.provider NOT NULL,
	identity text NOT NULL COLLATE pg_catalog."C",
	type urlmode.event_type NOT NULL,
	effect text NOT NULL,
	elicitation uuid,
	reference urlmode.reference,
	refund urlmode.reference,
	checkout urlmode.reference,
	amount bigint,
	currency urlmode.currency,
	result urlmode.result,
	received_at timestamptz DEFAULT clock_timestamp() NOT NULL,
	expires_at timestamptz DEFAULT (now() + '30 days'::interval) NOT NULL,
	CONSTRAINT unknown_event_amount_check CHECK ((amount >= 0)),
	CONSTRAINT unknown_event_effect_check CHECK ((effect = ANY (ARRAY['paid'::text, 'refunded'::text, 'refund_reversed'::text]))),
	CONSTRAINT unknown_event_identity_check CHECK (((octet_length(identity) >= 1) AND (octet_length(identity) <= 800)))
);
ALTER TABLE ONLY urlmode.account ADD CONSTRAINT account_pkey PRIMARY KEY (subject, provider, account);
ALTER TABLE ONLY urlmode.client_request ADD CONSTRAINT client_request_pkey PRIMARY KEY (key);
ALTER TABLE ONLY urlmode.decision ADD CONSTRAINT decision_pkey PRIMARY KEY (provider, reference, decided_at);
ALTER TABLE ONLY urlmode.elicitation ADD CONSTRAINT elicitation_pkey PRIMARY KEY (id);
ALTER TABLE ONLY urlmode.event ADD CONSTRAINT event_pkey PRIMARY KEY (provider, identity);
ALTER TABLE ONLY urlmode.lease ADD CONSTRAINT lease_pkey PRIMARY KEY (elicitation, reference);
ALTER TABLE ONLY urlmode.mcp_event ADD CONSTRAINT mcp_event_pkey PRIMARY KEY (session, stream, n);
ALTER TABLE ONLY urlmode.mcp_session ADD CONSTRAINT mcp_session_pkey PRIMARY KEY (key);
ALTER TABLE ONLY urlmode.migration ADD CONSTRAINT migration_pkey PRIMARY KEY (name);
ALTER TABLE ONLY urlmode.payment ADD CONSTRAINT payment_pkey PRIMARY KEY (provider, reference);
ALTER TABLE ONLY urlmode.published ADD CONSTRAINT published_pkey PRIMARY KEY (id);
ALTER TABLE ONLY urlmode.purge_pass ADD CONSTRAINT purge_pass_pkey PRIMARY KEY (kind);
ALTER TABLE ONLY urlmode.refund ADD CONSTRAINT refund_pkey PRIMARY KEY (provider, reference);
ALTER TABLE ONLY urlmode.signing_key ADD CONSTRAINT signing_key_pkey PRIMARY KEY (provider, kid);
ALTER TABLE ONLY urlmode.stored ADD CONSTRAINT stored_pkey PRIMARY KEY (key);
ALTER TABLE ONLY urlmode.unknown_event ADD CONSTRAINT unknown_event_pkey PRIMARY KEY (provider, identity);
CREATE INDEX client_request_expires_at ON urlmode.client_request USING btree (expires_at);
CREATE INDEX client_request_unexpected ON urlmode.client_request USING btree (session, expires_at) WHERE (NOT expected);
CREATE INDEX elicitation_check_until ON urlmode.elicitation USING btree (check_until) WHERE (check_until IS NOT NULL);
CREATE INDEX elicitation_checkout ON urlmode.elicitation USING btree (provider, checkout) WHERE (checkout IS NOT NULL);
CREATE INDEX elicitation_expires_at ON urlmode.elicitation USING btree (kind, expires_at);
CREATE INDEX elicitation_form ON urlmode.elicitation USING btree (expires_at) WHERE (form IS NOT NULL);
CREATE INDEX elicitation_owner ON urlmode.elicitation USING btree (binding, resume_key, request) WHERE (NOT dormant);
CREATE INDEX event_attempt ON urlmode.event USING btree (provider, reference) WHERE ((action = ANY (ARRAY['processing'::text, 'attempt_failed'::text])) AND (reference IS NOT NULL));
CREATE INDEX event_elicitation ON urlmode.event USING btree (elicitation);
CREATE INDEX event_received_at ON urlmode.event USING brin (received_at) WITH (autosummarize='on');
CREATE INDEX lease_fulfilled_at ON urlmode.lease USING btree (fulfilled_at);
CREATE INDEX mcp_session_expires_at ON urlmode.mcp_session USING btree (expires_at);
CREATE INDEX payment_checkout ON urlmode.payment USING btree (provider, checkout) WHERE (checkout IS NOT NULL);
CREATE INDEX payment_elicitation ON urlmode.payment USING btree (elicitation);
CREATE INDEX payment_proven_at ON urlmode.payment USING btree (provider, proven_at);
CREATE INDEX payment_unclaimed ON urlmode.payment USING btree (proven_at) WHERE ((claimed_at IS NULL) AND (refunded_at IS NULL));
CREATE INDEX published_channel ON urlmode.published USING btree (channel, id);
CREATE INDEX published_expires_at ON urlmode.published USING btree (expires_at);
CREATE INDEX purge_queue_due_at ON urlmode.purge_queue USING btree (due_at);
CREATE INDEX refund_changed_at ON urlmode.refund USING btree (changed_at);
CREATE INDEX refund_elicitations ON urlmode.refund USING gin (elicitations) WITH (fastupdate=off);
CREATE INDEX refund_payment ON urlmode.refund USING btree (provider, payment);
CREATE INDEX stored_expires_at ON urlmode.stored USING btree (expires_at) WHERE (expires_at IS NOT NULL);
CREATE INDEX unknown_event_elicitation ON urlmode.unknown_event USING btree (elicitation);
CREATE INDEX unknown_event_expires_at ON urlmode.unknown_event USING btree (expires_at);
CREATE INDEX unknown_event_reference ON urlmode.unknown_event USING btree (provider, reference);
CREATE FUNCTION urlmode.abandon(ids uuid[], bindings bytea[], actions text[], reasons text[]) RETURNS TABLE(outcome text) LANGUAGE plpgsql AS 'BEGIN END';
CREATE FUNCTION urlmode.announce(announcements text[]) RETURNS void LANGUAGE plpgsql AS 'BEGIN END';
CREATE FUNCTION urlmode.announcement(id uuid, status text, outcome bytea DEFAULT NULL::bytea, late boolean DEFAULT false, refunded boolean DEFAULT false) RETURNS text LANGUAGE plpgsql AS 'BEGIN END';
CREATE FUNCTION urlmode.answer_form(ids uuid[], bindings bytea[], providers text[], kinds text[], browsers bytea[], subjects text[], four_eyes boolean[], actions text[], reasons text[], results bytea[], outcomes bytea[], shown bytea[]) RETURNS TABLE(outcome text) LANGUAGE plpgsql AS 'BEGIN END';
CREATE FUNCTION urlmode.append_reference(refs urlmode.reference[], ref text) RETURNS urlmode.reference[] LANGUAGE plpgsql AS 'BEGIN END';
CREATE FUNCTION urlmode.apply_events(ids uuid[], actions text[], reasons text[], types text[], refs text[], lates boolean[], results bytea[], outcomes bytea[]) RETURNS void LANGUAGE plpgsql AS 'BEGIN END';
CREATE FUNCTION urlmode.apply_refunds(ids uuid[]) RETURNS void LANGUAGE plpgsql AS 'BEGIN END';
CREATE FUNCTION urlmode.awaits_claim(e urlmode.elicitation) RETURNS boolean LANGUAGE plpgsql AS 'BEGIN END';
CREATE FUNCTION urlmode.awaits_late_payment(e urlmode.elicitation) RETURNS boolean LANGUAGE plpgsql AS 'BEGIN END';
CREATE FUNCTION urlmode.becomes_dormant(e urlmode.elicitation) RETURNS boolean LANGUAGE plpgsql AS 'BEGIN END';
CREATE FUNCTION urlmode.begin_claim(id uuid, binding bytea, reference text, lease_ms bigint, keep_ms bigint DEFAULT 600000) RETURNS TABLE(outcome text, claimed_reference text, fence bigint, fulfilled bytea, leased_ms bigint) LANGUAGE plpgsql AS 'BEGIN END';
CREATE FUNCTION urlmode.begin_disconnect(subject text, provider text, account text, lease_ms bigint, first bigint DEFAULT NULL::bigint) RETURNS TABLE(outcome text, wait_ms bigint, version bigint, tokens bytea, first_version bigint) LANGUAGE plpgsql AS 'BEGIN END';
CREATE FUNCTION urlmode.begin_refresh(subject text, provider text, account text, version bigint, lease_ms bigint) RETURNS TABLE(outcome text, lease bigint, wait_ms bigint) LANGUAGE plpgsql AS 'BEGIN END';
CREATE FUNCTION urlmode.bindings_of(ids uuid[], providers text[]) RETURNS bytea[] LANGUAGE plpgsql AS 'BEGIN END';
CREATE FUNCTION urlmode.claim(id uuid, binding bytea, reference text DEFAULT NULL::text, keep_ms bigint DEFAULT 600000, action text DEFAULT 'accept'::text, held boolean DEFAULT false) RETURNS text LANGUAGE plpgsql AS 'BEGIN END';
CREATE FUNCTION urlmode.claim_rank(p urlmode.payment) RETURNS integer LANGUAGE plpgsql AS 'BEGIN END';
CREATE FUNCTION urlmode.client_request_answer(key bytea, response bytea, session bytea) RETURNS text LANGUAGE plpgsql AS 'BEGIN END';
CREATE FUNCTION urlmode.client_request_drop(keys bytea[]) RETURNS void LANGUAGE plpgsql AS 'BEGIN END';
CREATE FUNCTION urlmode.client_request_expect(keys bytea[], ttls_ms bigint[]) RETURNS TABLE(key bytea, response bytea) LANGUAGE plpgsql AS 'BEGIN END';
CREATE FUNCTION urlmode.client_request_take(keys bytea[]) RETURNS TABLE(key bytea, response bytea) LANGUAGE plpgsql AS 'BEGIN END';
CREATE FUNCTION urlmode.closes_at(kind text, status text, expires_at timestamptz, grace interval) RETURNS timestamptz LANGUAGE plpgsql AS 'BEGIN END';
CREATE FUNCTION urlmode.commit_refresh(subject text, provider text, account text, version bigint, scopes text[], tokens bytea, expires_in_ms bigint DEFAULT NULL::bigint) RETURNS text LANGUAGE plpgsql AS 'BEGIN END';
CREATE FUNCTION urlmode.complete(ids uuid[], bindings bytea[], providers text[], actions text[], reasons text[], results bytea[], subjects text[] DEFAULT NULL::text[], outcomes bytea[] DEFAULT NULL::bytea[]) RETURNS TABLE(outcome text) LANGUAGE plpgsql AS 'BEGIN END';
CREATE FUNCTION urlmode.confirm_claim(id uuid, binding bytea, fence bigint, keep_ms bigint DEFAULT 600000) RETURNS boolean LANGUAGE plpgsql AS 'BEGIN END';
CREATE FUNCTION urlmode.create_elicitation(ids uuid[], providers text[], kinds text[], subjects text[], sessions text[], bindings bytea[], requesters text[], target_urls text[], expected jsonb[], verifiers bytea[], ttls_ms bigint[], exclusive boolean[] DEFAULT NULL::boolean[], resume_keys text[] DEFAULT NULL::text[], can_recheck boolean[] DEFAULT NULL::boolean[], requests bytea[] DEFAULT NULL::bytea[], checkouts text[] DEFAULT NULL::text[], client_ids text[] DEFAULT NULL::text[], link_kids smallint[] DEFAULT NULL::smallint[], forms bytea[] DEFAULT NULL::bytea[], approvers jsonb[] DEFAULT NULL::jsonb[], verify_ms integer[] DEFAULT NULL::integer[], traceparents text[] DEFAULT NULL::text[]) RETURNS TABLE(expires_at timestamptz, outcome text) LANGUAGE plpgsql AS 'BEGIN END';
CREATE FUNCTION urlmode.decide_event(kind text, status text, effect text, proof text) RETURNS TABLE(action text, reason text) LANGUAGE plpgsql AS 'BEGIN END';
CREATE FUNCTION urlmode.decide_payment(provider text, reference text, decision text, decided_by text, note text DEFAULT ''::text) RETURNS text LANGUAGE plpgsql AS 'BEGIN END';
CREATE FUNCTION urlmode.delete_account(subject text, provider text, account text, version bigint) RETURNS boolean LANGUAGE plpgsql AS 'BEGIN END';
CREATE FUNCTION urlmode.delete_events() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN END';
CREATE FUNCTION urlmode.effective_status(e urlmode.elicitation) RETURNS text LANGUAGE plpgsql AS 'BEGIN END';
CREATE FUNCTION urlmode.end_check(id uuid, binding bytea, lease integer, problem bytea DEFAULT NULL::bytea, failed boolean DEFAULT false, outcome bytea DEFAULT NULL::bytea) RETURNS text LANGUAGE plpgsql AS 'BEGIN END';
CREATE FUNCTION urlmode.end_claim(id uuid, reference text, keep_ms bigint) RETURNS void LANGUAGE plpgsql AS 'BEGIN END';
CREATE FUNCTION urlmode.end_due_checks(ids uuid[] DEFAULT NULL::uuid[]) RETURNS void LANGUAGE plpgsql AS 'BEGIN END';
CREATE FUNCTION urlmode.end_exchange(id uuid, binding bytea, reason text DEFAULT ''::text) RETURNS boolean LANGUAGE plpgsql AS 'BEGIN END';
CREATE FUNCTION urlmode.end_recheck(id uuid, binding bytea, lease integer, rechecks integer, failed boolean) RETURNS void LANGUAGE plpgsql AS 'BEGIN END';
CREATE FUNCTION urlmode.expire(ids uuid[], bindings bytea[]) RETURNS SETOF uuid LANGUAGE plpgsql AS 'BEGIN END';
CREATE FUNCTION urlmode.expire_forms() RETURNS bigint LANGUAGE plpgsql AS 'BEGIN END';
CREATE FUNCTION urlmode.fail_refresh(subject text, provider text, account text, version bigint, lease bigint, reason text DEFAULT NULL::text, answer_lost boolean DEFAULT false, by_gateway boolean DEFAULT false) RETURNS void LANGUAGE plpgsql AS 'BEGIN END';
CREATE FUNCTION urlmode.find_checkout(provider text, reference text) RETURNS uuid[] LANGUAGE plpgsql AS 'BEGIN END';
CREATE FUNCTION urlmode.find_claim(id uuid, binding bytea, reference text, action text, held boolean, OUT outcome text, OUT kind text, OUT picked text) RETURNS record LANGUAGE plpgsql AS 'BEGIN END';
CREATE FUNCTION urlmode.find_elicitation(provider text, reference text) RETURNS uuid LANGUAGE plpgsql AS 'BEGIN END';
CREATE FUNCTION urlmode.find_unknown() RETURNS bigint LANGUAGE plpgsql AS 'BEGIN END';
CREATE FUNCTION urlmode.fold(name text) RETURNS text LANGUAGE plpgsql AS 'BEGIN END';
CREATE FUNCTION urlmode.forget_subject(subject text) RETURNS TABLE(unclaimed uuid, provider text, reference text, amount bigint, currency text) LANGUAGE plpgsql AS 'BEGIN END';
CREATE FUNCTION urlmode.form_outcome(e urlmode.elicitation, subject text, four_eyes boolean) RETURNS text LANGUAGE plpgsql AS 'BEGIN END';
CREATE FUNCTION urlmode.fulfil_claim(id uuid, binding bytea, fence bigint, fulfilled bytea) RETURNS boolean LANGUAGE plpgsql AS 'BEGIN END';
CREATE FUNCTION urlmode.gone_back(r urlmode.refund, paid bigint) RETURNS bigint LANGUAGE plpgsql AS 'BEGIN END';
CREATE FUNCTION urlmode.has_no_payment(r urlmode.refund) RETURNS boolean LANGUAGE plpgsql AS 'BEGIN END';
CREATE FUNCTION urlmode.held(ids uuid[]) RETURNS TABLE(held boolean) LANGUAGE plpgsql AS 'BEGIN END';
CREATE FUNCTION urlmode.is_completable(e urlmode.elicitation, action text, reason text, subject text) RETURNS boolean LANGUAGE plpgsql AS 'BEGIN END';
CREATE FUNCTION urlmode.is_expected(expected jsonb, amount bigint, currency text) RETURNS boolean LANGUAGE plpgsql AS 'BEGIN END';
CREATE FUNCTION urlmode.is_leased(elicitation uuid, reference text) RETURNS boolean LANGUAGE plpgsql AS 'BEGIN END';
CREATE FUNCTION urlmode.is_paid(kind text, binding bytea, resume_key text, request bytea) RETURNS boolean LANGUAGE plpgsql AS 'BEGIN END';
CREATE FUNCTION urlmode.is_purgeable(e urlmode.elicitation, since timestamptz) RETURNS boolean LANGUAGE plpgsql AS 'BEGIN END';
CREATE FUNCTION urlmode.is_unclaimed(p urlmode.payment) RETURNS boolean LANGUAGE plpgsql AS 'BEGIN END';
CREATE FUNCTION urlmode.is_under_way(elicitation uuid, after_end timestamptz DEFAULT NULL::timestamptz) RETURNS boolean LANGUAGE plpgsql AS 'BEGIN END';
CREATE FUNCTION urlmode.keep_events(ids uuid[], providers text[], identities text[], types text[], effects text[], amounts bigint[], currencies text[], refs text[], refunds text[], checkouts text[], results bytea[], requests text[], OUT actions text[], OUT reasons text[], OUT mismatches text[], OUT lates boolean[]) RETURNS record LANGUAGE plpgsql AS 'BEGIN END';
CREATE FUNCTION urlmode.keep_refunds(ids uuid[], providers text[], effects text[], amounts bigint[], currencies text[], refs text[], refunds text[], by_reference boolean[]) RETURNS void LANGUAGE plpgsql AS 'BEGIN END';
CREATE FUNCTION urlmode.keep_signing_key(provider text, kid text, key text, expires_at timestamptz DEFAULT NULL::timestamptz) RETURNS boolean LANGUAGE plpgsql AS 'BEGIN END';
CREATE FUNCTION urlmode.keep_unknown(ids uuid[], providers text[], identities text[], types text[], effects text[], amounts bigint[], currencies text[], refs text[], refunds text[], checkouts text[], results bytea[], actions text[]) RETURNS void LANGUAGE plpgsql AS 'BEGIN END';
CREATE FUNCTION urlmode.list_accounts(subject text DEFAULT NULL::text, provider text DEFAULT NULL::text, state text DEFAULT NULL::text) RETURNS TABLE(subject_name text, provider_name text, account_id text, state_name text, reason text, scopes text[], connected_at timestamptz, refreshed_at timestamptz, expires_at timestamptz) LANGUAGE plpgsql AS 'BEGIN END';
CREATE FUNCTION urlmode.list_events(provider text DEFAULT NULL::text, since timestamptz DEFAULT NULL::timestamptz, late boolean DEFAULT false, most integer DEFAULT 100) RETURNS TABLE(received_at timestamptz, provider_name text, type text, action text, elicitation uuid, reference text, amount bigint, request text) LANGUAGE plpgsql AS 'BEGIN END';
CREATE FUNCTION urlmode.list_migrations() RETURNS TABLE(name text, applied_at timestamptz) LANGUAGE plpgsql AS 'BEGIN END';
CREATE FUNCTION urlmode.list_paid(provider text, since timestamptz, until timestamptz) RETURNS TABLE(reference text, proven_at timestamptz, amount bigint, currency text, elicitation uuid) LANGUAGE plpgsql AS 'BEGIN END';
CREATE FUNCTION urlmode.list_sealed(minting integer, after_subject text DEFAULT ''::text, after_provider text DEFAULT ''::text, after_account text DEFAULT ''::text, batch integer DEFAULT 100) RETURNS TABLE(subject text, provider text, account text, tokens bytea) LANGUAGE plpgsql AS 'BEGIN END';
CREATE FUNCTION urlmode.list_unclaimed(provider text DEFAULT NULL::text, since timestamptz DEFAULT NULL::timestamptz, most integer DEFAULT 100) RETURNS TABLE(proven_at timestamptz, provider_name text, elicitation uuid, reference text, amount bigint, currency text, matches boolean, late boolean, refunded bigint, held boolean) LANGUAGE plpgsql AS 'BEGIN END';
CREATE FUNCTION urlmode.list_unknown(provider text DEFAULT NULL::text, since timestamptz DEFAULT NULL::timestamptz, most integer DEFAULT 100) RETURNS TABLE(received_at timestamptz, provider_name text, type text, effect text, elicitation uuid, reference text, amount bigint, currency text, identity text) LANGUAGE plpgsql AS 'BEGIN END';
CREATE FUNCTION urlmode.list_wanted_keys(provider text DEFAULT NULL::text, since timestamptz DEFAULT NULL::timestamptz, most integer DEFAULT 100) RETURNS TABLE(asked_at timestamptz, last_asked_at timestamptz, provider_name text, kid text) LANGUAGE plpgsql AS 'BEGIN END';
CREATE FUNCTION urlmode.lock_references(refs text[]) RETURNS void LANGUAGE plpgsql AS 'BEGIN END';
CREATE FUNCTION urlmode.look_up(ids uuid[], bindings bytea[], providers text[]) RETURNS TABLE(outcome text, action text, reason text, requester text, subject text, browser bytea, expires bigint, failed_attempts integer, late boolean, amount bigint, currency text) LANGUAGE plpgsql AS 'BEGIN END';
CREATE FUNCTION urlmode.look_up_form(ids uuid[], bindings bytea[], providers text[], kinds text[], subjects text[], four_eyes boolean[]) RETURNS TABLE(outcome text, action text, reason text, requester text, subject text, expires bigint, form bytea, problem bytea, typed bytea, unchecked boolean, browser bytea, decided_by text) LANGUAGE plpgsql AS 'BEGIN END';
CREATE FUNCTION urlmode.look_up_link(ids uuid[], providers text[]) RETURNS TABLE(outcome text, action text, reason text, requester text, subject text, browser bytea, expires bigint, failed_attempts integer, late boolean, amount bigint, currency text, binding bytea) LANGUAGE plpgsql AS 'BEGIN END';
CREATE FUNCTION urlmode.look_up_signing_keys(providers text[], kids text[]) RETURNS TABLE(outcome text, key text) LANGUAGE plpgsql AS 'BEGIN END';
CREATE FUNCTION urlmode.make_room(owner bytea) RETURNS boolean LANGUAGE plpgsql AS 'BEGIN END';
CREATE FUNCTION urlmode.mark_read(ids uuid[], bindings bytea[], keep_ms bigint DEFAULT 600000) RETURNS void LANGUAGE plpgsql AS 'BEGIN END';
CREATE FUNCTION urlmode.mark_sent(subject text, provider text, account text, lease bigint, lease_ms bigint, stays_good boolean DEFAULT false) RETURNS boolean LANGUAGE plpgsql AS 'BEGIN END';
CREATE FUNCTION urlmode.max_open() RETURNS integer LANGUAGE plpgsql AS 'BEGIN END';
CREATE FUNCTION urlmode.max_references() RETURNS integer LANGUAGE plpgsql AS 'BEGIN END';
CREATE FUNCTION urlmode.max_tries() RETURNS integer LANGUAGE plpgsql AS 'BEGIN END';
CREATE FUNCTION urlmode.max_unchecked() RETURNS integer LANGUAGE plpgsql AS 'BEGIN END';
CREATE FUNCTION urlmode.max_unknown() RETURNS integer LANGUAGE plpgsql AS 'BEGIN END';
CREATE FUNCTION urlmode.max_wanted_keys() RETURNS integer LANGUAGE plpgsql AS 'BEGIN END';
CREATE FUNCTION urlmode.may_be_of(r urlmode.refund, p urlmode.payment) RETURNS boolean LANGUAGE plpgsql AS 'BEGIN END';
CREATE FUNCTION urlmode.mcp_event_append(session bytea, stream text, message jsonb, keep bigint) RETURNS bigint LANGUAGE plpgsql AS 'BEGIN END';
CREATE FUNCTION urlmode.mcp_events(session bytea, stream text, after bigint) RETURNS TABLE(stream_name text, n bigint, message jsonb) LANGUAGE plpgsql AS 'BEGIN END';
CREATE FUNCTION urlmode.mcp_session_create(key bytea, meta jsonb, ttl_ms bigint) RETURNS void LANGUAGE plpgsql AS 'BEGIN END';
CREATE FUNCTION urlmode.mcp_session_delete(key bytea) RETURNS void LANGUAGE plpgsql AS 'BEGIN END';
CREATE FUNCTION urlmode.mcp_session_use(key bytea, ttl_ms bigint) RETURNS jsonb LANGUAGE plpgsql AS 'BEGIN END';
CREATE FUNCTION urlmode.measure(OUT unclaimed bigint, OUT oldest_unclaimed_s bigint, OUT database_ms bigint, OUT queue_usage double precision) RETURNS record LANGUAGE plpgsql AS 'BEGIN END';
CREATE FUNCTION urlmode.open(ids uuid[], bindings bytea[], providers text[], browsers bytea[], subjects text[] DEFAULT NULL::text[], graces_ms bigint[] DEFAULT NULL::bigint[]) RETURNS TABLE(outcome text, kind text, target_url text, expires bigint) LANGUAGE plpgsql AS 'BEGIN END';
CREATE FUNCTION urlmode.open_form(ids uuid[], providers text[], kinds text[], browsers bytea[], subjects text[], four_eyes boolean[]) RETURNS TABLE(outcome text, expires bigint, binding bytea) LANGUAGE plpgsql AS 'BEGIN END';
CREATE FUNCTION urlmode.open_link(ids uuid[], providers text[], browsers bytea[], subjects text[] DEFAULT NULL::text[], graces_ms bigint[] DEFAULT NULL::bigint[]) RETURNS TABLE(outcome text, kind text, target_url text, expires bigint, binding bytea) LANGUAGE plpgsql AS 'BEGIN END';
CREATE FUNCTION urlmode.ping() RETURNS boolean LANGUAGE plpgsql AS 'BEGIN END';
CREATE FUNCTION urlmode.prove_payments(ids uuid[], providers text[], refs text[], amounts bigint[], currencies text[], matches boolean[], lates boolean[], results bytea[], checkouts text[] DEFAULT NULL::text[]) RETURNS TABLE(proof text) LANGUAGE plpgsql AS 'BEGIN END';
CREATE FUNCTION urlmode.publish(channel text, message text) RETURNS void LANGUAGE plpgsql AS 'BEGIN END';
CREATE FUNCTION urlmode.published_last() RETURNS bigint LANGUAGE plpgsql AS 'BEGIN END';
CREATE FUNCTION urlmode.published_since(channels text[], since bigint[]) RETURNS TABLE(id bigint, channel text, message text) LANGUAGE plpgsql AS 'BEGIN END';
CREATE FUNCTION urlmode.purge(keep_ms bigint DEFAULT '7776000000'::bigint, kind text DEFAULT NULL::text, batch integer DEFAULT 1000) RETURNS bigint LANGUAGE plpgsql AS 'BEGIN END';
CREATE FUNCTION urlmode.purge_kind(kind text, since timestamptz, batch integer) RETURNS bigint LANGUAGE plpgsql AS 'BEGIN END';
CREATE FUNCTION urlmode.purge_results(keep_unclaimed_ms bigint DEFAULT '2592000000'::bigint) RETURNS bigint LANGUAGE plpgsql AS 'BEGIN END';
CREATE FUNCTION urlmode.purge_stored(batch integer) RETURNS bigint LANGUAGE plpgsql AS 'BEGIN END';
CREATE FUNCTION urlmode.read(ids uuid[], bindings bytea[]) RETURNS TABLE(id uuid, provider text, kind text, status text, action text, reason text, late boolean, result bytea, verifier bytea, expires_in_ms bigint, closes_in_ms bigint, expected jsonb, failed_attempts integer, completed_from text, event_type text, unproven_references text[], rechecks integer, rechecked integer, recheck_in_ms bigint, payment_reference text, refunded bigint, held boolean) LANGUAGE plpgsql AS 'BEGIN END';
CREATE FUNCTION urlmode.read_accounts(subject text, provider text DEFAULT NULL::text, account text DEFAULT NULL::text) RETURNS TABLE(provider_name text, account_id text, state text, reason text, scopes text[], requested text[], connected_at timestamptz, refreshed_at timestamptz, expires_at timestamptz, expires_in_ms bigint, lifetime_ms bigint, version bigint, tokens bytea) LANGUAGE plpgsql AS 'BEGIN END';
CREATE FUNCTION urlmode.read_exchange(id uuid, binding bytea) RETURNS text LANGUAGE plpgsql AS 'BEGIN END';
CREATE FUNCTION urlmode.record_events(ids uuid[], providers text[], identities text[], types text[], effects text[], amounts bigint[], currencies text[], refs text[], results bytea[], outcomes bytea[] DEFAULT NULL::bytea[], refunds text[] DEFAULT NULL::text[], checkouts text[] DEFAULT NULL::text[], requests text[] DEFAULT NULL::text[]) RETURNS TABLE(outcome text, mismatch text, elicitation uuid) LANGUAGE plpgsql AS 'BEGIN END';
CREATE FUNCTION urlmode.refunds(provider text DEFAULT NULL::text, since timestamptz DEFAULT NULL::timestamptz, id uuid DEFAULT NULL::uuid) RETURNS TABLE(elicitation uuid, provider_name text, reference text, amount bigint, currency text, reversed bigint, received_at timestamptz, changed_at timestamptz, payment text, paid bigint, refunded bigint, held boolean, claimed boolean, subject text, session text, resume_key text) LANGUAGE plpgsql AS 'BEGIN END';
CREATE FUNCTION urlmode.refuse_delete() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN END';
CREATE FUNCTION urlmode.refuse_user(e urlmode.elicitation, subject text, four_eyes boolean) RETURNS text LANGUAGE plpgsql AS 'BEGIN END';
CREATE FUNCTION urlmode.release_claim(id uuid, binding bytea, fence bigint) RETURNS boolean LANGUAGE plpgsql AS 'BEGIN END';
CREATE FUNCTION urlmode.rename_payment(provider text, before text, after text) RETURNS void LANGUAGE plpgsql AS 'BEGIN END';
CREATE FUNCTION urlmode.renew_claim(id uuid, binding bytea, fence bigint, lease_ms bigint) RETURNS boolean LANGUAGE plpgsql AS 'BEGIN END';
CREATE FUNCTION urlmode.reseal_account(subject text, provider text, account text, old bytea, tokens bytea) RETURNS boolean LANGUAGE plpgsql AS 'BEGIN END';
CREATE FUNCTION urlmode.resume(bindings bytea[], resume_keys text[], can_recheck boolean[] DEFAULT NULL::boolean[], requests bytea[] DEFAULT NULL::bytea[]) RETURNS TABLE(id uuid, provider text, kind text, status text, expires_at timestamptz, expires_in_ms bigint, link_kid smallint) LANGUAGE plpgsql AS 'BEGIN END';
CREATE FUNCTION urlmode.settle(id uuid, binding bytea, action text, reason text, result bytea, amount bigint DEFAULT NULL::bigint, currency text DEFAULT NULL::text, reference text DEFAULT NULL::text) RETURNS text LANGUAGE plpgsql AS 'BEGIN END';
CREATE FUNCTION urlmode.show_decisions(id uuid) RETURNS TABLE(decided_at timestamptz, reference text, decision text, refunded bigint, decided_by text, note text) LANGUAGE plpgsql AS 'BEGIN END';
CREATE FUNCTION urlmode.show_elicitation(id uuid) RETURNS TABLE(elicitation uuid, provider text, kind text, status text, action text, reason text, subject text, requester text, client_id text, traceparent text, resume_key text, expected jsonb, created_at timestamptz, opened_at timestamptz, expires_at timestamptz, closes_at timestamptz, completed_at timestamptz, completed_from text, claimed_at timestamptz, has_result boolean, exchange text, failed_attempts integer, refunds integer, event_type text, unproven_references text[], rechecks integer, rechecked integer, recheck_failures integer) LANGUAGE plpgsql AS 'BEGIN END';
CREATE FUNCTION urlmode.show_events(id uuid) RETURNS TABLE(received_at timestamptz, type text, action text, reference text, amount bigint, request text, identity text) LANGUAGE plpgsql AS 'BEGIN END';
CREATE FUNCTION urlmode.show_key(kid integer, sealed_until timestamptz) RETURNS TABLE(open bigint, open_until timestamptz, sealed bigint) LANGUAGE plpgsql AS 'BEGIN END';
CREATE FUNCTION urlmode.show_payments(id uuid) RETURNS TABLE(provider text, reference text, amount bigint, currency text, matches boolean, late boolean, proven_at timestamptz, leased_until timestamptz, fulfilled_at timestamptz, claimed_at timestamptz, refunded bigint, refunded_at timestamptz, held boolean) LANGUAGE plpgsql AS 'BEGIN END';
CREATE FUNCTION urlmode.show_refunds(id uuid) RETURNS TABLE(reference text, payment text, amount bigint, currency text, reversed bigint, received_at timestamptz, reversed_at timestamptz, unclear text, unclear_at timestamptz) LANGUAGE plpgsql AS 'BEGIN END';
CREATE FUNCTION urlmode.store_account(subject text, provider text, account text, scopes text[], requested text[], tokens bytea, expires_in_ms bigint DEFAULT NULL::bigint, elicitation uuid DEFAULT NULL::uuid, kept bigint DEFAULT NULL::bigint) RETURNS bigint LANGUAGE plpgsql AS 'BEGIN END';
CREATE FUNCTION urlmode.store_exchanged(id uuid, binding bytea, account text, scopes text[], requested text[], tokens bytea, expires_in_ms bigint DEFAULT NULL::bigint, kept bigint DEFAULT NULL::bigint) RETURNS boolean LANGUAGE plpgsql AS 'BEGIN END';
CREATE FUNCTION urlmode.stored_add(key text, amount bigint) RETURNS bigint LANGUAGE plpgsql AS 'BEGIN END';
CREATE FUNCTION urlmode.stored_clear() RETURNS void LANGUAGE plpgsql AS 'BEGIN END';
CREATE FUNCTION urlmode.stored_delete(keys text[]) RETURNS bigint LANGUAGE plpgsql AS 'BEGIN END';
CREATE FUNCTION urlmode.stored_expire(key text, ttl_ms bigint) RETURNS boolean LANGUAGE plpgsql AS 'BEGIN END';
CREATE FUNCTION urlmode.stored_get(keys text[]) RETURNS TABLE(value text, ttl_ms bigint) LANGUAGE plpgsql AS 'BEGIN END';
CREATE FUNCTION urlmode.stored_keys(pattern text) RETURNS SETOF text LANGUAGE plpgsql AS 'BEGIN END';
CREATE FUNCTION urlmode.stored_set(keys text[], vals text[], ttls_ms bigint[], conditions text[]) RETURNS bigint LANGUAGE plpgsql AS 'BEGIN END';
CREATE FUNCTION urlmode.supersede(ids uuid[]) RETURNS void LANGUAGE plpgsql AS 'BEGIN END';
CREATE FUNCTION urlmode.take_check(id uuid, binding bytea) RETURNS TABLE(lease integer, result bytea, left_ms bigint) LANGUAGE plpgsql AS 'BEGIN END';
CREATE FUNCTION urlmode.take_recheck(id uuid, binding bytea, lease_ms bigint) RETURNS TABLE(lease integer, rechecks integer, event_type text, unproven_references text[], expected jsonb) LANGUAGE plpgsql AS 'BEGIN END';
CREATE FUNCTION urlmode.take_signing_key(providers text[], lease_ms bigint) RETURNS TABLE(provider_name text, kid text) LANGUAGE plpgsql AS 'BEGIN END';
CREATE FUNCTION urlmode.take_unknown(ids uuid[], providers text[] DEFAULT NULL::text[], refs text[] DEFAULT NULL::text[]) RETURNS bigint LANGUAGE plpgsql AS 'BEGIN END';
CREATE FUNCTION urlmode.unclaimed(provider text DEFAULT NULL::text, since timestamptz DEFAULT NULL::timestamptz, id uuid DEFAULT NULL::uuid) RETURNS TABLE(elicitation uuid, provider_name text, reference text, amount bigint, currency text, matches boolean, late boolean, proven_at timestamptz, refunded bigint, held boolean, subject text, session text, binding bytea, resume_key text, action text, reason text, result bytea) LANGUAGE plpgsql AS 'BEGIN END';
CREATE FUNCTION urlmode.vault_keys() RETURNS TABLE(kid integer, accounts bigint) LANGUAGE plpgsql AS 'BEGIN END';
CREATE TRIGGER delete_events AFTER DELETE ON urlmode.elicitation REFERENCING OLD TABLE AS deleted FOR EACH STATEMENT EXECUTE FUNCTION urlmode.delete_events();
CREATE TRIGGER refuse_delete BEFORE DELETE ON urlmode.elicitation FOR EACH ROW EXECUTE FUNCTION urlmode.refuse_delete();
ALTER TABLE ONLY urlmode.lease ADD CONSTRAINT lease_elicitation_fkey FOREIGN KEY (elicitation) REFERENCES urlmode.elicitation(id) ON DELETE CASCADE;
ALTER TABLE ONLY urlmode.mcp_event ADD CONSTRAINT mcp_event_session_fkey FOREIGN KEY (session) REFERENCES urlmode.mcp_session(key) ON DELETE CASCADE;
INSERT INTO urlmode.migration (name) VALUES ('001_schema.sql'), ('002_elicitation.sql'), ('003_payment.sql'),
	('004_claim.sql'), ('005_retention.sql'), ('006_create.sql'), ('007_callback.sql'), ('008_event.sql'), ('009_wait.sql'),
	('010_client_request.sql'), ('011_mcp_session.sql'), ('012_storage.sql'), ('013_operator.sql'), ('014_vault.sql'),
	('015_unknown_event.sql'), ('016_form.sql'), ('017_signing_key.sql'), ('018_refund.sql');
INSERT INTO urlmode.purge_pass (kind) VALUES ('oauth'), ('payment'), ('signature'), ('input'), ('approval');
RESET ROLE;
