// Mistakes in the SQL of subscriptions, which their histories must find (mistakes.mjs).

import { testMistakes } from './mistakes.mjs';
import { makeHistory } from './subscription-history.mjs';
import { openStage, run } from './subscription-runner.mjs';

const MISTAKES = {
	'an older event changes the status': { keep_subscription: ['AND (at, urlmode.status_rank(said.status)) > (x.status_at, coalesce(urlmode.status_rank(x.status), 0)) AS status', 'AS status'] },
	'of two statuses of the same time the first counts': { status_rank: ['array_position(', '0 * array_position('] },
	'an older event changes the end of the period': { keep_subscription: ["AND (at, coalesce(said.until, '-infinity')) > (x.until_at, coalesce(x.until, '-infinity'))", ''] },
	'an older event cancels': { keep_subscription: ["AND (at, coalesce(said.cancel_at, '-infinity')) > (x.cancel_known_at, coalesce(x.cancel_at, '-infinity'))", ''] },
	'an older event pauses': { keep_subscription: ['AND (at, said.paused) > (x.paused_at, x.paused)', ''] },
	'a renewal before the first payment is lost': { keep_subscription: ['SET waiting = e.waiting || jsonb_build_object(ref, renewal)', 'SET waiting = e.waiting'] },
	'a renewal before the subscription is linked is lost': { find_subscription: ['PERFORM urlmode.take_waiting(named.id)', 'NULL'] },
	'what waited is not taken with the first payment': { open_entitlements: ['PERFORM urlmode.take_waiting(opened)', 'NULL'] },
	'what was told before the first payment is another subscription': { open_entitlements: ['x.first_payment IN (this.reference, this.checkout)', 'false'] },
	'the first payment is left to be claimed': { open_entitlements: ['SET entitlement = opened, claimed_at = coalesce(p.claimed_at, now())', 'SET entitlement = opened'] },
	'a renewal is left to be claimed': { keep_renewal: ['claimed_at = coalesce(p.claimed_at, now()), ', ''] },
	'a renewal has no time': { keep_renewal: ["to_timestamp((told ->> 'at_ms')::numeric / 1000)", 'NULL'] },
	'what went back before its renewal was told is lost': { keep_renewal: ['PERFORM urlmode.claim_unmatched(NULL, ARRAY[provider], ARRAY[renewal])', 'NULL'] },
	'the payments of what becomes one are lost': { find_subscription: ['UPDATE urlmode.payment p SET entitlement = named.id WHERE p.entitlement = paid.id;', ''] },
	'a checkout that is paid twice has one subscription': { keep_subscription: ['p.reference IS DISTINCT FROM ref, ', ''] },
	'what names neither an elicitation nor a payment is lost': { find_subscription: ['ELSIF NOT EXISTS', 'ELSIF (first_payment IS NOT NULL OR elicitation IS NOT NULL) AND NOT EXISTS'] },
	'a refund does not end it': { entitlement_status: ['p.refunded_at IS NOT NULL FROM', 'false FROM'] },
	'a refund of what was paid long ago ends it': { entitlement_status: ['ORDER BY p.paid_at DESC NULLS LAST', 'ORDER BY p.paid_at NULLS FIRST'] },
	'a renewal is never late': { entitlement_status: ['+ e.late <= now()', '<= now()'] },
	'it is active for ever': { entitlement_status: ["+ e.late <= now() THEN 'past_due'", "+ e.late <= now() THEN 'active'"] },
	'what is paused may be used': { entitlement_status: ['OR e.paused OR', 'OR'] },
	'what is cancelled is used beyond its end': { entitlement_status: ["OR e.cancel_at <= now() THEN 'ended'", "THEN 'ended'"] },
	'the worst of several counts': { entitlements: ["s.status) NULLS LAST, s.paused DESC", "s.status) DESC NULLS FIRST, s.paused DESC"] },
	'a second one is asked for': { is_subscribed: ['SELECT EXISTS', 'SELECT false AND EXISTS'] },
	'a second one is asked for while the first is paused': { is_subscribed: ['OR urlmode.is_paused(e)', ''] },
	'an older link leads to a second one': { open: ['urlmode.is_subscribed(', 'false AND urlmode.is_subscribed('] },
	'a payment of no subscription opens one': { keep_events: ["AND (NOT urlmode.is_of_subscription(f.expected) OR coalesce(f.details ? 'of_subscription', false))", ''] },
	'at least a price is any': { is_expected: ["amount >= (expected -> 'amount')::bigint", 'amount > 0'] },
	'at least a price is exactly that': { is_expected: ["amount >= (expected -> 'amount')::bigint", "amount = (expected -> 'amount')::bigint"] },
	'a part of a checkout is all of it': { keep_events: ["AND NOT coalesce(a.details @> '{\"checkout_paid\": true}', false)", 'AND false'] },
	'what comes again and is older than what went back counts': { keep_refunds: ['(r.currency = this.currency) IS NOT FALSE AND (this.at < r.moved_at) IS NOT TRUE', '(r.currency = this.currency) IS NOT FALSE'] },
	'what is withdrawn again stays reinstated': { keep_refunds: ['AND NOT this.is_total AND this.at > r.moved_at THEN NULL', 'AND false THEN NULL'] },
	'an older event says how a dispute stands': { keep_refunds: ['this.at < r.occurred_at THEN coalesce(r.state, this.state)', 'false THEN r.state'] },
	'an older event ends a dispute': { keep_refunds: ['this.at < r.occurred_at THEN r.ended', 'false THEN r.ended'] },
	'what is nobody\'s is kept for ever': { purge_entitlements: ['WHERE e.subject IS NULL AND e.changed_at', 'WHERE false AND e.changed_at'] },
	'what somebody has is purged': { purge_entitlements: ['WHERE e.subject IS NULL AND e.changed_at', 'WHERE e.changed_at'] },
	'an event that names its payment alone does not find it': { find_subscription: ['WHERE e.subscription IS NULL AND', 'WHERE false AND'] },
};

testMistakes(MISTAKES, openStage, (stage, seed) => run(stage, makeHistory(seed)));
