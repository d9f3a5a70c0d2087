-- The ledger: everything about money in one order, for servers that follow it; and whether
-- a user has paid for an item.
--
-- Entries are written by triggers of the tables that they are about, in the same
-- transaction: enter_payment, enter_change, enter_refund, enter_decision, enter_lease. No
-- other function needs to know of the ledger.
--
-- The order. An entry is written before its transaction commits, and transactions commit
-- in another order than they write. So a number that an entry gets when it is written is no
-- cursor: whoever has read up to 7 would never see a 6 that is committed later. Entries
-- therefore get their number from their first reader (number_ledger), who sees only
-- what is committed. Of each tenant one transaction numbers at a time: it takes a lock, and
-- looks only when it has it, so that it sees all that others have numbered, and continues
-- after it. Thus
--
--   numbers are committed in their order: none appears behind one that was seen
--   what was committed first is never after what was written because of it: of two entries
--     that one reader finds, that with the smaller id was written earlier
--   a long transaction delays its own entries, and no others
--   the entries of one tenant delay those of no other
--
-- Nothing depends on the numbers of transactions: the order is the same after pg_dump and
-- pg_restore into another cluster. A standby that is promoted has entries, numbers and
-- cursors of one moment: what the failover lost, it has lost of all three, and the
-- numbers that were lost are given again.
--
-- Consumers. A cursor is a row of ledger_consumer. One instance at a time reads for it,
-- under a lease: begin_ledger, read_ledger, acknowledge_ledger, end_ledger. An entry that
-- was read and not acknowledged comes again.

CREATE OR REPLACE FUNCTION urlmode.gone_back_of(p urlmode.payment) RETURNS bigint
LANGUAGE sql STABLE AS $$
	SELECT least(p.amount, coalesce(sum(urlmode.gone_back(r, p.amount)), 0))::bigint
	FROM urlmode.refund r
	WHERE r.provider = p.provider AND r.payment = p.reference AND coalesce(r.currency, p.currency) = p.currency
$$;
COMMENT ON FUNCTION urlmode.gone_back_of IS
	'Internal. How much of a payment all its refunds have taken back, as apply_refunds writes it into the '
	'payment.';

CREATE OR REPLACE FUNCTION urlmode.enter_of_payment(p urlmode.payment, type text) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
	INSERT INTO urlmode.ledger (tenant, type, kind, provider, elicitation, payment, checkout, amount, currency, refunded)
	VALUES (p.tenant, enter_of_payment.type, 'payment', p.provider, p.elicitation, p.reference, p.checkout, p.amount, p.currency, p.refunded);
END
$$;
COMMENT ON FUNCTION urlmode.enter_of_payment IS
	'Internal. Writes an entry of this type about a payment.';

CREATE OR REPLACE FUNCTION urlmode.enter_voided(p urlmode.payment) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
	IF p.refunded < p.amount AND (
		SELECT d.decision FROM urlmode.decision d
		WHERE d.provider = p.provider AND d.reference = p.reference ORDER BY d.decided_at DESC LIMIT 1
	) = 'voided' THEN
		PERFORM urlmode.enter_of_payment(p, 'voided');
	END IF;
END
$$;
COMMENT ON FUNCTION urlmode.enter_voided IS
	'Internal. Enters once more that a payment is voided, after an entry that says that a part of '
	'it is left: its last entry says how it stands.';

CREATE OR REPLACE FUNCTION urlmode.enter_state(p urlmode.payment) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
	PERFORM urlmode.enter_of_payment(p, CASE WHEN p.held THEN 'held' WHEN p.refunded_at IS NULL THEN 'released' ELSE 'voided' END);
END
$$;
COMMENT ON FUNCTION urlmode.enter_state IS
	'Internal. Enters how a payment stands, where no other entry says it: it has another reference '
	'now, or what went back is of another one.';

CREATE OR REPLACE FUNCTION urlmode.enter_of_refund(r urlmode.refund, type text) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
	p urlmode.payment;
