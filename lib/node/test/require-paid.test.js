// A tool that requires a subscription: who has one goes on at once, others are asked for
// the first payment, and who must settle something is sent there.

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import test from 'node:test';

import * as sdk2 from '../src/adapters/sdk2.js';
import * as mcpLite from '../src/frameworks/mcp-lite.js';
import { linkCall, sessionCall } from './support/calls.js';
import { PRICE, setUp } from './support/database.js';

const DAY = 86_400_000;

/** A user without a subscription, and what the provider tells of one. */
async function start(t) {
	const fixture = await setUp(t);
	const { urlmode, callback, admin } = fixture;
	const subject = `user-${randomUUID()}`;
	const subscription = `sub_${randomUUID()}`;
	const options = {
		urlmode, subject, provider: 'demo', item: 'pro', expected: PRICE, targetUrl: 'https://shop.example/checkout', message: 'Pro is 10.50 a month.',
		roundTimeout: 20_000,
	};
	const tell = (id, effect, reference, told) => callback.event(id, effect, {
		...PRICE, subject, reference, result: effect === 'paid' ? { reference } : undefined, details: { subscription: { id: subscription, at_ms: Date.now(), ...told } },
	});
	const pay = (id) => tell(id, 'paid', `pay_${id}`);
	const is = (told) => tell(null, 'subscription', null, told);
	/** A client whose user pays, or does what `answer` does. */
	const client = (answer = pay) => sessionCall({ answer: async ({ elicitationId }) => {
		await answer(elicitationId);
		return 'accept';
	} });
	const use = async (more, from = client(() => assert.fail('asked')), body = ({ status }) => ({ content: [], ran: status })) => {
		const result = await sdk2.requirePaid({ ...options, ...more, server: from.server, call: from.call }, body);
		return { ...result, asked: from.asked, text: result.content[0]?.text };
	};
	const rows = async () => (await admin.query('SELECT id, status, expected, item FROM urlmode.elicitation WHERE subject = $1', [subject])).rows;
	return { ...fixture, subject, options, tell, pay, is, client, use, rows, subscription };
}

test('the first payment opens the entitlement, and the calls after it go on at once', async (t) => {
	const { use, client, rows, urlmode, subject, is, subscription } = await start(t);
	const first = await use({}, client());
	assert.deepEqual([first.ran, first.asked.length], ['active', 1]);
	assert.deepEqual((await rows()).map(({ status, expected, item }) => [status, expected, item]), [['completed', { ...PRICE, subscription: true }, 'pro']]);
	assert.deepEqual(await urlmode.unclaimed(), (await urlmode.unclaimed()).filter(({ subject: other }) => other !== subject));
	assert.deepEqual([(await use({})).ran, (await use({})).ran], ['active', 'active']);

	const until = new Date(Math.floor(Date.now() / 1000) * 1000 + 30 * DAY);
	await is({ status: 'active', until_ms: until.getTime(), cancel_at_ms: until.getTime() });
	assert.equal((await use({})).ran, 'cancelled');
	const [entitlement] = await urlmode.entitlements({ subject });
	assert.deepEqual({ ...entitlement, openedAt: entitlement.openedAt instanceof Date, elicitationId: typeof entitlement.elicitationId }, {
		item: 'pro', status: 'cancelled', entitled: true, paused: false, until, provider: 'demo', account: undefined, subscription, elicitationId: 'string', openedAt: true,
	});
	assert.deepEqual(await urlmode.entitlements({ subject, item: 'other' }), []);
});

test('a client that opens no link gets it as text, and its next call goes on', async (t) => {
	const { use, rows, pay } = await start(t);
	assert.match((await use({ roundTimeout: 200 }, linkCall())).text, /To pay 10\.50 EUR, the user opens this link/);
	await pay((await rows())[0].id);
	assert.equal((await use({}, linkCall())).ran, 'active');
});

test('a user who is past due or has paused is sent to the page of manageUrl, and never asked to subscribe again', async (t) => {
	const { use, client, is, rows } = await start(t);
	await use({}, client());
	const seen = [];
	const manageUrl = async (entitlement) => {
		seen.push([entitlement.status, entitlement.paused]);
		return 'https://shop.example/portal';
	};
	await is({ status: 'past_due' });
	const late = await use({ manageUrl });
	assert.equal(late.isError, true);
	assert.match(late.text, /^Pro is 10\.50 a month\.\n\nThe user has a subscription for this, but the last payment of the subscription has failed or is missing\..*\n\nhttps:\/\/shop\.example\/portal\n\n/s);
	assert.equal((await use({})).text, 'Not done: the last payment of the subscription has failed or is missing.');
	await is({ status: 'paused', at_ms: Date.now() + 1 });
	assert.match((await use({ manageUrl })).text, /the subscription is paused/);
	assert.deepEqual(seen, [['past_due', false], ['ended', true]]);
	assert.equal((await rows()).length, 1);
	await is({ status: 'active', at_ms: Date.now() + 2 });
	assert.equal((await use({ manageUrl })).ran, 'active');
});

test('a user who is entitled gets the page of manageUrl as well, if the tool asks for it, also until the end of what was cancelled', async (t) => {
	const { options, use, client, is } = await start(t);
	await use({}, client());
	const asked = [];
	const manageUrl = ({ status }) => {
		asked.push(status);
		return new URL('https://shop.example/portal');
	};
	const of = (more) => sdk2.requirePaid({ ...options, ...linkCall(), ...more }, (entitlement) => entitlement.manageUrl());
	assert.equal(await of({ manageUrl }), 'https://shop.example/portal');
	await is({ status: 'cancelled', until_ms: Date.now() + 3_600_000 });
	assert.equal(await of({ manageUrl }), 'https://shop.example/portal');
	assert.deepEqual(asked, ['active', 'cancelled']);
	assert.deepEqual([(await use({ manageUrl })).ran, asked.length], ['cancelled', 2], 'nobody has asked for it');
	assert.deepEqual([await of({}), await of({ manageUrl: () => undefined })], [undefined, undefined]);
});

