// Mistakes in the SQL, which the model test must find (mistakes.mjs).

import { makeHistory } from './history.mjs';
import { testMistakes } from './mistakes.mjs';
import { run } from './runner.mjs';
import { Stage } from './stage.mjs';

/** How long a step may take, in milliseconds. What never happens is a mistake found. */
const PATIENCE = 2_000;

process.removeAllListeners('warning');

/** In the body of these functions, this text is replaced by that one. */
const MISTAKES = {
	'claim takes what was claimed before': { find_claim: ['p.claimed_at IS NULL AND ', ''] },
	'a refusal claims a payment': { find_claim: ["find_claim.action <> 'accept'", 'false'] },
	'claim takes an outcome that was claimed before': { find_claim: ['row.claimed_at IS NOT NULL', 'false'] },
	'two calls are at the same': { begin_lease: ['lease.ends_at > now() THEN', 'false THEN'] },
	'what a call has done is done again': { begin_lease: ['fulfilled IS NOT NULL', 'false'] },
	'an account is claimed under a lease': { begin_lease: ["this.kind = 'oauth' AND this.picked", "this.kind = 'none' AND this.picked"] },
	'what does not match is begun by a call': { begin_lease: ['p.reference = this.picked AND NOT p.matches', 'false'] },
	'what is listed and does not match cannot be begun': { begin_lease: ['NOT any_payment AND own.fence', 'own.fence'] },
	'what is forgotten is never done again': { claim_rank: ['AND (l.fulfilled_at IS NULL OR urlmode.has_kept(l.elicitation, l.reference))', ''] },
	'a call that was overtaken fulfils its claim': { fulfil_lease: ['l.elicitation = e.id AND l.fence = fulfil_lease.fence', 'l.elicitation = e.id'] },
	'what a call has done is listed when its lease ends': { fulfil_lease: ["ends_at = 'infinity', ", ''] },
	'what is confirmed again was not confirmed': { confirm_claim: ['RETURN EXISTS', 'RETURN false AND EXISTS'] },
	'a call that was overtaken confirms': { confirm_claim: ['AND l.fence = confirm_claim.fence', ''] },
	'a call that was overtaken gives back what another is at': { release_claim: ['l.fence = release_claim.fence AND', ''] },
	'a call that has given its claim back confirms': { release_claim: ['fence = urlmode.next_fence(l.elicitation), ', ''] },
	'a result that has failed twice stays on the list': { release_claim: ['fulfilled_at = NULL, ', ''] },
	'the lease stays after the last end': { end_claim: ['l.reference = end_claim.reference', 'false'] },
	'claim takes what a call is at': { claim: ['urlmode.is_leased(claim.id, this.picked)', 'false'] },
	'unclaimed lists what a call is at': { is_unclaimed: ['AND NOT urlmode.is_leased(p.elicitation, p.reference)', ''] },
	'what is never confirmed never ends': { purge_results: ['k.kept_at <= unclaimed_since', 'false'] },
	'what was forgotten of a payment is final': { forget_kept: ["IF forget_kept.reference = '' THEN", 'IF true THEN'] },
	'what was never confirmed is not listed': { is_undelivered: ['l.fulfilled_at IS NOT NULL', 'false'] },
	'abandon ends what a user has opened': { abandon: ['(e.kind, e.status,', "(e.kind, replace(e.status, 'opened', 'pending'),"] },
	'more than the price does not match where it may': { is_expected: ['amount >= (expected', 'amount = (expected'] },
	'less than the price matches where more may be paid': { is_expected: ["THEN amount >= (expected -> 'amount')::bigint AND", 'THEN'] },
	'the amount is not compared': { is_expected: ['SELECT CASE', 'SELECT true OR CASE'] },
	'one reference pays for several elicitations': {
		sql: `ALTER TABLE urlmode.payment DROP CONSTRAINT payment_pkey,
			ADD CONSTRAINT payment_pkey PRIMARY KEY (provider, reference, elicitation)`,
	},
	'a late payment is not resumed': { resume_for: ['money.unclaimed OR money.wrong', 'money.wrong'] },
	'a late payment is not read': { read: ['x.elicitation = e.id', 'false'] },
	'an unproven event makes the row processing': {
		apply_events: ["WHEN a.action IN ('processing', 'attempt_failed') THEN",
			"WHEN a.action = 'recheck' THEN urlmode.next(e.kind, e.status, false, 'attempt') WHEN a.action IN ('processing', 'attempt_failed') THEN"],
	},
	'a failed attempt ends the payment': {
		keep_events: ['ELSE a.effect END AS effect', "WHEN a.effect = 'attempt_failed' THEN 'failed' ELSE a.effect END AS effect"],
	},
	'exclusive supersedes an opened payment': {
		create_elicitation: ["urlmode.next(e.kind, e.status, false, 'supersede')", "urlmode.next('oauth', e.status, false, 'supersede')"],
	},
	'a payment expires without its grace': { open: ["e.kind <> 'oauth' THEN", 'false THEN'] },
	'two rechecks at the same time': { begin_recheck: ['(r.recheck_at IS NULL OR r.recheck_at <= now())', 'true'] },
	'a recheck that takes too long ends the next one': { end_recheck: ['r.recheck_lease > lease', 'false'] },
	'what no wait can recheck is resumed': { resume_for: ['a.can_recheck IS NOT FALSE', 'true'] },
	'what is paid when its time is over is in time': { keep_events: ['OR urlmode.closes_at(e.kind, e.status, e.expires_at, e.grace) <= now()', ''] },
	'what is paid when its time is over is not announced as late': { keep_events: ['AND d.ended AS late', "AND d.status = 'completed' AS late"] },
	'what a server learns when the time is over is in time': { settle: ['OR urlmode.closes_at(row.kind, row.status, row.expires_at, row.grace) <= now()', ''] },
	'what ended is not rechecked': { begin_recheck: ["OR e.kind = 'payment'", ''] },
	'events of the other mode count': { decide_event: ["'seen', 'other_mode', ", "'seen', "] },
	'an unclaimed result is purged': { purge_results: ['AND (p.claimed_at IS NOT NULL OR', 'AND (true OR'] },
	'unclaimed leaves out what does not match': { is_unclaimed: ['p.claimed_at IS NULL AND', 'p.claimed_at IS NULL AND p.matches AND'] },
	'a late payment is not announced': { apply_events: ['NULL, x.late,', 'NULL, false,'] },
	'the ledger does not say that a claim has ended': { enter_change: ['OLD.claimed_at IS NULL AND NEW.claimed_at IS NOT NULL', 'false'] },
	'the ledger says a refund that came before its payment once': { enter_change: ['urlmode.entered_back(NEW) IS DISTINCT FROM NEW.refunded', 'false'] },
	'the ledger says less than went back': { gone_back_of: ['sum(', 'max('] },
	'what happened later is read first': { number_ledger: ['ORDER BY u.id LIMIT', 'ORDER BY u.id DESC LIMIT'] },
	'an entry that was acknowledged comes again': { acknowledge_ledger: ['greatest(c.number, acknowledge_ledger.number)', 'c.number'] },
	'a refund is not noted': { apply_refunds: ['THEN coalesce(p.refunded_at, now())', 'THEN p.refunded_at'] },
	'a refund before its payment is forgotten': { prove_payments: ['PERFORM urlmode.apply_refunds(owners)', 'NULL'] },
	'a refund touches a payment that it does not name': { apply_refunds: ['r.payment = p.reference', 'r.elicitations @> ARRAY[p.elicitation]'] },
	'refunds do not add up': { apply_refunds: ['coalesce(sum(', 'coalesce(max('] },
	'a refund that is told twice counts twice': { keep_refunds: ['ELSE greatest(r.amount, this.amount)', 'ELSE r.amount + this.amount'] },
	'more went back than was paid': { apply_refunds: ['least(p.amount, went.total)', 'went.total'] },
	'what came again stays away': { gone_back: ['r.reversed IS NULL THEN 0', 'r.reversed IS NULL THEN coalesce(r.amount, paid)'] },
	'a reversal before its refund is forgotten': { keep_refunds: ['ELSE r.reversed_at END', 'END'] },
	'a refund in part leaves the payment on offer': { apply_refunds: ['went.total > coalesce(d.refunded, 0) OR', ''] },
	'a refund that names no payment voids the newest of several': {
		keep_refunds: ['HAVING count(*) = 1', 'HAVING count(*) > 0'],
	},
	'a refund that names no payment holds nothing': { apply_refunds: ['AND urlmode.may_be_of(r, p)', 'AND false'] },
	'what is held is claimed by a call': { find_claim: ['AND (find_claim.held OR urlmode.claim_rank(p) < 3)', ''] },
	'who calls again for what is held is asked to pay': { resume_for: ['p.refunded_at IS NULL) > 0 AS unclaimed', 'p.refunded_at IS NULL AND NOT p.held) > 0 AS unclaimed'] },
	'what is held is read as an accept': { read: ["CASE WHEN p.held THEN 'cancel'", "CASE WHEN false THEN 'cancel'"] },
	'who calls again for what does not match is asked to pay': { resume_for: ['money.unclaimed OR money.wrong', 'money.unclaimed'] },
	'what does not match leaves another link open': { is_paid: ['(p.matches OR e.item = is_paid.item)', 'p.matches'] },
	'what does not match is told to each call': { read: ["(e.claimed_at IS NOT NULL OR e.reason <> 'amount_mismatch')", 'false'] },
	'a call goes on with a price that nobody has opened': { resume_for: ['e.expected <> a.expected', 'false'], create_elicitation: ['e.expected <> a.expected', 'false'] },
	'a price that nobody has opened stays open': { create_elicitation: ['e.expected <> a.expected', 'false'] },
	'who has opened one price is asked for another': { resume_for: ["s.effective_status = 'pending' AND e.expected", 'e.expected'] },
	'what went back before its payment was known is lost': { store_unmatched: ['ELSE a.effect = ANY (urlmode.refund_effects())', 'ELSE false'] },
	'an event that names its payment alone is lost': { receive_events: ['THEN urlmode.find_elicitation(u.provider, u.ref)', 'THEN NULL::uuid'] },
	'an attempt that names no elicitation is lost': { find_elicitation: ["v.action IN ('processing', 'attempt_failed')", 'false'] },
	'an attempt of several elicitations ends one of them': { find_elicitation: ['count(DISTINCT v.elicitation) = 1', 'count(*) > 0'] },
	'a decision is forgotten': { apply_refunds: ['x.reference = p.reference', 'false'] },
	'a decision is for ever': { apply_refunds: ['went.unclear_at > coalesce(d.decided_at,', 'd.decided_at IS NULL AND went.unclear_at > coalesce(d.decided_at,'] },
	'a total that is told again after a reversal counts as the first one': {
		keep_refunds: ['r.reversed_at IS NOT NULL AND (this.at < r.moved_at) IS NOT TRUE THEN clock_timestamp()', 'false THEN clock_timestamp()'],
	},
	'what is unclear is held for ever': { apply_refunds: ["went.unclear_at > coalesce(d.decided_at, '-infinity')", 'went.unclear_at IS NOT NULL'] },
	'a refund that names an elicitation that nobody knows is lost': { receive_events: ['p.reference = u.ref', 'false'] },
	'a total that names no payment counts beside one that does': { keep_refunds: ["nullif(a.ref, ''), o.payment, a.id", "nullif(a.ref, ''), a.id"] },
	'a refund that is told of two elicitations reaches the first alone': {
		keep_refunds: ['WHERE o.id <> ALL (r.elicitations)', 'WHERE false'],
	},
	'a refund that is told of two elicitations is of the payment of the first': {
		keep_refunds: ['(this.id = ANY (r.elicitations) OR r.payment = this.only_one) THEN r.payment', 'true THEN r.payment'],
	},
	'a refund that moves stays with the payment that it was of': { keep_refunds: ['compared || told', 'compared || this.id'] },
	'a refund that was told of another elicitation than its payment stays with it': {
		prove_payments: ['NOT r.elicitations @> ARRAY[p.elicitation]', 'false'],
	},
	'an event does not see the attempt that the one before it tells of': { receive_events: ['OR count(DISTINCT u.name) < count(u.name)', ''] },
	'what is captured beyond the price is left out': { prove_payments: ['greatest(p.amount, a.amount)', 'p.amount'] },
	'a refund before its only payment is of none': { apply_refunds: ['HAVING count(*) = 1', 'HAVING false'] },
	'the rest of a part is left out': { prove_payments: ['p.amount < EXCLUDED.amount', 'false'] },
	'money that goes back is lost with its elicitation': { receive_events: ["u.action = 'unknown' AND", 'false AND'] },
	'an attempt that failed ends another one': { is_under_way: ['ELSE f.reference = p.reference', 'ELSE true'] },
	'an attempt that failed begins again': { is_under_way: ['f.reference = p.reference', 'f.received_at > p.received_at'] },
	'money that is on its way for what has ended is forgotten': { awaits_late_payment: ['urlmode.is_under_way(', 'false AND urlmode.is_under_way('] },
	'what is processing never expires': { closes_at: ["greatest(grace, '30 days')", "interval '100 years'"] },
	'money for another kind is nothing': { keep_events: ["IS NOT NULL THEN 'other_kind'", "IS NOT NULL THEN 'ignore'"] },
	'money for another kind is the outcome': { end_claim: ["(e.kind = 'payment' AND e.status = 'completed' OR end_claim.reference = '')", 'true'] },
	'what was paid and not claimed is purged': { is_purgeable: ['p.claimed_at IS NULL AND p.refunded_at IS NULL OR greatest', 'greatest'] },
	'what may be paid late is purged': { is_purgeable: ["WHEN 'payment' THEN 'processing'", "WHEN 'payment' THEN e.status"] },
	'the rest of a payment stays claimed': { prove_payments: ['THEN p.claimed_at END', 'THEN p.claimed_at ELSE p.claimed_at END'] },
};

testMistakes(MISTAKES, (t) => Stage.open(t), (stage, seed) => run(stage, makeHistory(seed), PATIENCE));
