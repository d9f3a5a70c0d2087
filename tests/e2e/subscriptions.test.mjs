// Subscriptions, as their providers tell of them: signed deliveries through nginx and the webhook program open an
// entitlement, renew it, cancel it and send its money back, in whatever order they come, and also after the purge.

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, test } from 'node:test';

import { sender } from '../support/deliveries.mjs';
import { openFixture } from '../support/fixture.mjs';

const DAY = 86_400_000;
const PRICE = { amount: 1050, currency: 'EUR' };

/** The time so many days from now, in whole seconds. */
const START = Math.floor(Date.now() / 1000) * 1000;
const at = (days) => new Date(START + days * DAY);
const seconds = (days) => at(days).getTime() / 1000;
const text = (days) => at(days).toISOString();

/** What each provider sends. `s` names the subscription (`id`) and its elicitation; `n` counts its payments, from 1 on. */
const SHOPS = {
	/** Until API version 2025-03-31 (basil): an invoice names the payment intent that has paid it, as refunds do. */
	'stripe before basil': stripe({
		invoice: ({ id, n, metadata }) => ({ payment_intent: `pi_${id}_${n}`, subscription: id, subscription_details: { metadata } }),
		alsoFirst: ({ event, day, id }) => [event(day, 'invoice.paid', { id: `in_${id}_1`, object: 'invoice', billing_reason: 'subscription_create', payment_intent: `pi_${id}_1` })],
		alsoRenewed: () => [],
	}),
	stripe: stripe({
		invoice: ({ id, metadata }) => ({ parent: { type: 'subscription_details', subscription_details: { subscription: id, metadata } } }),
		alsoFirst: (told) => [invoicePaid({ ...told, n: 1 })],
		alsoRenewed: (told) => [invoicePaid(told)],
	}),
	paddle: shop(({ elicitation, id }) => {
		const event = (day, type, data) => ({ event_id: `evt_${randomUUID()}`, event_type: type, occurred_at: text(day), data: { custom_data: { elicitation_id: elicitation }, ...data } });
		const payment = (day, n, origin) => event(day, 'transaction.completed', {
			id: `txn_${id}_${n}`, origin, subscription_id: id, currency_code: PRICE.currency, details: { totals: { total: String(PRICE.amount) } },
		});
		const own = (day, what, status, until, more) => event(day, `subscription.${what}`, {
			id, status, current_billing_period: until === undefined ? null : { starts_at: text(day), ends_at: text(until) }, scheduled_change: null, items: [{ trial_dates: null }], ...more,
		});
		return {
			first: (day) => payment(day, 1, 'api'),
			renewed: (day, n) => payment(day, n, 'subscription_recurring'),
			active: (day, until) => own(day, 'updated', 'active', until),
			unpaid: (day, until) => own(day, 'past_due', 'past_due', until),
			paused: (day) => own(day, 'paused', 'paused'),
			cancelled: (day, until) => own(day, 'updated', 'active', until, { scheduled_change: { action: 'cancel', effective_at: text(until) } }),
			ended: (day) => own(day, 'canceled', 'canceled'),
			refunded: (day, n) => event(day, 'adjustment.updated', {
				id: `adj_${id}_${n}`, action: 'refund', status: 'approved', transaction_id: `txn_${id}_${n}`, custom_data: undefined,
				totals: { total: String(PRICE.amount), currency_code: PRICE.currency },
			}),
		};
	}),
	'lemon-squeezy': shop(({ elicitation, id, number }) => {
		const event = (name, type, key, attributes) => ({
			meta: { event_name: name, custom_data: { elicitation_id: elicitation }, test_mode: false },
			data: { type, id: String(key), attributes: { total: PRICE.amount, currency: PRICE.currency, ...attributes } },
		});
		const own = (day, what, status, until, more) => event(`subscription_${what}`, 'subscriptions', id, {
			order_id: number, status, updated_at: text(day), renews_at: text(until), ends_at: null, trial_ends_at: null, pause: null, ...more,
		});
		const invoice = (day, n, what, status) => event(`subscription_payment_${what}`, 'subscription-invoices', number + n, {
			subscription_id: Number(id), billing_reason: 'renewal', status, updated_at: text(day),
		});
		return {
			first: () => event('order_created', 'orders', number, { status: 'paid' }),
			renewed: (day, n) => invoice(day, n, 'success', 'paid'),
			active: (day, until) => own(day, 'updated', 'active', until),
			unpaid: (day, until) => own(day, 'updated', 'past_due', until),
			paused: (day, until) => own(day, 'paused', 'paused', until, { pause: { mode: 'void', resumes_at: null } }),
			cancelled: (day, until) => own(day, 'cancelled', 'cancelled', until, { ends_at: text(until) }),
			ended: (day) => own(day, 'expired', 'expired', day, { ends_at: text(day) }),
			refunded: (day, n) => (n === 1 ? event('order_refunded', 'orders', number, { status: 'refunded', refunded_amount: PRICE.amount }) : invoice(day, n, 'refunded', 'refunded')),
		};
	}, () => String(Math.floor(Math.random() * 1e12))),
	polar: shop(({ elicitation, id }) => {
		const metadata = { elicitation_id: elicitation };
		const event = (day, type, data) => ({ type, timestamp: text(day), data: { metadata, ...data } });
		const order = (day, n, what, billing_reason, more) => event(day, `order.${what}`, {
			id: `ord_${id}_${n}`, checkout_id: n === 1 ? `co_${id}` : null, status: what, total_amount: PRICE.amount, currency: 'eur', subscription_id: id, billing_reason, ...more,
		});
		const own = (day, what, status, until, more) => event(day, `subscription.${what}`, {
			id, status, current_period_end: text(until), trial_end: null, cancel_at_period_end: false, ends_at: null, ...more,
		});
		return {
			first: (day) => order(day, 1, 'paid', 'subscription_create'),
			renewed: (day, n) => order(day, n, 'paid', 'subscription_cycle'),
			active: (day, until) => own(day, 'updated', 'active', until),
			unpaid: (day, until) => own(day, 'past_due', 'past_due', until),
			cancelled: (day, until) => own(day, 'canceled', 'active', until, { cancel_at_period_end: true, ends_at: text(until) }),
			ended: (day) => own(day, 'revoked', 'canceled', day),
			refunded: (day, n) => order(day, n, 'refunded', n === 1 ? 'subscription_create' : 'subscription_cycle', { refunded_amount: PRICE.amount }),
		};
	}),
	razorpay: shop(({ elicitation, id }) => {
		const entity = (status, until, paid_count) => ({ entity: { id, status, paid_count, current_end: until && seconds(until), notes: { elicitation_id: elicitation } } });
		const event = (day, name, payload) => ({ entity: 'event', event: name, created_at: seconds(day), payload });
		const payment = (n) => ({ entity: { id: `pay_${id}_${n}`, amount: PRICE.amount, currency: PRICE.currency } });
		const own = (day, what, status, until) => event(day, `subscription.${what}`, { subscription: entity(status, until, 1) });
		const charged = (day, n) => event(day, 'subscription.charged', { subscription: entity('active', undefined, n), payment: payment(n) });
		return {
			first: (day) => charged(day, 1),
			renewed: charged,
			active: (day, until) => own(day, 'updated', 'active', until),
			unpaid: (day, until) => own(day, 'pending', 'pending', until),
			paused: (day, until) => own(day, 'paused', 'paused', until),
			// The last of all payments that were agreed upon.
			cancelled: (day, until) => own(day, 'completed', 'completed', until),
			ended: (day) => own(day, 'cancelled', 'cancelled', day),
			refunded: (day, n) => event(day, 'refund.processed', {
				refund: { entity: { id: `rfnd_${id}_${n}`, payment_id: `pay_${id}_${n}`, amount: PRICE.amount, currency: PRICE.currency } }, payment: payment(n),
			}),
		};
	}),
};

