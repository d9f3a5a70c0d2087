// urlmode release, urlmode void and urlmode refunded: the operator decides about a payment that is
// held, and urlmode show tells what went back and who has decided.

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { userInfo } from 'node:os';
import { after, before, describe, test } from 'node:test';

import { ALL, urlmode } from '../support/command.mjs';
import { sender } from '../support/deliveries.mjs';
import { openFixture } from '../support/fixture.mjs';

const PRICE = { amount: 1050, currency: 'EUR' };

let fixture;
let env;

before(async () => {
	fixture = await openFixture({ name: 'command' });
	env = { URLMODE_OPERATOR_DATABASE_URL: fixture.stack.env.URLMODE_OPERATOR_DATABASE_URL };
});

after(() => fixture?.close());

const run = (...args) => urlmode(args, env);

async function show(id) {
	const { status, out } = await run('show', '--json', id);
	assert.equal(status, 0);
	return JSON.parse(out);
}

/** A payment of which 4 of 10.50 went back, or so much. */
async function payAndRefund({ paid: sum = PRICE.amount, currency = 'eur', amount = 400 } = {}) {
	const payment = await fixture.createPayment('stripe', { expected: PRICE });
	const reference = `pi_${payment.id}`;
	const stripe = sender(fixture, 'stripe');
	const paid = stripe.event(payment.id, 'paid', { ...PRICE, amount: sum });
	paid.data.object.payment_intent = reference;
	const refunded = {
		id: `evt_${randomUUID()}`, object: 'event', livemode: true, type: 'refund.created',
		data: { object: { id: `re_${payment.id}`, object: 'refund', status: 'succeeded', payment_intent: reference, amount, currency } },
	};
	for (const event of amount === 0 ? [paid] : [paid, refunded]) assert.equal((await stripe.send(event)).status, 200);
	return { ...payment, reference };
}

const outcomeOf = ({ id, owner }) => fixture.urlmode.waitForCompletion(id, { ...owner, timeout: 0 });

