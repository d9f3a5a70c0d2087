// Deliveries replayed in random order, some of them twice, against the same in
// the order in which they happened. An elicitation has at most one event that
// ends it: what two ends would leave depends on which came first, by the rules.

import { post, sender } from './deliveries.mjs';

const WAYS = [
	['processing', 'settled'],
	['paid'],
	['processing', 'failed'],
	['expired'],
	['ignored', 'processing'],
	['ignored', 'paid', 'ignored'],
	['processing', 'ignored'],
];
const AT_ONCE = 16;

/** Numbers from 0 to 1 that are the same for the same seed (mulberry32). */
function random(seed) {
	let state = seed;
	return () => {
		state = (state + 0x6d2b79f5) | 0;
		let t = Math.imul(state ^ (state >>> 15), 1 | state);
		t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
		return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
	};
}

async function sendAll(deliveries) {
	const left = deliveries.values();
	const workers = Array.from({ length: AT_ONCE }, async () => {
		for (const delivery of left) {
			const { status, body } = await post(delivery);
			if (status !== 200) throw new Error(`a delivery was answered ${status}: ${body}`);
		}
	});
	await Promise.all(workers);
}

/** A set of elicitations and what is delivered for them, in order. */
async function prepare(scene, stripe, count) {
	const ids = [];
	const deliveries = [];

	for (let i = 0; i < count; i++) {
		const { id } = await scene.create({
			provider: 'stripe', kind: 'payment', targetUrl: 'https://checkout.example/pay',
			expected: { amount: 1000 + (i % 3 === 0), currency: 'EUR' }, ttl: 3_600_000,
		});
		ids.push(id);
		for (const what of WAYS[i % WAYS.length]) {
			deliveries.push(await stripe.deliver(stripe.event(id, what, { amount: 1000, currency: 'EUR' })));
		}
	}
	return { ids, deliveries };
}

async function rows(scene, ids) {
	const found = await scene.stack.sql(
		`SELECT e.status, e.action, e.reason, (SELECT count(*) FROM urlmode.event v WHERE v.elicitation = e.id) AS events
		FROM unnest($1::uuid[]) WITH ORDINALITY a (id, n) JOIN urlmode.elicitation e USING (id) ORDER BY n`, [ids]);
	// `processing` that came after the end is late: how many events there are is the same, what they did is not.
	return found.map(({ status, action, reason, events }) => `${status} ${action} ${reason} ${events}`);
}

/**
 * @param {object} scene
 * @param {{ elicitations: number, seed: number }} options
 * @returns {Promise<{ inOrder: string[], shuffled: string[] }>} a line an elicitation, in the same order
 */
export async function replay(scene, { elicitations, seed }) {
	const stripe = sender(scene, 'stripe');
	const next = random(seed);
	const first = await prepare(scene, stripe, elicitations);
	const second = await prepare(scene, stripe, elicitations);

	await sendAll(first.deliveries);

	const twice = second.deliveries.flatMap((delivery) => (next() < 0.1 ? [delivery, delivery] : [delivery]));
	for (let i = twice.length - 1; i > 0; i--) {
		const j = Math.floor(next() * (i + 1));
		[twice[i], twice[j]] = [twice[j], twice[i]];
	}
	await sendAll(twice);
	return { inOrder: await rows(scene, first.ids), shuffled: await rows(scene, second.ids) };
}
