// Mistakes in the SQL of rechecks, which their histories must find.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { admin, makeHistory, run } from './recheck-histories.mjs';

const HISTORIES = Number(process.env.HISTORIES ?? 400);

/** In the body of these functions, this text is replaced by that one. */
const MISTAKES = {
	'an event after the answer is not asked about before a claim': { is_recheck_due: ['(r.rechecks > r.rechecked OR ', '(false OR '] },
	'an old answer is good enough for a claim': { is_recheck_due: ['max_age_ms IS NOT NULL', 'false'] },
	'a young answer is asked for again': { is_recheck_due: ["<= now() - max_age_ms * interval '1 millisecond'", '<= now()'] },
	'a claim with both ends does not ask': { claim_at_once: ['urlmode.is_recheck_due(claim_at_once.id, recheck_ms)', 'false'] },
	'nobody asks where nobody waits': { begin_recheck_of: ['providers ? e.provider::text', 'false'] },
	'a server asks for a provider that it cannot ask': { begin_recheck_of: ['providers ? e.provider::text', 'true'] },
	'two ask at the same time': { begin_recheck: ['(r.recheck_at IS NULL OR r.recheck_at <= now())', 'true'] },
	'what has failed counts as answered': { end_recheck: ['CASE WHEN failed THEN r.rechecked ELSE', 'CASE WHEN false THEN r.rechecked ELSE'] },
	'an answer answers what came after it began': { end_recheck: ['greatest(r.rechecked, end_recheck.rechecks)', 'r.rechecks'] },
	'an answer ends nothing': { answer_recheck: ['PERFORM urlmode.end_recheck(id, binding, lease, rechecks, false)', 'PERFORM 1'] },
	'a failure says that it was answered': { end_recheck: ['answered_at = CASE WHEN failed THEN r.answered_at', 'answered_at = CASE WHEN false THEN r.answered_at'] },
	'what names nobody is recorded': { read_entries: ['THEN coalesce(x.is_named, false)', 'THEN coalesce(x.is_named, true)'] },
	'what names another elicitation is recorded': { answer_recheck: ['y.is_ours AND y.time = 1', 'y.time = 1'] },
	'what names the checkout alone is not recorded': { read_entries: ["OR g.entry ->> 'checkout' = e.checkout THEN true", 'THEN true'] },
	'a refund that names only its payment is lost': { read_entries: ['y.is_named AND y.payment = x.payment', 'false'] },
	'a refund of an earlier answer\'s payment is lost': { read_entries: ['p.elicitation = e.id AND p.reference = x.payment)\n', 'false)\n'] },
	'a refund that is under way does not count': { read_entries: ["CASE WHEN o.status IN ('paid', 'processing') THEN 'refunded'", "CASE WHEN o.status = 'paid' THEN 'refunded'"] },
	'a payment that failed ends what another one goes on with': { read_entries: ["THEN 'attempt_failed'", 'THEN o.status'] },
	'an entry is lost that is there before without its name': { answer_recheck: ['PARTITION BY z.identity, z.is_ours', 'PARTITION BY z.identity'] },
};

for (const [what, changes] of Object.entries(MISTAKES)) {
	test(`is found: ${what}`, async (t) => {
		const [[name, [right, wrong]]] = Object.entries(changes);
		const { rows: [{ text }] } = await admin.query(
			"SELECT pg_get_functiondef(oid) AS text FROM pg_proc WHERE pronamespace = 'urlmode'::regnamespace AND proname = $1", [name]);
		assert.ok(text.includes(right), `${name} has the text ${right}`);
		await admin.query(text.replaceAll(right, wrong));
		try {
			for (let seed = 1; seed <= HISTORIES; seed += 1) {
				const failure = await run(makeHistory(seed)).then(() => undefined, (error) => error);
				if (failure) return t.diagnostic(`seed ${seed}: ${failure.message.split('\n')[0]}`);
			}
			assert.fail(`not found in ${HISTORIES} histories`);
		} finally {
			await admin.query(text);
			await admin.query('UPDATE urlmode.recheck SET rechecked = rechecks');
		}
	});
}