BEGIN
	SELECT * INTO p FROM urlmode.payment x WHERE x.provider = r.provider AND x.reference = r.payment;
	-- A refund of a payment that was never proved is the end of an attempt that failed.
	IF p.reference IS NULL AND NOT urlmode.has_no_payment(r) THEN
		RETURN;
	END IF;
	INSERT INTO urlmode.ledger (tenant, type, kind, provider, elicitation, payment, checkout, reference,
		amount, currency, refunded, status, occurred_at, evidence_due_at)
	SELECT coalesce(p.tenant, e.tenant, r.tenant, ''), enter_of_refund.type, r.kind, r.provider,
		coalesce(p.elicitation, CASE WHEN cardinality(r.elicitations) = 1 THEN r.elicitations[1] END), p.reference,
		CASE WHEN p.reference IS NULL THEN coalesce(r.payment, e.checkout) ELSE p.checkout END, r.reference,
		CASE WHEN enter_of_refund.type IN ('refund_reversed', 'dispute_won') THEN coalesce(r.reversed, r.amount, p.amount)
			ELSE coalesce(r.amount, p.amount) END,
		coalesce(r.currency, p.currency), CASE WHEN p.reference IS NOT NULL THEN urlmode.gone_back_of(p) END,
		r.state, r.occurred_at, r.evidence_due_at
	FROM (SELECT) one LEFT JOIN urlmode.elicitation e ON e.id = r.elicitations[1];
	IF p.reference IS NOT NULL THEN
		p.refunded := urlmode.gone_back_of(p);
		PERFORM urlmode.enter_voided(p);
	END IF;
	PERFORM urlmode.notify(ARRAY(
		SELECT urlmode.notification(u.id, coalesce(e.status::text, 'completed'), refunded => true)
		FROM unnest(CASE WHEN p.reference IS NULL THEN r.elicitations ELSE ARRAY[p.elicitation] END) AS u (id)
		LEFT JOIN urlmode.elicitation e ON e.id = u.id
	));
END
$$;
COMMENT ON FUNCTION urlmode.enter_of_refund IS
	'Internal. Writes an entry of this type about a refund or a dispute, and announces it: whoever '
	'listens for refunds hears of each.';

CREATE OR REPLACE FUNCTION urlmode.types_of_refund(r urlmode.refund) RETURNS text[]
LANGUAGE sql STABLE AS $$
	SELECT array_remove(ARRAY[
		CASE WHEN r.refunded_at IS NOT NULL THEN CASE r.kind WHEN 'dispute' THEN 'disputed' ELSE 'refunded' END END,
		CASE WHEN r.reversed_at IS NOT NULL OR r.ended = 'won' THEN CASE r.kind WHEN 'dispute' THEN 'dispute_won' ELSE 'refund_reversed' END END,
		CASE WHEN r.ended = 'lost' THEN 'dispute_lost' END
	], NULL)
$$;
COMMENT ON FUNCTION urlmode.types_of_refund IS
	'Internal. The types of the entries that say what is known of a refund or dispute, in their '
	'order.';

CREATE OR REPLACE FUNCTION urlmode.enter_delivered(p urlmode.payment) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
	INSERT INTO urlmode.ledger (tenant, type, kind, provider, elicitation, payment, checkout, reference, amount, currency, refunded)
	VALUES (p.tenant, 'delivered', CASE p.claim_end WHEN 'refunded' THEN 'refund' ELSE 'payment' END, p.provider, p.elicitation,
		p.reference, p.checkout, p.claim_refund, p.amount, p.currency, p.refunded);
END
$$;
COMMENT ON FUNCTION urlmode.enter_delivered IS
	'Internal. Enters that a claim has had its last end, and which.';