const invoicePaid = ({ event, day, id, n }) => event(day, 'invoice_payment.paid', {
	id: `inpay_${id}_${n}`, object: 'invoice_payment', invoice: `in_${id}_${n}`, amount_paid: PRICE.amount, amount_requested: PRICE.amount, currency: 'eur', status: 'paid',
	payment: { type: 'payment_intent', payment_intent: `pi_${id}_${n}` },
});

/** What Stripe sends: the two versions say in another way what has paid an invoice. */
function stripe({ invoice, alsoFirst, alsoRenewed }) {
	return shop(({ elicitation, id }) => {
		const metadata = { elicitation_id: elicitation };
		const event = (day, type, object) => ({ id: `evt_${randomUUID()}`, object: 'event', type, livemode: true, created: seconds(day), data: { object } });
		const own = (day, what, status, until, more) => event(day, `customer.subscription.${what}`, {
			id, object: 'subscription', status, metadata, cancel_at: null, pause_collection: null, trial_end: null,
			items: { object: 'list', data: [{ current_period_end: seconds(until) }] }, ...more,
		});
		return {
			first: (day) => [event(day, 'checkout.session.completed', {
				id: `cs_${id}`, object: 'checkout.session', mode: 'subscription', client_reference_id: elicitation, payment_status: 'paid', subscription: id,
				invoice: `in_${id}_1`, payment_intent: null, amount_total: PRICE.amount, currency: 'eur',
			}), ...alsoFirst({ event, day, id })],
			renewed: (day, n) => [event(day, 'invoice.paid', {
				id: `in_${id}_${n}`, object: 'invoice', billing_reason: 'subscription_cycle', amount_paid: PRICE.amount, currency: 'eur', metadata: {},
				...invoice({ id, n, metadata }),
			}), ...alsoRenewed({ event, day, id, n })],
			active: (day, until) => own(day, 'updated', 'active', until),
			unpaid: (day, until) => own(day, 'updated', 'past_due', until),
			paused: (day, until) => own(day, 'paused', 'paused', until),
			cancelled: (day, until) => own(day, 'updated', 'active', until, { cancel_at: seconds(until), cancel_at_period_end: true }),
			ended: (day) => own(day, 'deleted', 'canceled', day),
			refunded: (day, n) => event(day, 'refund.created', {
				id: `re_${id}_${n}`, object: 'refund', charge: `ch_${id}_${n}`, payment_intent: `pi_${id}_${n}`, metadata: {}, amount: PRICE.amount, currency: 'eur', status: 'succeeded',
			}),
		};
	});
}