describe('release and void', () => {
	test('release offers what is held to the next call, and show tells who has decided', async () => {
		const payment = await payAndRefund();
		const { reference } = payment;
		assert.equal((await outcomeOf(payment)).reason, 'held');
		assert.deepEqual(await run('release', '--note', 'the shop keeps its word', 'stripe', reference),
			{ status: 0, out: `released: the payment ${reference} of stripe\n`, err: '' });
		assert.equal((await outcomeOf(payment)).action, 'accept');

		const { payments, refunds, decisions } = await show(payment.id);
		assert.deepEqual(payments.map(({ provider, refunded, held }) => [provider, refunded, held]), [['stripe', 400, false]]);
		assert.deepEqual(refunds.map((refund) => [refund.payment, refund.amount, refund.currency]), [[reference, 400, 'EUR']]);
		assert.deepEqual(decisions.map(({ decision, decided_by: by, refunded, note }) => [decision, by, refunded, note]),
			[['released', process.env.SUDO_USER ?? userInfo().username, 400, 'the shop keeps its word']]);
		const { out } = await run('show', payment.id);
		assert.match(out, /Refunds[^]*Decisions of the operator[^]*the shop keeps its word/);
	});

	test('void offers it to none, until it is released', async () => {
		const payment = await payAndRefund();
		assert.deepEqual(await run('void', 'stripe', payment.reference),
			{ status: 0, out: `voided: the payment ${payment.reference} of stripe\n`, err: '' });
		assert.equal((await outcomeOf(payment)).refunded, true);
		assert.equal((await run('release', 'stripe', payment.reference)).status, 0);
		assert.equal((await outcomeOf(payment)).action, 'accept');
		assert.deepEqual((await show(payment.id)).decisions.map(({ decision }) => decision), ['voided', 'released']);
	});

	test('refunded ends the claim with the reference of the refund, once, and the next call has to be paid', async () => {
		const payment = await payAndRefund();
		const { reference } = payment;
		assert.deepEqual(await run('refunded', '--note', 'asked by mail', 'stripe', reference, 're_by_hand'),
			{ status: 0, out: `refunded: the payment ${reference} of stripe\n`, err: '' });
		const { payments, decisions } = await show(payment.id);
		assert.deepEqual(payments.map(({ claim_end: end, claim_refund: refund, claimed_at: claimed }) => [end, refund, claimed !== null]), [['refunded', 're_by_hand', true]]);
		assert.deepEqual(decisions.map(({ decision, note }) => [decision, note]), [['refunded', 'asked by mail']]);
		assert.deepEqual(await fixture.urlmode.claim(payment.id, { ...payment.owner, reference }).catch((error) => error.name), false);
		for (const [args, said] of [[[reference, 're_2'], `all of the payment ${reference} of stripe went back before`], [['pi_other', 're_2'], 'there is no payment pi_other of stripe']]) {
			const { status, err } = await run('refunded', 'stripe', ...args);
			assert.deepEqual([status, err], [1, `urlmode: ${said}\n`]);
		}
	});

	test('an amount that does not match is released to the next call, also where a part of it went back, or voided', async () => {
		for (const back of [0, 150]) {
			const payment = await payAndRefund({ paid: 1_200, amount: back });
			assert.equal((await outcomeOf(payment)).reason, 'amount_mismatch');
			assert.equal(await fixture.urlmode.claim(payment.id, { ...payment.owner, action: 'cancel' }), true);
			assert.equal((await outcomeOf(payment)).reason, 'held');
			assert.equal((await run('release', 'stripe', payment.reference)).status, 0);
			const { action, amount } = await outcomeOf(payment);
			assert.deepEqual([action, amount], ['accept', 1_200]);
			assert.equal(await fixture.urlmode.claim(payment.id, { ...payment.owner, reference: payment.reference }), true);
		}
		const payment = await payAndRefund({ paid: 900, amount: 0 });
		assert.equal((await run('void', 'stripe', payment.reference)).status, 0);
		assert.deepEqual((await fixture.urlmode.unclaimed({ provider: 'stripe' })).filter(({ reference }) => reference === payment.reference), []);
	});

	test('a refund in another currency is held, never taken for all of it, and can be released', async () => {
		const payment = await payAndRefund({ currency: 'usd', amount: 1_050 });
		assert.equal((await outcomeOf(payment)).reason, 'held');
		assert.equal((await run('release', 'stripe', payment.reference)).status, 0);
		assert.equal((await outcomeOf(payment)).action, 'accept');
	});

	test('show tells how a subscription stands that an elicitation has opened', async () => {
		const { id } = await fixture.createPayment('polar', { expected: PRICE, subscription: true, item: 'pro' });
		assert.deepEqual((await show(id)).subscriptions, []);
		const polar = sender(fixture, 'polar');
		const timestamp = new Date().toISOString();
		const about = { metadata: { elicitation_id: id } };
		const order = (n, billing_reason) => ({
			type: 'order.paid', timestamp,
			data: { ...about, id: `ord_${id}_${n}`, status: 'paid', total_amount: PRICE.amount, currency: 'eur', subscription_id: `sub_${id}`, billing_reason },
		});
		const past = { type: 'subscription.past_due', timestamp, data: { ...about, id: `sub_${id}`, status: 'past_due', current_period_end: '2026-12-01T10:00:00Z' } };
		for (const event of [order(1, 'subscription_create'), order(2, 'subscription_cycle'), past]) assert.equal((await polar.send(event)).status, 200);
		const [{ provider, subscription, item, status, until, paused, payments, last_payment, refunded }] = (await show(id)).subscriptions;
		assert.deepEqual({ provider, subscription, item, status, until: new Date(until).toISOString(), paused, payments, last_payment, refunded }, {
			provider: 'polar', subscription: `sub_${id}`, item: 'pro', status: 'past_due', until: '2026-12-01T10:00:00.000Z', paused: false, payments: 2, last_payment: `ord_${id}_2`, refunded: 0,
		});
		assert.match((await run('show', id)).out, new RegExp(`^Subscriptions, amounts in minor units:\\n.*\\n.*\\n.*sub_${id}.*past_due`, 'm'));
	});

	test('show says why a refund holds a payment', async () => {
		const unclear = async ({ id }) => (await show(id)).refunds.map((refund) => [refund.unclear, refund.unclear_at !== null]);
		assert.deepEqual(await unclear(await payAndRefund()), [[null, false]]);
		assert.deepEqual(await unclear(await payAndRefund({ currency: 'usd' })), [['other currency', true]]);

		const payment = await fixture.createPayment('stripe', { expected: PRICE });
		const record = (effect, more) => fixture.stack.sql(`SELECT urlmode.record_events(ids => ARRAY[$1::uuid], providers => ARRAY['stripe'],
			identities => ARRAY[$2], types => ARRAY['t'], effects => ARRAY[$3], amounts => ARRAY[500::bigint], currencies => ARRAY['EUR'],
			refs => ARRAY[$4], results => ARRAY[NULL::bytea], refunds => ARRAY[$5])`, [payment.id, randomUUID(), effect, more?.reference, more?.refund]);
		const [reference, refund] = [`pi_${payment.id}`, `re_${payment.id}`];
		for (const effect of ['refunded', 'refund_reversed', 'refunded']) await record(effect, { reference });
		assert.deepEqual(await unclear(payment), [['total after a reversal', true]]);
		await record('refunded', { refund });
		assert.deepEqual(await unclear(payment), [['total after a reversal', true], ['payment not known', true]]);
		const { out } = await run('show', payment.id);
		assert.match(out, /unclear[^]*total after a reversal[^]*payment not known/);
	});

	test('events --unclaimed says which payments are held', async () => {
		const payment = await payAndRefund();
		const { out } = await run('events', '--unclaimed', ...ALL);
		assert.match(out.split('\n').find((line) => line.includes(payment.id)), /400 +\| t +\| report:\S+$/);
	});

	test('what is not held, claimed or unknown is refused, and nothing is decided', async () => {
		const payment = await payAndRefund();
		await run('release', 'stripe', payment.reference);
		const refused = async (...args) => {
			const { status, out, err } = await run(...args);
			assert.deepEqual([status, out], [1, '']);
			return err;
		};
		assert.match(await refused('release', 'stripe', payment.reference), /is not held/);
		assert.match(await refused('void', 'stripe', payment.reference), /is not held/);
		assert.equal(await fixture.urlmode.claim(payment.id, payment.owner), true);
		assert.match(await refused('void', 'stripe', payment.reference), /was claimed by a call/);
		assert.match(await refused('void', 'square', payment.reference), /there is no payment/);
		assert.match(await refused('release', 'stripe', "x' OR 'a' = 'a"), /there is no payment/);
		assert.equal((await show(payment.id)).decisions.length, 1);
	});

	test('what comes again after its elicitation was purged is voided, and release says why it cannot be offered', async () => {
		for (const held of [false, true]) {
			const payment = await payAndRefund({ amount: 1_050 });
			await fixture.stack.sql('DELETE FROM urlmode.elicitation WHERE id = $1', [payment.id]);
			const failed = {
				id: `evt_${randomUUID()}`, object: 'event', livemode: true, type: 'refund.failed',
				data: { object: { id: `re_${payment.id}`, object: 'refund', status: 'failed', payment_intent: payment.reference, amount: held ? 500 : 1_050, currency: 'eur' } },
			};
			assert.equal((await sender(fixture, 'stripe').send(failed)).status, 200);
			// No call can be given it, so that no list says that it waits for one.
			assert.ok(!(await run('events', '--unclaimed', ...ALL)).out.includes(payment.reference));
			const { status, err } = await run('release', 'stripe', payment.reference);
			assert.deepEqual([status, /elicitation .* was deleted, so that no call can be offered it: refund it, and void it/.test(err)], [1, true], err);
			assert.equal((await run('void', '--note', 'refunded by hand', 'stripe', payment.reference)).status, 0);
		}
	});

	test('what a call has claimed cannot be decided any more after its elicitation was purged', async () => {
		const payment = await payAndRefund();
		assert.equal(await fixture.urlmode.claim(payment.id, { ...payment.owner, held: true }), true);
		await fixture.stack.sql('DELETE FROM urlmode.elicitation WHERE id = $1', [payment.id]);
		for (const decision of ['release', 'void']) {
			const { status, err } = await run(decision, 'stripe', payment.reference);
			assert.deepEqual([status, /was claimed by a call/.test(err)], [1, true], err);
		}
	});
});