CREATE OR REPLACE FUNCTION urlmode.enter_payment() RETURNS trigger
LANGUAGE plpgsql AS $$
BEGIN
	PERFORM urlmode.enter_of_payment(NEW, CASE WHEN NOT NEW.matches THEN 'mismatched' WHEN NEW.late THEN 'late' ELSE 'paid' END);
	-- Of a new payment nobody has decided anything.
	IF TG_OP = 'UPDATE' THEN
		-- It was delivered for a part, and is not offered again.
		IF NEW.claimed_at IS NOT NULL AND NOT OLD.matches THEN
			PERFORM urlmode.enter_delivered(NEW);
		END IF;
		PERFORM urlmode.enter_voided(NEW);
	END IF;
	-- Nearly no payment has a refund, and this is a third of what it costs to read them.
	PERFORM FROM urlmode.refund r
	WHERE r.provider = NEW.provider AND (r.payment = NEW.reference OR r.elicitations @> ARRAY[NEW.elicitation]);
	IF NOT FOUND THEN
		RETURN NULL;
	END IF;
	-- What was told before, or changes with the amount. One that names another payment may be of this one, if that is not known.
	PERFORM urlmode.enter_of_refund(r, t.type)
	FROM urlmode.refund r CROSS JOIN LATERAL unnest(urlmode.types_of_refund(r)) WITH ORDINALITY AS t (type, n)
	WHERE r.provider = NEW.provider AND (r.payment = NEW.reference
		OR r.payment IS NOT NULL AND r.elicitations @> ARRAY[NEW.elicitation] AND urlmode.may_be_of(r, NEW))
	ORDER BY r.received_at, r.reference, t.n;
	RETURN NULL;
END
$$;
COMMENT ON FUNCTION urlmode.enter_payment IS
	'Internal. Enters a payment, or more of one, into the ledger, and what went back of it.';

CREATE OR REPLACE FUNCTION urlmode.entered_back(p urlmode.payment) RETURNS bigint
LANGUAGE sql STABLE AS $$
	SELECT l.refunded FROM urlmode.ledger l
	WHERE l.provider = p.provider AND l.payment = p.reference ORDER BY l.id DESC LIMIT 1
$$;
COMMENT ON FUNCTION urlmode.entered_back IS
	'Internal. How much of a payment has gone back, by its last entry.';

CREATE OR REPLACE FUNCTION urlmode.enter_change() RETURNS trigger
LANGUAGE plpgsql AS $$
DECLARE
	told record;
BEGIN
	IF OLD.claimed_at IS NULL AND NEW.claimed_at IS NOT NULL THEN
		SELECT l.type INTO told FROM urlmode.ledger l
		WHERE l.provider = NEW.provider AND l.payment IN (NEW.reference, NEW.checkout) AND l.type IN ('claimed', 'delivered')
		ORDER BY l.id DESC LIMIT 1;
		-- A claim with both ends at once.
		IF told.type IS DISTINCT FROM 'claimed' THEN
			PERFORM urlmode.enter_of_payment(NEW, 'claimed');
		END IF;
		PERFORM urlmode.enter_delivered(NEW);
	END IF;
	IF NEW.held AND NOT OLD.held THEN
		PERFORM urlmode.enter_of_payment(NEW, 'held');
	ELSIF OLD.held AND NOT NEW.held AND NEW.refunded_at IS NULL THEN
		PERFORM urlmode.enter_of_payment(NEW, 'released');
	-- What went back is of another payment, or nobody knows any more of which.
	ELSIF OLD.refunded <> NEW.refunded AND urlmode.entered_back(NEW) IS DISTINCT FROM NEW.refunded THEN
		PERFORM urlmode.enter_state(NEW);
	END IF;
	RETURN NULL;
END
$$;
COMMENT ON FUNCTION urlmode.enter_change IS
	'Internal. Enters what becomes of payments into the ledger.';

CREATE OR REPLACE FUNCTION urlmode.enter_refund() RETURNS trigger
LANGUAGE plpgsql AS $$
DECLARE
	known CONSTANT text[] := urlmode.types_of_refund(NEW);
	before text[] := '{}';
	is_told_again boolean := true;
	has_gone boolean := false;
	type text;