/** @param {(names: { elicitation: string, id: string, number: number }) => Record<string, (day: number, more?: number) => object>} say */
function shop(say, makeId = () => `sub_${randomUUID()}`) {
	return (elicitation) => {
		const id = makeId();
		return { id, ...say({ elicitation, id, number: Math.floor(Math.random() * 1e12) }) };
	};
}

let fixture;
before(async () => {
	fixture = await openFixture({ name: 'subscriptions' });
});
after(() => fixture?.close());

/** A user who is asked for a subscription, and what the provider tells of it. */
async function subscribe(name) {
	const [provider] = name.split(' ');
	const elicitation = await fixture.createPayment(provider, { expected: PRICE, subscription: true, item: 'pro' });
	const { subject } = elicitation.owner;
	const says = SHOPS[name](elicitation.id);
	const { send } = sender(fixture, provider);
	return {
		elicitation, subject, says,
		/** Each is accepted, whatever it says. */
		async tell(...events) {
			for (const event of events.flat()) assert.equal((await send(event)).status, 200, JSON.stringify(event));
		},
		async is() {
			const [mine] = await fixture.urlmode.entitlements({ subject });
			return mine && [mine.status, mine.until && Math.round((mine.until - START) / DAY)];
		},
		async payments() {
			const rows = await fixture.stack.sql(`SELECT p.amount::integer, p.currency, p.claimed_at IS NOT NULL AS claimed, p.refunded_at IS NOT NULL AS refunded
				FROM urlmode.payment p JOIN urlmode.entitlement e ON e.id = p.entitlement WHERE e.subject = $1 ORDER BY p.paid_at NULLS FIRST`, [subject]);
			return rows.map(({ amount, currency, claimed, refunded }) => `${amount} ${currency}${claimed ? '' : ' unclaimed'}${refunded ? ' refunded' : ''}`);
		},
		unclaimed: async () => (await fixture.urlmode.unclaimed({ provider })).filter((paid) => paid.subject === subject),
	};
}

