// Random histories of forms: after each step the real row is what the model says.
//
//     COUNT=10000 SEED=1 node --test tests/model/forms.test.mjs

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';

import { RESULT_INFO } from '../../lib/node/src/core/contract-seals.js';
import { seal } from '../../lib/node/src/core/seal.js';
import { bindingOf, browserOf } from '../../lib/node/src/core/token.js';
import { CHECK, FormModel, TTL } from './form-model.mjs';
import { Random } from './random.mjs';
import { Stage } from './stage.mjs';

const COUNT = Number(process.env.COUNT ?? 100);
const SEED = Number(process.env.SEED ?? 1);
const HOUR = 3_600_000;
const PROBLEM = Buffer.from('sealed problem');
const WEIGHTS = { open: 4, answer: 14, take: 10, end: 12, later: 5, expire: 1, purge: 2, cancel: 1, claim: 3, slow: 1, brief: 2 };

/** The row of one history, and what is done to it. */
class Form {
	#stage;
	#server;
	#leases = [];

	static async create(stage, server, random) {
		const form = new Form();
		const kind = random.pick(['input', 'input', 'approval']);
		const subject = `user-${randomUUID()}`;
		const approvers = kind === 'approval' ? random.pick([null, [], ['anna', 'ben']]) : null;
		const model = new FormModel({ kind, subject, approvers, verify: kind === 'input' && random.chance(0.8) });
		form.#stage = stage;
		form.#server = server;
		form.wanted = {
			provider: 'forms', kind, subject, ttl: TTL, resumeKey: 'form', ...model.verify && { verifyTimeout: CHECK },
			...approvers && { approver: approvers.length === 0 ? 'others' : approvers },
			form: { title: 'T', ...kind === 'input' && { fields: [{ name: 'key', type: 'secret', label: 'Key' }] } },
		};
		form.row = { id: (await stage.instances[0].urlmode.create(form.wanted)).elicitationId, binding: bindingOf(subject, '') };
		form.model = Object.assign(model, { expires: TTL });
		return form;
	}