BEGIN
	IF TG_OP = 'UPDATE' THEN
		before := urlmode.types_of_refund(OLD);
		is_told_again := (OLD.amount, OLD.currency) IS DISTINCT FROM (NEW.amount, NEW.currency)
			-- It may be of one more.
			OR cardinality(OLD.elicitations) < cardinality(NEW.elicitations) AND NOT EXISTS (
				SELECT FROM urlmode.payment p WHERE p.provider = NEW.provider AND p.reference = NEW.payment
			)
			-- A dispute that was reinstated, and is withdrawn again.
			OR OLD.reversed_at IS NOT NULL AND NEW.reversed_at IS NULL
			-- How a dispute stands, unless another entry says it.
			OR 'disputed' = ANY (known) AND known <@ before AND (OLD.state, OLD.evidence_due_at) IS DISTINCT FROM (NEW.state, NEW.evidence_due_at);
	END IF;
	FOREACH type IN ARRAY known LOOP
		-- What came again is said after what went back, each time: of the two, the last one counts.
		IF type <> ALL (before) OR OLD.payment IS DISTINCT FROM NEW.payment OR type IN ('refunded', 'disputed') AND is_told_again
			OR type IN ('refund_reversed', 'dispute_won') AND (has_gone OR OLD.reversed IS DISTINCT FROM NEW.reversed)
		THEN
			has_gone := has_gone OR type IN ('refunded', 'disputed');
			PERFORM urlmode.enter_of_refund(NEW, type);
		END IF;
	END LOOP;
	RETURN NULL;
END
$$;
COMMENT ON FUNCTION urlmode.enter_refund IS
	'Internal. Enters what went back, and what came again, into the ledger.';

CREATE OR REPLACE FUNCTION urlmode.enter_decision() RETURNS trigger
LANGUAGE plpgsql AS $$
BEGIN
	-- The release of one that is held changes the payment itself, and so does the end of a claim.
	PERFORM urlmode.enter_of_payment(p, NEW.decision) FROM urlmode.payment p
	WHERE p.provider = NEW.provider AND p.reference = NEW.reference AND NEW.decision <> 'refunded'
		AND NOT (NEW.decision = 'released' AND p.held);
	RETURN NULL;
END
$$;
COMMENT ON FUNCTION urlmode.enter_decision IS
	'Internal. Enters what the operator decides into the ledger.';

CREATE OR REPLACE FUNCTION urlmode.enter_lease() RETURNS trigger
LANGUAGE plpgsql AS $$
BEGIN
	PERFORM urlmode.enter_of_payment(p, 'claimed') FROM urlmode.payment p
	WHERE p.elicitation = NEW.elicitation AND p.reference = NEW.reference;
	RETURN NULL;
END
$$;
COMMENT ON FUNCTION urlmode.enter_lease IS
	'Internal. Enters that a call has begun to act on a payment into the ledger.';

