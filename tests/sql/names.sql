-- A payment may have two names: an invoice, and the payment with which it was paid. An event says that both are the same, and what goes back under
-- the other name is of this payment.

CREATE FUNCTION named(reference text, also text, provider text DEFAULT NULL) RETURNS text LANGUAGE sql AS $$
	SELECT test.event(NULL, 'named', ref => reference, details => jsonb_build_object('also', also), provider => provider)
$$;
SELECT make(1), pay(1, 'in_1'), named('in_1', 'pi_1'), back(NULL, '4.00 EUR', 'pi_1', 're_1'), payments(1), back(NULL, '6.00 EUR', 'pi_1', 're_2'), payments(1);
SELECT n, reference, payment FROM refunds(of_one => 1);
SELECT again(NULL, '6.00 EUR', 'pi_1', 're_2'), payments(1), named('in_1', 'pi_1'), payments(1);
-- The three events come in any order, with and without the elicitation in what goes back, and twice.
CREATE FUNCTION tell(n integer, what integer, named boolean) RETURNS text LANGUAGE sql AS $$
	SELECT CASE what
		WHEN 1 THEN test.pay(n, 'in_' || n, checkout => 'cs_' || n)
		WHEN 2 THEN test.named('in_' || n, 'pi_' || n)
		WHEN 3 THEN test.back(CASE WHEN named THEN n END, '10.00 EUR', 'pi_' || n, 're_' || n)
	END
$$;
SELECT count(*), min(p.is), max(p.is) FROM (
	SELECT make(10 + o.number::integer), tell(10 + o.number::integer, a, named), tell(10 + o.number::integer, b, named), tell(10 + o.number::integer, c, named), tell(10 + o.number::integer, a, named),
		replace(payments(10 + o.number::integer), (10 + o.number)::text, 'N') AS is
	FROM (
		SELECT row_number() OVER () AS number, a, b, c, named FROM generate_series(1, 3) a, generate_series(1, 3) b, generate_series(1, 3) c, unnest('{true,false}'::boolean[]) named
		WHERE a <> b AND b <> c AND a <> c
	) o
) p;
-- A total, and what the operator has decided, keep their meaning.
SELECT make(30), pay(30, 'in_30'), back(NULL, '4.00 EUR', 'in_30'), named('in_30', 'pi_30'), back(NULL, '5.00 EUR', 'pi_30'), payments(30), decide('in_30', 'released'), payments(30), back(NULL, '10.00 EUR', 'pi_30'), payments(30);
-- A dispute names it as well. A payment that is known by that name itself has no other.
SELECT make(31), pay(31, 'in_31'), named('in_31', 'pi_31'), told(31, 'disputed', 'pi_31', 'dp_31', 1, state => 'needs_response'), told(NULL, 'refunded', 'pi_31', 'dp_31', 2), payments(31);
SELECT make(32), pay(32, 'pi_32'), named('in_32', 'pi_32'), back(NULL, '10.00 EUR', 'pi_32', 're_32'), payments(32), (SELECT count(*) FROM urlmode.payment_name WHERE name = 'pi_32') AS names;
-- Names of another provider are others.
SELECT make(33), pay(33, 'in_33'), named('in_33', 'pi_33', 'other'), back(NULL, '10.00 EUR', 'pi_33', 're_33'), payments(33);
-- In a batch each sees the one before it.
SELECT make(34), make(35);
SELECT * FROM events('[{"n": 34, "effect": "paid", "price": "10.00 EUR", "ref": "in_34"}, {"effect": "named", "ref": "in_34", "details": {"also": "pi_34"}}, {"effect": "refunded", "price": "1.00 EUR", "ref": "pi_34", "refund": "re_34"}]');
SELECT * FROM events('[{"effect": "refunded", "price": "1.00 EUR", "ref": "pi_35", "refund": "re_35"}, {"effect": "named", "ref": "in_35", "details": {"also": "pi_35"}}, {"n": 35, "effect": "paid", "price": "10.00 EUR", "ref": "in_35"}]');
SELECT payments(34), payments(35);
-- What says less names nothing.
SELECT event(NULL, 'named', ref => 'in_36'), named(NULL, 'pi_36'), (SELECT count(*) FROM urlmode.payment_name WHERE name = 'pi_36') AS names;
-- The names of payments that are not known are kept for thirty days, and the others as long as the payment.
SELECT named('foreign', 'pi_foreign'), pass('29 days'), purge(kind => 'stored') > 0;
SELECT count(*) FROM urlmode.payment_name WHERE reference = 'foreign';
SELECT pass('2 days'), purge(kind => 'stored') > 0;
SELECT count(*) FROM urlmode.payment_name WHERE reference = 'foreign';
SELECT pass('300 days'), purge(kind => 'stored') IS NOT NULL, back(NULL, '10.00 EUR', 'pi_34', 're_34'), payments(34);