describe('export and forget', () => {
	test('all data of a user are shown and deleted, it is written down, and the books stay', async () => {
		const subject = `ann-${randomUUID()}\x1b[31m'; --`;
		const own = await fixture.createPayment('stripe', { expected: PRICE, item: 'report:42', subject });
		await sender(fixture, 'stripe').send(sender(fixture, 'stripe').event(own.id, 'paid', PRICE));
		await fixture.createPayment('stripe', { expected: PRICE, item: 'report:43', subject });
		const by = process.env.SUDO_USER ?? userInfo().username;

		const exported = await run('export', '--note', 'asked by mail', subject);
		const data = JSON.parse(exported.out);
		assert.deepEqual([data.subject, data.elicitations.length, data.elicitations[0].events.length, data.payments.map(({ item, amount }) => [item, amount])],
			[subject, 2, 1, [['report:42', 1050]]]);
		assert.ok(!/[\x00-\x09\x0b-\x1f]/.test(exported.out));

		assert.deepEqual(await run('forget', '--dry-run', subject),
			{ status: 0, out: 'would be forgotten: 2 elicitations\nwould be forgotten: 1 events\nkept without the user: 1 payments\n', err: '' });
		const unclaimed = await run('forget', subject);
		assert.deepEqual([unclaimed.status, unclaimed.out], [1, '']);
		assert.match(unclaimed.err, new RegExp(`^unclaimed: elicitation ${own.id} stripe \\S+ 1050 EUR\nurlmode: nothing was deleted`));
		assert.equal(JSON.parse((await run('export', subject)).out).elicitations.length, 2);

		await fixture.urlmode.claim(own.id, own.owner);
		const forgotten = await run('forget', '--note', 'asked by mail', subject);
		assert.deepEqual([forgotten.status, forgotten.out.match(/^.*elicitations|kept.*/gm)], [0, ['forgotten: 2 elicitations', 'kept without the user: 1 payments']], forgotten.err);
		for (const command of ['export', 'forget']) {
			const { status, out, err } = await run(command, subject);
			assert.deepEqual([status, out], [1, '']);
			assert.match(err, /^urlmode: nothing is here of ann-/);
		}
		assert.equal((await run('show', own.id)).status, 0);
		const { out } = await run('forget', '--list', subject);
		assert.deepEqual(out.match(/\b(export|forget)\b.*/g).map((line) => line.includes(by) && line.includes('2 elicitations') && /^\w+/.exec(line)[0]), ['export', 'export', 'forget']);
		assert.ok(!out.includes(subject.slice(0, 12)), 'the name of a user who was forgotten is not shown');
	});

	test('what is not revoked is said', async () => {
		const subject = `ben-${randomUUID()}`;
		await fixture.stack.sql(`INSERT INTO urlmode.account (subject, provider, account, scopes, requested, tokens)
			SELECT urlmode.account_owner('', $1), 'demo', account, '{read}', '{read}', repeat('x', 30)::bytea FROM unnest('{one,two}'::text[]) account`, [subject]);
		assert.equal((await run('forget', '--dry-run', subject)).out,
			'would be forgotten: 2 accounts\nwould not be revoked at their providers: 2 accounts; let the MCP server disconnect them first\n');
		assert.match((await run('forget', subject)).out, /^forgotten: 2 accounts\nnot revoked at their providers: 2 accounts; their tokens are gone, /);
	});
});