DO $$
BEGIN
	IF EXISTS (SELECT FROM pg_trigger t WHERE t.tgname = 'enter_payment' AND t.tgrelid = 'urlmode.payment'::regclass) THEN
		RETURN;
	END IF;
	CREATE TRIGGER enter_payment AFTER INSERT ON urlmode.payment
		FOR EACH ROW EXECUTE FUNCTION urlmode.enter_payment();
	CREATE TRIGGER enter_more AFTER UPDATE ON urlmode.payment
		FOR EACH ROW WHEN (OLD.amount <> NEW.amount OR OLD.matches <> NEW.matches OR OLD.currency <> NEW.currency)
		EXECUTE FUNCTION urlmode.enter_payment();
	CREATE TRIGGER enter_change AFTER UPDATE ON urlmode.payment
		FOR EACH ROW WHEN (OLD.refunded <> NEW.refunded OR OLD.held <> NEW.held OR OLD.claimed_at IS NULL AND NEW.claimed_at IS NOT NULL)
		EXECUTE FUNCTION urlmode.enter_change();
	CREATE TRIGGER enter_refund AFTER INSERT OR UPDATE ON urlmode.refund
		FOR EACH ROW EXECUTE FUNCTION urlmode.enter_refund();
	CREATE TRIGGER enter_decision AFTER INSERT ON urlmode.decision
		FOR EACH ROW EXECUTE FUNCTION urlmode.enter_decision();
	CREATE TRIGGER enter_lease AFTER INSERT ON urlmode.lease
		FOR EACH ROW WHEN (NEW.reference <> '') EXECUTE FUNCTION urlmode.enter_lease();

	-- What was there before the ledger, in the order of its times. Nothing else writes meanwhile.
	UPDATE urlmode.payment p SET subject = e.subject, item = e.item, tenant = e.tenant
	FROM urlmode.elicitation e WHERE e.id = p.elicitation;
	INSERT INTO urlmode.ledger (entered_at, tenant, type, kind, provider, elicitation, payment, checkout, reference, amount, currency, refunded)
	SELECT x.at, p.tenant, x.type, x.kind, p.provider, p.elicitation, p.reference, p.checkout, x.reference,
		coalesce(x.amount, p.amount), coalesce(x.currency, p.currency), CASE x.n WHEN 1 THEN 0 ELSE p.refunded END
	FROM urlmode.payment p
	CROSS JOIN LATERAL (
		SELECT p.proven_at AS at, 1 AS n, CASE WHEN NOT p.matches THEN 'mismatched' WHEN p.late THEN 'late' ELSE 'paid' END AS type,
			'payment' AS kind, NULL::text AS reference, NULL::bigint AS amount, NULL::text AS currency
		UNION ALL SELECT p.claimed_at, t.n, t.type, 'payment', NULL, NULL, NULL FROM (VALUES (2, 'claimed'), (3, 'delivered')) AS t (n, type)
		WHERE p.claimed_at IS NOT NULL
		UNION ALL SELECT greatest(l.ends_at, p.proven_at), 2, 'claimed', 'payment', NULL, NULL, NULL FROM urlmode.lease l
		WHERE l.elicitation = p.elicitation AND l.reference = p.reference AND l.ends_at < 'infinity'
		UNION ALL SELECT greatest(r.refunded_at, p.proven_at), 4, 'refunded', 'refund', r.reference::text, r.amount, r.currency::text FROM urlmode.refund r
		WHERE r.provider = p.provider AND r.payment = p.reference AND r.refunded_at IS NOT NULL
		UNION ALL SELECT greatest(r.reversed_at, p.proven_at), 5, 'refund_reversed', 'refund', r.reference::text, coalesce(r.reversed, r.amount), r.currency::text
		FROM urlmode.refund r WHERE r.provider = p.provider AND r.payment = p.reference AND r.reversed_at IS NOT NULL
		UNION ALL SELECT d.decided_at, 6, d.decision, 'payment', NULL, NULL, NULL FROM urlmode.decision d
		WHERE d.provider = p.provider AND d.reference = p.reference
		UNION ALL SELECT now(), 7, 'held', 'payment', NULL, NULL, NULL WHERE p.held
	) x
	WHERE x.at > now() - interval '400 days'
	ORDER BY x.at, p.provider, p.reference, x.n;
END
$$;
COMMENT ON TRIGGER enter_payment ON urlmode.payment IS 'Enters payments into the ledger.';
COMMENT ON TRIGGER enter_more ON urlmode.payment IS 'Enters more of a payment into the ledger.';
COMMENT ON TRIGGER enter_change ON urlmode.payment IS 'Enters what becomes of payments into the ledger.';
COMMENT ON TRIGGER enter_refund ON urlmode.refund IS 'Enters refunds and disputes into the ledger.';
COMMENT ON TRIGGER enter_decision ON urlmode.decision IS 'Enters decisions of the operator into the ledger.';
COMMENT ON TRIGGER enter_lease ON urlmode.lease IS 'Enters claims of payments into the ledger.';

CREATE OR REPLACE FUNCTION urlmode.number_ledger(tenant text DEFAULT '') RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
	last bigint;