	async #first(client, text, values) {
		return (await client.query(text, values)).rows[0];
	}

	/** @param {{ user?: string, action?: string, how?: string }} [given] in place of what is picked */
	async step(name, random, given = {}) {
		const { id, binding } = this.row;
		const { model } = this;
		const user = given.user ?? random.pick([null, model.subject, model.subject, 'anna', 'ben', 'eve']);
		const urlmode = random.pick(this.#stage.instances).urlmode;
		switch (name) {
		case 'open': {
			const { outcome } = await this.#first(this.#stage.callback,
				"SELECT outcome FROM urlmode.open_form(ARRAY[$1::uuid], ARRAY['forms'], ARRAY[$2], ARRAY[$3::bytea], ARRAY[$4::text], ARRAY[true])",
				[id, model.kind, browserOf('one'), user]);
			assert.equal(outcome, model.open(user), `open by ${user}`);
			break;
		}
		case 'answer': {
			const action = given.action ?? random.weighted({ accept: 8, decline: 1 });
			const reason = action === 'accept' ? '' : 'declined';
			const result = action === 'accept' || model.kind === 'approval'
				? seal(this.#stage.keys, { id, binding, use: RESULT_INFO }, JSON.stringify({ approver: user ?? model.subject, values: {} })) : null;
			const { outcome } = await this.#first(this.#stage.callback,
				`SELECT outcome FROM urlmode.answer_form(ARRAY[$1::uuid], ARRAY[$2::bytea], ARRAY['forms'], ARRAY[$3], ARRAY[$4::bytea], ARRAY[$5::text],
					ARRAY[true], ARRAY[$6], ARRAY[$7], ARRAY[$8::bytea], ARRAY[NULL::bytea], ARRAY['shown'::bytea])`,
				[id, binding, model.kind, browserOf('one'), user, action, reason, result]);
			assert.equal(outcome, model.answer(user, action, reason), `${action} by ${user}`);
			break;
		}
		case 'take': {
			const taken = await this.#first(this.#server, 'SELECT * FROM urlmode.take_check($1, $2)', [id, binding]);
			assert.equal(taken?.lease, model.take(), 'take');
			if (taken) this.#leases.push(taken.lease);
			break;
		}
		case 'end': {
			// Mostly the last one, and now and then one that is over.
			const lease = given.how || random.chance(0.85) ? this.#leases.at(-1) : this.#leases[0];
			if (lease === undefined) break;
			const how = given.how ?? random.weighted({ good: 2, problem: 6, failed: 4 });
			const { said } = await this.#first(this.#server, 'SELECT urlmode.end_check($1, $2, $3, $4, $5) AS said',
				[id, binding, lease, how === 'problem' ? PROBLEM : null, how === 'failed']);
			assert.equal(said, model.end(lease, how), `end of lease ${lease}, ${how}`);
			break;
		}
		case 'later': return this.#later(random.pick([1_000, 10_000, 20_000]));
		case 'slow': return this.#later(random.pick([TTL, HOUR, 25 * HOUR]));
		// One try after the other, each of which comes to nothing.
		case 'brief': {
			const how = random.pick(['problem', 'failed', 'late']);
			for (let n = 0; n < 11; n += 1) {
				await this.step('answer', random, { user: model.subject, action: 'accept' });
				await this.step('take', random);
				if (how === 'late') await this.#later(CHECK);
				else await this.step('end', random, { how });
			}
			break;
		}
		case 'expire':
			await this.#server.query('SELECT urlmode.expire(ARRAY[$1::uuid], ARRAY[$2::bytea])', [id, binding]);
			model.expire();
			break;
		case 'purge':
			while (Number((await this.#first(this.#server, 'SELECT urlmode.purge_results() AS taken')).taken) > 0);
			model.purge();
			break;
		case 'cancel':
			assert.equal(await urlmode.cancel(id, { subject: model.subject }), model.cancel(), 'cancel');
			break;
		case 'claim': {
			const action = model.action ?? 'accept';
			const claimed = await urlmode.claim(id, { subject: model.subject, action }).catch(({ code }) => code !== 'ELICITATION_OPEN');
			assert.equal(claimed, model.claim(action), 'claim');
			break;
		}
		}
		await this.#compare();
	}

	async #later(ms) {
		await this.#stage.pass(ms);
		this.model.now += ms;
		await this.#compare();
	}

	async #compare() {
		const { model, row: { id, binding } } = this;
		const { kept, ...real } = await this.#first(this.#stage.admin, `SELECT e.status::text, r.status AS effective, e.action::text, e.reason::text,
				e.failed_attempts AS problems, f.unchecked, f.definition IS NOT NULL AS form, f.problem IS NOT NULL AS problem, f.typed IS NOT NULL AS typed,
				f.decided_by::text AS by, e.claimed_at IS NOT NULL AS claimed, e.result IS NOT NULL AS kept,
				(SELECT count(*)::integer FROM urlmode.event v WHERE v.elicitation = e.id) AS decisions, f.check_until IS NOT NULL AS checking
			FROM urlmode.elicitation e JOIN urlmode.form f ON f.elicitation = e.id, urlmode.read(ARRAY[e.id], ARRAY[e.binding::bytea]) r WHERE e.id = $1`, [id]);
		assert.deepEqual(real, {
			status: model.status, effective: model.effectiveStatus, action: model.action, reason: model.reason, problems: model.problems,
			unchecked: model.unchecked, form: model.hasForm, problem: model.hasProblem, typed: model.hasTyped, by: model.decidedBy,
			claimed: model.claimed, decisions: model.decidedBy === null ? 0 : 1, checking: model.checkUntil !== null,
		}, 'the row');
		if (model.isKept !== undefined) assert.equal(kept, model.isKept, 'the value');
		const resumed = await this.#first(this.#server, 'SELECT r.id FROM urlmode.resume(ARRAY[$1::bytea], ARRAY[$2], NULL, (SELECT ARRAY[$3::bytea])) r',
			[binding, 'form', this.request]);
		assert.equal(resumed.id, model.isResumed ? id : null, 'what a call would go on with');
	}
}

test(`${COUNT} histories of forms from seed ${SEED} on`, async (t) => {
	const stage = await Stage.open(t);
	try {
		const server = await stage.connect('urlmode_server');
		for (let seed = SEED; seed < SEED + COUNT; seed += 1) {
			const random = new Random(seed);
			const steps = [];
			await stage.clear();
			const form = await Form.create(stage, server, random);
			form.request = (await stage.admin.query('SELECT request FROM urlmode.elicitation WHERE id = $1', [form.row.id])).rows[0].request;
			try {
				for (let n = 0; n < 25; n += 1) {
					steps.push(random.weighted(WEIGHTS));
					await form.step(steps.at(-1), random);
				}
			} catch (error) {
				error.message = `SEED=${seed} COUNT=1 fails after ${steps.join(', ')}:\n${error.message}`;
				throw error;
			}
		}
	} finally {
		await stage.close();
	}
});