test('a subscription that has ended, or whose payment went back, is asked for again', async (t) => {
	const { use, client, callback, rows, is } = await start(t);
	await use({}, client());
	const [{ id }] = await rows();
	await callback.event(id, 'refunded', { reference: `pay_${id}`, refund: randomUUID(), ...PRICE });
	assert.match((await use({ roundTimeout: 200 }, linkCall())).text, /the user opens this link/);
	await is({ status: 'ended', at_ms: Date.now() + 1 });
	assert.match((await use({ roundTimeout: 200 }, linkCall())).text, /the user opens this link/);
	assert.equal((await rows()).length, 2);
});

test('the body that throws is run again by the next call, and its result is not kept', async (t) => {
	const { use, client } = await start(t);
	await assert.rejects(use({}, client(), () => {
		throw new Error('of the test');
	}), /of the test/);
	let runs = 0;
	const body = () => ({ content: [], runs: ++runs });
	assert.deepEqual([(await use({}, undefined, body)).runs, (await use({}, undefined, body)).runs], [1, 2]);
});

test('a call that finds nothing, and one that pays meanwhile, do not make two subscriptions', async (t) => {
	const { use, options, rows, tell, urlmode } = await start(t);
	const { entitlements } = urlmode;
	let looks = 0;
	urlmode.entitlements = async (...args) => {
		const found = await entitlements.apply(urlmode, args);
		if (++looks === 1) {
			const { elicitationId } = await urlmode.create({ ...options, kind: 'payment', subscription: true });
			assert.equal(await tell(elicitationId, 'paid', `pay_${elicitationId}`), 'accept');
		}
		return found;
	};
	assert.equal((await use({})).ran, 'active');
	assert.equal((await rows()).length, 1);
});

test('create makes no second subscription, and no checkout for one, of who has one that is not over', async (t) => {
	const { urlmode, options, is, tell, rows } = await start(t);
	let checkouts = 0;
	const create = (more) => urlmode.create({ ...options, kind: 'payment', subscription: true, targetUrl: () => {
		checkouts += 1;
		return options.targetUrl;
	}, ...more });
	const refused = { name: 'ElicitationSubscribedError', code: 'ELICITATION_SUBSCRIBED' };
	const { elicitationId } = await create();
	await tell(elicitationId, 'paid', `pay_${elicitationId}`);
	await assert.rejects(create(), refused);
	await is({ status: 'past_due' });
	await assert.rejects(create({ provider: 'other' }), refused);
	await is({ status: 'paused', at_ms: Date.now() + 1 });
	await assert.rejects(create(), refused);
	assert.equal((await rows()).length, 1);
	assert.equal(checkouts, 1);
	// Another item is another subscription, and a payment without one is bought again.
	assert.equal((await create({ item: 'team' })).resumed, false);
	assert.equal((await create({ subscription: false })).resumed, false);
	await is({ status: 'ended', at_ms: Date.now() + 2 });
	assert.equal((await create()).resumed, false);
	// The database refuses it as well: a call that subscribes while another makes its checkout.
	await assert.rejects(create({ item: 'late', targetUrl: async () => {
		const other = await create({ item: 'late' });
		await tell(other.elicitationId, 'paid', `pay_${other.elicitationId}`, { id: `late_${other.elicitationId}` });
		return options.targetUrl;
	} }), refused);
});

test('a payment that is of no subscription opens nothing', async (t) => {
	const { use, client, callback, urlmode, subject } = await start(t);
	const { text } = await use({}, client((id) => callback.paid(id, { subject })));
	assert.equal(text, 'Not done: the amount paid differs from the price.');
	assert.deepEqual(await urlmode.entitlements({ subject }), []);
});

test('what makes no sense is refused', async (t) => {
	const { urlmode, options, use } = await start(t);
	const create = (more) => urlmode.create({ ...options, kind: 'payment', subscription: true, message: undefined, ...more });
	await assert.rejects(create({ item: undefined }), /item is required/);
	await assert.rejects(create({ expected: 'any' }), /subscription requires its first price/);
	await assert.rejects(create({ kind: 'signature', expected: undefined }), /subscription is only allowed for kind payment/);
	await assert.rejects(use({ item: undefined }), /item must be a string/);
	await assert.rejects(use({ manageUrl: 'https://shop.example' }), /manageUrl must be a function/);
	const { server, call } = linkCall();
	await assert.rejects(sdk2.withElicitation({ ...options, kind: 'payment', subscription: true, server, call }, () => {}), /requirePaid asks for a subscription/);
	await assert.rejects(urlmode.entitlements({ subject: '' }), /subject/);
});

test('every adapter has it', async (t) => {
	const { options, pay, rows } = await start(t);
	const call = { request: {} };
	const asked = await mcpLite.requirePaid({ ...options, typed: false, roundTimeout: 200, call }, () => assert.fail('ran'));
	assert.match(asked.content[0].text, /the user opens this link/);
	await pay((await rows())[0].id);
	assert.deepEqual(await mcpLite.requirePaid({ ...options, typed: false, call }, ({ item }) => item), 'pro');
	for (const name of ['adapters/sdk.js', 'adapters/sdk2.js', 'adapters/mcp-use.js', 'frameworks/lynq.js', 'frameworks/frontmcp.js']) {
		const adapter = await import(`../src/${name}`);
		assert.equal(typeof adapter.requirePaid, 'function', name);
	}
});