BEGIN
	-- Nearly always there is nothing.
	IF NOT EXISTS (SELECT FROM urlmode.ledger l WHERE l.tenant = number_ledger.tenant AND l.number IS NULL) THEN
		RETURN;
	END IF;
	PERFORM pg_advisory_xact_lock(hashtextextended('urlmode ledger ' || number_ledger.tenant, 0));
	-- Where all entries were purged, the cursors still have the last numbers.
	last := greatest(0, (SELECT max(l.number) FROM urlmode.ledger l WHERE l.tenant = number_ledger.tenant AND l.number IS NOT NULL),
		(SELECT max(c.number) FROM urlmode.ledger_consumer c WHERE c.tenant = number_ledger.tenant));
	UPDATE urlmode.ledger l SET number = last + x.n
	FROM (
		SELECT o.id, row_number() OVER (ORDER BY o.id) AS n
		FROM (
			SELECT u.id FROM urlmode.ledger u WHERE u.tenant = number_ledger.tenant AND u.number IS NULL ORDER BY u.id LIMIT 1000
		) o
	) x
	WHERE l.id = x.id;
END
$$;
COMMENT ON FUNCTION urlmode.number_ledger IS
	'Internal. Gives the entries of this tenant that are committed and have no number its next '
	'ones, in the order in which they were written; at most 1000.';

CREATE OR REPLACE FUNCTION urlmode.max_consumers() RETURNS integer
LANGUAGE sql IMMUTABLE AS $$
	SELECT 100
$$;
COMMENT ON FUNCTION urlmode.max_consumers IS
	'Internal. How many consumers the ledger of a tenant has at most.';

CREATE OR REPLACE FUNCTION urlmode.add_consumer(tenant text, consumer text) RETURNS boolean
LANGUAGE plpgsql AS $$
BEGIN
	IF EXISTS (SELECT FROM urlmode.ledger_consumer c WHERE c.tenant = add_consumer.tenant AND c.consumer = add_consumer.consumer) THEN
		RETURN true;
	END IF;
	IF (SELECT count(*) FROM urlmode.ledger_consumer c WHERE c.tenant = add_consumer.tenant) >= urlmode.max_consumers() THEN
		RETURN false;
	END IF;
	INSERT INTO urlmode.ledger_consumer (tenant, consumer) VALUES (add_consumer.tenant, add_consumer.consumer) ON CONFLICT DO NOTHING;
	RETURN true;
END
$$;
COMMENT ON FUNCTION urlmode.add_consumer IS
	'Internal. Makes a consumer that is not there yet. False: the tenant has as many as it may have.';

CREATE OR REPLACE FUNCTION urlmode.begin_ledger(consumer text, lease_ms bigint, tenant text DEFAULT '')
RETURNS TABLE (lease bigint, wait_ms bigint)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
	row urlmode.ledger_consumer;
BEGIN
	IF NOT urlmode.add_consumer(tenant, consumer) THEN
		RAISE program_limit_exceeded USING MESSAGE = format(
			'the ledger has %s consumers: each name is kept until nobody has read with it for 400 days', urlmode.max_consumers());
	END IF;
	SELECT * INTO row FROM urlmode.ledger_consumer c
	WHERE c.tenant = begin_ledger.tenant AND c.consumer = begin_ledger.consumer FOR UPDATE;
	IF row.leased_until > clock_timestamp() THEN
		wait_ms := ceil(extract(epoch FROM row.leased_until - clock_timestamp()) * 1000);
	ELSE
		lease := greatest(extract(epoch FROM clock_timestamp()) * 1000000, row.lease + 1);
		UPDATE urlmode.ledger_consumer c
		SET lease = begin_ledger.lease, leased_until = clock_timestamp() + lease_ms * interval '1 millisecond', read_at = now()
		WHERE c.tenant = row.tenant AND c.consumer = row.consumer;
	END IF;
	RETURN NEXT;
END
$$;
COMMENT ON FUNCTION urlmode.begin_ledger IS
	'Begins to read the ledger for a consumer, for lease_ms milliseconds. A new consumer begins at '
	'the oldest entry. lease: for what follows; NULL: another instance reads for this consumer, '
	'for wait_ms milliseconds at most, unless it goes on. program_limit_exceeded: the tenant has as '
	'many consumers as it may have.';