for (const name of Object.keys(SHOPS)) {
	describe(name, () => {
		test('the first payment opens an entitlement, which is renewed, cancelled, and ends when its money goes back', async () => {
			const { elicitation, says, tell, is, payments, unclaimed } = await subscribe(name);
			assert.equal(await is(), undefined);
			await tell(says.first(-40));
			const { action, reason } = await fixture.urlmode.waitForCompletion(elicitation.id, { ...elicitation.owner, timeout: 20_000 });
			assert.deepEqual([action, reason], ['accept', '']);
			assert.equal((await is())[0], 'active');
			await tell(says.active(-40, 5));
			assert.deepEqual(await is(), ['active', 5]);
			await tell(says.renewed(-10, 2), says.active(-10, 20));
			assert.deepEqual(await is(), ['active', 20]);
			await tell(says.unpaid(-9, 20));
			assert.deepEqual(await is(), ['past_due', 20]);
			await tell(says.active(-8, 20));
			assert.deepEqual(await is(), ['active', 20]);
			if (says.paused) {
				await tell(says.paused(-7, 20));
				assert.equal((await is())[0], 'ended');
				await tell(says.active(-6, 20));
				assert.deepEqual(await is(), ['active', 20]);
			}
			await tell(says.cancelled(-5, 20));
			assert.deepEqual(await is(), ['cancelled', 20]);
			assert.deepEqual(await payments(), ['1050 EUR', '1050 EUR']);
			assert.deepEqual(await unclaimed(), []);
			await tell(says.refunded(-4, 2));
			assert.equal((await is())[0], 'ended');
			assert.deepEqual(await payments(), ['1050 EUR', '1050 EUR refunded']);
		});

		test('it ends when the only payment goes back', async () => {
			const { says, tell, is, payments } = await subscribe(name);
			await tell(says.refunded(-2, 1), says.first(-3), says.active(-3, 27));
			assert.equal((await is())[0], 'ended');
			assert.deepEqual(await payments(), ['1050 EUR refunded']);
		});

		test('the provider ends it', async () => {
			const { says, tell, is } = await subscribe(name);
			await tell(says.first(-3), says.active(-3, 27), says.ended(-2));
			assert.equal((await is())[0], 'ended');
			// What it was before comes late.
			await tell(says.active(-3, 27));
			assert.equal((await is())[0], 'ended');
		});

		test('in the other order, and all of it twice, it is the same', async () => {
			const { says, tell, is, payments, unclaimed } = await subscribe(name);
			const events = [says.first(-40), says.active(-40, -10), says.renewed(-10, 2), says.active(-10, 20), says.cancelled(-5, 20)];
			await tell(...events.flat().reverse());
			assert.deepEqual(await is(), ['cancelled', 20]);
			assert.deepEqual(await payments(), ['1050 EUR', '1050 EUR']);
			await tell(...events, ...events.flat().reverse());
			assert.deepEqual(await is(), ['cancelled', 20]);
			assert.deepEqual(await payments(), ['1050 EUR', '1050 EUR']);
			assert.deepEqual(await unclaimed(), []);
		});

		test('what comes before the first payment, also that a renewal went back, counts from the first payment on', async () => {
			const { says, tell, is, payments } = await subscribe(name);
			await tell(says.refunded(-4, 2), says.renewed(-10, 2), says.active(-10, 20));
			assert.equal(await is(), undefined);
			await tell(says.first(-40));
			assert.equal((await is())[0], 'ended');
			assert.deepEqual(await payments(), ['1050 EUR', '1050 EUR refunded']);
			await tell(says.renewed(-3, 3), says.active(-3, 27));
			assert.deepEqual(await is(), ['active', 27]);
		});

		test('it outlives its elicitation', async () => {
			const { elicitation, says, tell, is, payments, unclaimed } = await subscribe(name);
			await tell(says.first(-40), says.active(-40, 1));
			await purge(elicitation.id);
			assert.deepEqual(await is(), ['active', 1]);
			await tell(says.renewed(-1, 2), says.active(-1, 29));
			assert.deepEqual(await is(), ['active', 29]);
			assert.deepEqual(await payments(), ['1050 EUR', '1050 EUR']);
			await tell(says.refunded(0, 2));
			assert.equal((await is())[0], 'ended');
			assert.deepEqual(await payments(), ['1050 EUR', '1050 EUR refunded']);
			assert.deepEqual(await unclaimed(), []);
		});

		test('without `subscription` a renewal pays for nothing', async () => {
			const [provider] = name.split(' ');
			const { owner, id } = await fixture.createPayment(provider, { expected: PRICE });
			const says = SHOPS[name](id);
			const { send } = sender(fixture, provider);
			for (const event of [says.first(-40), says.renewed(-10, 2), says.active(-10, 20)].flat()) assert.equal((await send(event)).status, 200);
			assert.equal((await fixture.urlmode.waitForCompletion(id, { ...owner, timeout: 20_000 })).action, 'accept');
			assert.deepEqual(await fixture.urlmode.entitlements({ subject: owner.subject }), []);
			assert.equal((await fixture.urlmode.unclaimed({ provider })).filter(({ subject }) => subject === owner.subject).length, 1);
		});
	});
}

/** The elicitation is over for so long that it is deleted, as every MCP server does now and then. */
async function purge(id) {
	const sql = (...query) => fixture.stack.sql(...query);
	const old = (...columns) => columns.map((column) => `${column} = ${column} - interval '200 days'`);
	await sql(`UPDATE urlmode.elicitation SET ${old('created_at', 'expires_at', 'completed_at', 'claimed_at')} WHERE id = $1`, [id]);
	await sql(`UPDATE urlmode.payment SET ${old('proven_at', 'claimed_at')} WHERE elicitation = $1`, [id]);
	// A pass of the purge goes on where the one before it has ended, and no time has passed since.
	await sql("UPDATE urlmode.purge_pass SET since = '-infinity', expires_at = '-infinity'");
	while (Number((await sql("SELECT urlmode.purge(kind => 'payment') AS taken"))[0].taken) > 0);
	assert.deepEqual(await sql('SELECT FROM urlmode.elicitation WHERE id = $1', [id]), []);
}