CREATE OR REPLACE FUNCTION urlmode.read_ledger_since(consumer text, lease bigint, since timestamptz, most integer, tenant text)
RETURNS TABLE (
	number bigint, entered_at timestamptz, entry_type text, kind text, provider text, elicitation uuid, subject text, item text,
	payment text, checkout text, reference text, amount bigint, currency text, refunded bigint,
	status text, occurred_at timestamptz, evidence_due_at timestamptz
)
LANGUAGE plpgsql AS $$
DECLARE
	after bigint;
BEGIN
	SELECT c.number INTO after FROM urlmode.ledger_consumer c
	WHERE c.tenant = read_ledger_since.tenant AND c.consumer = read_ledger_since.consumer AND c.lease = read_ledger_since.lease;
	IF after IS NULL THEN
		RETURN;
	END IF;
	PERFORM urlmode.number_ledger(read_ledger_since.tenant);
	RETURN QUERY
	SELECT l.number, l.entered_at, l.type, l.kind, l.provider::text, CASE WHEN p.entitlement IS DISTINCT FROM l.elicitation THEN l.elicitation END,
		coalesce(p.subject, e.subject)::text, coalesce(p.item, e.item)::text,
		l.payment::text, l.checkout::text, coalesce(l.reference, l.payment)::text, l.amount, l.currency::text, l.refunded,
		l.status, l.occurred_at, l.evidence_due_at
	FROM urlmode.ledger l
	LEFT JOIN LATERAL (SELECT x.subject, x.item, x.entitlement FROM urlmode.payment x WHERE x.elicitation = l.elicitation LIMIT 1) p ON true
	LEFT JOIN urlmode.elicitation e ON e.id = l.elicitation
	WHERE l.tenant = read_ledger_since.tenant AND l.number > after AND (since IS NULL OR l.entered_at >= since)
	ORDER BY l.number LIMIT least(greatest(most, 1), 100);
END
$$;
COMMENT ON FUNCTION urlmode.read_ledger_since IS
	'Internal. What read_ledger returns, without what was entered before a time. Whoever acknowledges '
	'a later entry has done with what was left out.';

CREATE OR REPLACE FUNCTION urlmode.read_ledger(consumer text, lease bigint, most integer DEFAULT 100, tenant text DEFAULT '')
RETURNS TABLE (
	number bigint, entered_at timestamptz, entry_type text, kind text, provider text, elicitation uuid, subject text, item text,
	payment text, checkout text, reference text, amount bigint, currency text, refunded bigint,
	status text, occurred_at timestamptz, evidence_due_at timestamptz
)
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
	SELECT * FROM urlmode.read_ledger_since(consumer, lease, NULL, most, tenant)
$$;
COMMENT ON FUNCTION urlmode.read_ledger IS
	'The entries of the ledger after the cursor of a consumer, in their order, at most `most` and '
	'100. Those that are not acknowledged are returned again. No row: there is no entry yet, or '
	'this lease has ended and another instance reads. number: for acknowledge_ledger. subject, '
	'item: NULL where nobody has said, or the user was forgotten. The other columns are those of '
	'urlmode.ledger; reference is that of the payment where the row has no other.';

CREATE OR REPLACE FUNCTION urlmode.acknowledge_ledger(consumer text, lease bigint, number bigint, lease_ms bigint, tenant text DEFAULT '')
RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
	-- If a crash loses it, the entry comes again.
	PERFORM set_config('synchronous_commit', 'off', true);
	UPDATE urlmode.ledger_consumer c
	SET number = greatest(c.number, acknowledge_ledger.number), leased_until = clock_timestamp() + lease_ms * interval '1 millisecond'
	WHERE c.tenant = acknowledge_ledger.tenant AND c.consumer = acknowledge_ledger.consumer AND c.lease = acknowledge_ledger.lease;
	RETURN FOUND;
END
$$;
COMMENT ON FUNCTION urlmode.acknowledge_ledger IS
	'Moves the cursor of a consumer to this number, or leaves it where number is NULL, and '
	'makes its lease last for lease_ms milliseconds from now. False: another instance has begun '
	'since.';

CREATE OR REPLACE FUNCTION urlmode.end_ledger(consumer text, lease bigint, tenant text DEFAULT '')
RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
	UPDATE urlmode.ledger_consumer c SET leased_until = NULL
	WHERE c.tenant = end_ledger.tenant AND c.consumer = end_ledger.consumer AND c.lease = end_ledger.lease;
	RETURN FOUND;
END
$$;
COMMENT ON FUNCTION urlmode.end_ledger IS
	'Another instance can read for this consumer at once. False: one has begun already.';

CREATE OR REPLACE FUNCTION urlmode.purge_ledger(batch integer) RETURNS bigint
LANGUAGE plpgsql AS $$
DECLARE
	taken bigint;
BEGIN
	DELETE FROM urlmode.ledger d WHERE d.id = ANY (ARRAY(
		SELECT o.id FROM (SELECT l.id, l.entered_at FROM urlmode.ledger l ORDER BY l.id LIMIT batch) o
		WHERE o.entered_at <= now() - interval '400 days'
	));
	GET DIAGNOSTICS taken = ROW_COUNT;
	DELETE FROM urlmode.ledger_consumer c
	WHERE c.read_at <= now() - interval '400 days' AND (c.leased_until > now()) IS NOT TRUE;
	RETURN taken;
END
$$;
COMMENT ON FUNCTION urlmode.purge_ledger IS
	'Internal. Deletes entries that are older than 400 days, at most `batch`, and forgets the '
	'consumers that nobody has read with since. Returns how many entries.';

CREATE OR REPLACE FUNCTION urlmode.counts_as_paid(p urlmode.payment, delivered boolean) RETURNS boolean
LANGUAGE sql IMMUTABLE AS $$
	SELECT p.refunded_at IS NULL AND CASE
		WHEN delivered THEN p.claimed_at IS NOT NULL AND CASE p.claim_end WHEN 'delivered' THEN true WHEN 'refunded' THEN false ELSE p.matches END
		ELSE p.matches AND p.claim_end IS DISTINCT FROM 'refunded' AND (p.claimed_at IS NOT NULL OR NOT p.held)
	END
$$;
COMMENT ON FUNCTION urlmode.counts_as_paid IS
	'Internal. Whether its item is paid for by this payment, as urlmode.paid says it, or with '
	'delivered as urlmode.delivered does.';

CREATE OR REPLACE FUNCTION urlmode.paid(subject text, item text, since timestamptz DEFAULT NULL, tenant text DEFAULT '')
RETURNS boolean
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
	SELECT EXISTS (
		SELECT FROM urlmode.payment p
		WHERE p.subject = paid.subject AND p.item = paid.item AND p.tenant = paid.tenant AND urlmode.counts_as_paid(p, false)
			AND (paid.since IS NULL OR p.proven_at >= paid.since)
	)
$$;
COMMENT ON FUNCTION urlmode.paid IS
	'Whether this user has paid for this item, since a time: a payment that was as expected, and '
	'that did not go back as a whole, by refunds and disputes, was not voided, and whose claim has '
	'not ended as refunded. One that is held counts once a call has claimed it.';

CREATE OR REPLACE FUNCTION urlmode.delivered(subject text, item text, since timestamptz DEFAULT NULL, tenant text DEFAULT '')
RETURNS boolean
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
	SELECT EXISTS (
		SELECT FROM urlmode.payment p
		WHERE p.subject = delivered.subject AND p.item = delivered.item AND p.tenant = delivered.tenant AND urlmode.counts_as_paid(p, true)
			AND (delivered.since IS NULL OR p.proven_at >= delivered.since)
	)
$$;
COMMENT ON FUNCTION urlmode.delivered IS
	'Whether this user has paid for this item, and a claim of the payment has had its last end: as '
	'urlmode.paid, without what no call has claimed. What does not match counts if its claim has '
	'ended as delivered.';

GRANT EXECUTE ON FUNCTION
	urlmode.begin_ledger, urlmode.read_ledger, urlmode.acknowledge_ledger, urlmode.end_ledger, urlmode.paid, urlmode.delivered
TO :"server";
