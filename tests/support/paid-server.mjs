// What the paid server of each language is held to: lib/*/examples/paid. A real client calls it, users pay at the checkout,
// Stripe's signed deliveries come through nginx and the programs, and the server is killed at every step of its loop.

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, test } from 'node:test';

import { goToCheckout, USERS } from './adapters.mjs';
import { connectSdk2 } from './clients.mjs';
import { urlmode } from './command.mjs';
import { post, sender } from './deliveries.mjs';
import { openFixture } from './fixture.mjs';
import { startInstance } from './instances.mjs';
import { holdRow, untilHeld, waitLongerForLocks } from './locks.mjs';
import { makeProject } from './projects.mjs';
import { until } from './wait.mjs';

const CREDITS = { amount: 1000, currency: 'EUR' };
const REPORT = { amount: 1050, currency: 'EUR' };
const ANALYST = { amount: 2000, currency: 'EUR' };
const DAY = 86_400;
/** Of the tests that kill, so that nothing of them is in the balance of another one. */
const MORE_USERS = Object.fromEntries(Array.from({ length: 16 }, (_, index) => [`token-of-user-${index}`, `user-${index}@example.org`]));

/** A user at the checkout, and Stripe, which tells of what they do. */
class Checkout {
	#fixture;
	#stripe;

	constructor(fixture) {
		this.#fixture = fixture;
		this.#stripe = sender(fixture, 'stripe');
	}

	/** Goes to the checkout and pays. @returns {Promise<{ id: string, reference: string }>} */
	async pay(url, price, more) {
		const paid = this.paid(await goToCheckout(this.#fixture, url), price, more);
		await this.tell(paid.event);
		return paid;
	}

	/** What Stripe tells of a payment for an elicitation. */
	paid(id, price, more) {
		const reference = `pi_${randomUUID()}`;
		const event = this.#stripe.event(id, 'paid', { ...price, reference: `cs_${randomUUID()}` });
		Object.assign(event.data.object, { payment_intent: reference, ...more });
		return { id, reference, event };
	}

	refunded(payment, amount) {
		return this.#event('refund.created', { id: `re_${randomUUID()}`, object: 'refund', status: 'succeeded', payment_intent: payment, amount, currency: 'eur' });
	}

	/** The refund did not reach the customer. */
	failed({ data: { object } }) {
		return this.#event('refund.failed', { ...object, status: 'failed' });
	}

	disputed(payment, what, status, created) {
		return this.#event(`charge.dispute.${what}`, {
			id: `dp_${payment}`, object: 'dispute', payment_intent: payment, amount: CREDITS.amount, currency: 'eur', status, metadata: {},
		}, created);
	}

	subscription(what, id, elicitation, more, created) {
		return this.#event(`customer.subscription.${what}`, {
			id, object: 'subscription', metadata: { elicitation_id: elicitation }, cancel_at: null, pause_collection: null, trial_end: null, ...more,
		}, created);
	}

	renewed(subscription, created) {
		return this.#event('invoice.paid', {
			id: `in_${randomUUID()}`, object: 'invoice', billing_reason: 'subscription_cycle', subscription, amount_paid: ANALYST.amount, currency: 'eur', metadata: {},
		}, created);
	}

	#event(type, object, created = Math.floor(Date.now() / 1000)) {
		return { id: `evt_${randomUUID()}`, object: 'event', livemode: true, type, created, data: { object } };
	}

	/** A signed delivery, which can be sent again. */
	deliver(event) {
		return this.#stripe.deliver(event);
	}

	async tell(...events) {
		for (const event of events) assert.equal((await this.#stripe.send(event)).status, 200, event.type);
	}
}

/**
 * @param {string} language
 * @param {{ project?: () => import('./projects.mjs').Project, command?: () => string[] | Promise<string[]>,
 *     forks?: (...given: [import('./projects.mjs').Project, import('./stack.mjs').Stack, Record<string, string>]) => import('./forks.mjs').Forks }} server
 *     command: that starts it, if it is not the server.mjs of the project; forks: of which it is one
 */
export function describePaidServer(language, { project: makeServer, command, forks }) {
	describe(`the paid server in ${language}`, { timeout: 600_000 }, () => {
		let fixture;
		let project;
		let checkout;
		let server;
		let clients;
		let begin;

		before(async () => {
			fixture = await openFixture({ name: `paid-${language.toLowerCase()}`, own: true, env: { USER_CHECK: 'confirm' } });
			const { stack } = fixture;
			await stack.sql("CREATE ROLE reports LOGIN PASSWORD 'secret'");
			await stack.sql('GRANT CONNECT, CREATE ON DATABASE urlmode TO reports');
			await waitLongerForLocks(stack);
			checkout = new Checkout(fixture);
			clients = makeProject({ name: 'paid-clients', frameworks: 'newest' });
			project = makeServer?.() ?? clients;
			const database = new URL(stack.env.URLMODE_ADMIN_DATABASE_URL);
			Object.assign(database, { username: 'reports', password: 'secret' });
			const env = { APP_USERS: JSON.stringify({ ...USERS, ...MORE_USERS }), APP_DATABASE_URL: database.href };
			const started = await command?.();
			const parent = forks && fixture.closeAtEnd(forks(project, stack, env));
			begin = () => parent?.start() ?? startInstance(project, stack, { ...started && { command: started }, env });
			await start();
		}, { timeout: 300_000 });

		after(() => fixture?.close());

		async function start() {
			server = fixture.closeAtEnd(await begin());
		}

		/** A client whose user does this with each link; by default nobody is to be asked. */
		async function connect(token, onUrl = () => assert.fail('asked')) {
			return fixture.closeAtEnd(await connectSdk2(clients, { url: server.url, token: `token-of-${token}`, onElicit: async ({ url }) => await onUrl(url) ?? 'accept' }));
		}

		/** Calls a tool with a new client. @returns {Promise<{ text: string, isError: boolean }>} */
		const call = async (token, tool, args, onUrl) => (await connect(token, onUrl)).call(tool, { args });
		const emailOf = (token) => ({ ...USERS, ...MORE_USERS })[`token-of-${token}`];

		const balanceOf = async (token) => (await fixture.stack.sql(`SELECT (SELECT coalesce(sum(credits), 0) FROM reports.bought WHERE subject = $1)::integer
			- (SELECT coalesce(sum(spent), 0) FROM reports.account WHERE subject = $1)::integer AS left`, [emailOf(token)]))[0].left;
		const untilBalance = (token, credits) => until(`${token} has ${credits} credits`, async () => await balanceOf(token) === credits);
		/** Everything that has happened until now was read and acknowledged. */
		const untilRead = () => until('the ledger is read', async () => (await fixture.stack.sql(`
			SELECT c.number = (SELECT coalesce(max(number), 0) FROM urlmode.ledger) AND NOT EXISTS (SELECT FROM urlmode.ledger WHERE number IS NULL) AS done
			FROM urlmode.ledger_consumer c WHERE c.consumer = 'credits'`))[0]?.done);

		/** Buys credits. @returns the payment */
		async function buyCredits(token) {
			let payment;
			const { text } = await call(token, 'buy_credits', {}, async (url) => void (payment = await checkout.pay(url, CREDITS)));
			assert.match(text, new RegExp(`^1000 credits were bought with ${payment.reference}`));
			return payment;
		}

		test('a report is paid once, and read again without paying', async () => {
			let asked = 0;
			const pay = async (url) => {
				asked += 1;
				await checkout.pay(url, REPORT);
			};
			const read = (year) => call('ada', 'read_report', { year }, pay);
			assert.deepEqual([(await read(2026)).text, asked], ['In 2026 everything went well.', 1]);
			assert.deepEqual([(await read(2026)).text, asked], ['In 2026 everything went well.', 1]);
			assert.deepEqual([(await read(2025)).text, asked], ['In 2025 everything went well.', 2]);
			assert.deepEqual(await fixture.urlmode.unclaimed(), []);
		});

		test('credits are bought, spent, and bought again', async () => {
			const none = await call('ada', 'summarize');
			assert.deepEqual([/The user has no credit left: call buy_credits\.$/.test(none.text), none.isError], [true, true], none.text);
			const { event } = await buyCredits('ada');
			await untilBalance('ada', 1000);
			assert.equal((await call('ada', 'summarize')).text, 'All is well. 999 credits are left.');
			await checkout.tell(event, event); // as Stripe does, if our answer was lost
			await buyCredits('ada');
			await untilBalance('ada', 1999);
			assert.equal((await call('grace', 'summarize')).isError, true);
		});

		test('a payment that was known by its checkout alone is one purchase, under its own name', async () => {
			const before = await balanceOf('ada');
			let paid;
			await call('ada', 'buy_credits', {}, async (url) => void (paid = await checkout.pay(url, CREDITS, { payment_intent: null })));
			await untilBalance('ada', before + 1000);
			const { id, type, data, ...event } = paid.event;
			const named = { ...event, id: `${id}_again`, type, data: { object: { ...data.object, payment_intent: paid.reference } } };
			await checkout.tell(named, checkout.refunded(paid.reference, 250));
			await untilRead();
			assert.equal(await balanceOf('ada'), before + 750);
			assert.equal((await fixture.stack.sql('SELECT FROM reports.purchase WHERE payment = $1', [paid.reference])).length, 1);
		});

		test('a subscription is asked for once, renewed, cancelled, and asked for again when it has ended', async () => {
			const now = Math.floor(Date.now() / 1000);
			const [second, third] = [now + 60 * DAY, now + 90 * DAY].map((time) => new Date(time * 1000).toISOString().slice(0, 10));
			let payment;
			const ask = async (onUrl) => (await call('ada', 'ask_analyst', {}, onUrl)).text;
			const subscribe = async (url) => void (payment = await checkout.pay(url, ANALYST, {
				mode: 'subscription', subscription: 'sub_1', payment_intent: null, invoice: `in_${randomUUID()}`,
			}));
			assert.match(await ask(subscribe), /^Buy low, sell high. \(active/);
			assert.match(await ask(), /active/);
			const is = (what, more, at) => checkout.tell(checkout.subscription(what, 'sub_1', payment.id, { current_period_end: now + 60 * DAY, ...more }, now + at));
			await checkout.tell(checkout.renewed('sub_1', now + 1));
			await is('updated', { status: 'active' }, 1);
			assert.match(await ask(), new RegExp(`active until ${second}`));
			await is('updated', { status: 'past_due' }, 2);
			assert.match(await ask(), /^Not done: the last payment of the subscription has failed or is missing/);
			await is('updated', { status: 'active', cancel_at: now + 90 * DAY, current_period_end: now + 90 * DAY }, 3);
			assert.match(await ask(), new RegExp(`cancelled until ${third}`));
			await is('deleted', { status: 'canceled' }, 4);
			let asked = 0;
			await ask(() => {
				asked += 1;
				return 'decline';
			});
			assert.equal(asked, 1);
			assert.deepEqual(await fixture.urlmode.unclaimed(), [], 'a renewal waits for no call');
		});

		test('what the operator sends back is taken away, and asked for again', async () => {
			// A report: all of it.
			let report;
			const read = (onUrl) => call('grace', 'read_report', { year: 2026 }, onUrl);
			await read(async (url) => void (report = await checkout.pay(url, REPORT)));
			await checkout.tell(checkout.refunded(report.reference, REPORT.amount));
			let asked = 0;
			await read(async () => {
				asked += 1;
				return 'decline';
			});
			assert.equal(asked, 1);

			// Credits: a part of them, which a call has claimed.
			const { reference } = await buyCredits('grace');
			await untilBalance('grace', 1000);
			await checkout.tell(checkout.refunded(reference, 300));
			await untilBalance('grace', 700);

			// Credits that no call has claimed are held, until the operator voids what is left.
			let late;
			await call('grace', 'buy_credits', {}, async (url) => {
				late = url;
				return 'cancel';
			});
			const unclaimed = await checkout.pay(late, CREDITS);
			await untilBalance('grace', 1700);
			await checkout.tell(checkout.refunded(unclaimed.reference, 250));
			await untilBalance('grace', 1450);
			assert.match((await call('grace', 'buy_credits')).text, /part of what was paid|held|operator/i);
			const operator = { URLMODE_OPERATOR_DATABASE_URL: fixture.stack.env.URLMODE_OPERATOR_DATABASE_URL };
			assert.equal((await urlmode(['void', 'stripe', unclaimed.reference], operator)).status, 0);
			await untilBalance('grace', 700);
			await checkout.tell(checkout.refunded(unclaimed.reference, 100), checkout.refunded(unclaimed.reference, 650));
			await untilRead();
			assert.equal(await balanceOf('grace'), 700);
			await buyCredits('grace');
			await untilBalance('grace', 1700);
		});

		test('credits of a disputed payment are gone, also those that were spent, and come again if it is won', async () => {
			const now = Math.floor(Date.now() / 1000);
			const { reference } = await buyCredits('user-0');
			await untilBalance('user-0', 1000);
			await call('user-0', 'summarize');
			const dispute = (...how) => checkout.tell(checkout.disputed(reference, ...how));
			await dispute('created', 'needs_response', now);
			await dispute('funds_withdrawn', 'needs_response', now + 1);
			await untilBalance('user-0', -1);
			assert.equal((await call('user-0', 'summarize')).isError, true);
			await dispute('closed', 'lost', now + 2);
			await dispute('funds_reinstated', 'lost', now + 3); // Stripe sends this too, and it is not the payment
			const won = await buyCredits('user-0');
			await untilBalance('user-0', 999);
			await checkout.tell(checkout.disputed(won.reference, 'funds_withdrawn', 'needs_response', now + 4));
			await untilBalance('user-0', -1);
			await checkout.tell(checkout.disputed(won.reference, 'closed', 'won', now + 5), checkout.disputed(won.reference, 'funds_reinstated', 'won', now + 5));
			await untilBalance('user-0', 999);
			await untilRead();
			assert.equal(await balanceOf('user-0'), 999);
		});

		/** The server after a kill. Nobody waits for the end of the lease that it had. */
		async function restart() {
			await fixture.stack.sql("UPDATE urlmode.ledger_consumer SET leased_until = now() WHERE consumer = 'credits'");
			await start();
		}

		/** Those who wait for a transaction. */
		const waitingFor = ({ pid }, statement = '') => fixture.stack.sql(`
			SELECT pid FROM pg_stat_activity WHERE $1 = ANY (pg_blocking_pids(pid)) AND query LIKE '%' || $2 || '%'`, [pid, statement]);

		/**
		 * Kills the server while it waits for a lock. Its statement is still in PostgreSQL, which does not know that nobody waits for
		 * it: it is carried out, or it is not.
		 */
		async function killAt(hold, fate, statement) {
			await until('the server waits', async () => (await waitingFor(hold, statement)).length > 0);
			await server.kill();
			const waiting = (await waitingFor(hold)).map(({ pid }) => pid);
			if (fate === 'lost') await fixture.stack.sql('SELECT pg_terminate_backend(pid) FROM unnest($1::integer[]) AS pid', [waiting]);
			else await hold.release();
			await until('its statements have ended', async () => (await fixture.stack.sql('SELECT FROM pg_stat_activity WHERE pid = ANY ($1)', [waiting])).length === 0);
			await hold.release();
			await restart();
		}

		/** A transaction that holds a lock. */
		async function lock(statement) {
			const hold = await holdRow(fixture.stack, randomUUID());
			const { rows: [{ pid }] } = await hold.query('SELECT pg_backend_pid() AS pid');
			await hold.query(statement);
			return { ...hold, pid };
		}

		/** A payment of a user, which no call waits for. */
		const payment = async (token) => {
			const { id } = await fixture.createPayment('stripe', { expected: CREDITS, item: 'credits:1000', subject: emailOf(token) });
			return checkout.paid(id, CREDITS);
		};

		const STEPS = {
			'reads the ledger': ['LOCK TABLE urlmode.ledger_consumer IN ACCESS EXCLUSIVE MODE', 'read_ledger'],
			'keeps what it has read': ['LOCK TABLE reports.purchase IN SHARE MODE', 'reports.purchase'],
			'acknowledges what it has kept': ["SELECT FROM urlmode.ledger_consumer WHERE consumer = 'credits' FOR UPDATE", 'acknowledge_ledger'],
		};
		let user = 0;
		for (const [step, [locked, statement]] of Object.entries(STEPS)) {
			for (const fate of ['lost', 'done']) {
				const token = `user-${++user}`;
				test(`killed while it ${step}, and the statement is ${fate}: the balance is exact`, async () => {
					await untilRead();
					const bought = await payment(token);
					const hold = await lock(locked);
					await checkout.tell(bought.event, checkout.refunded(bought.reference, 250));
					if (step.startsWith('acknowledges')) await until('something is kept', async () => await balanceOf(token) > 0);
					await killAt(hold, fate, statement);
					await untilRead();
					assert.equal(await balanceOf(token), 750);
				});
			}
		}

		for (const fate of ['lost', 'done']) {
			const token = `user-${++user}`;
			test(`killed while it takes a credit, and the statement is ${fate}: it was taken once at most`, async () => {
				await checkout.tell((await payment(token)).event);
				await untilBalance(token, 1000);
				const hold = await lock(`SELECT FROM reports.account WHERE subject = '${emailOf(token)}' FOR UPDATE`);
				const client = await connect(token);
				const calling = assert.rejects(client.call('summarize'));
				await killAt(hold, fate);
				await calling;
				assert.equal(await balanceOf(token), fate === 'done' ? 999 : 1000);
			});

			const other = `user-${++user}`;
			test(`killed in the middle of a delivery, whose statement is ${fate}: it is sent again, and counts once`, async () => {
				const { id, event } = await payment(other);
				const delivery = await checkout.deliver(event);
				const { rows, ...hold } = await holdRow(fixture.stack, id).then(async (held) => ({ ...held, ...await held.query('SELECT pg_backend_pid() AS pid') }));
				const sending = post(delivery);
				await untilHeld(fixture.stack, 'webhook');
				process.kill((await fixture.stack.program('webhook')).pid, 'SIGKILL');
				const { status } = await sending;
				assert.ok(status >= 500, `${status}`); // so that Stripe sends it again
				await killAt({ ...hold, pid: rows[0].pid }, fate);
				await fixture.untilServing();
				assert.equal((await post(delivery)).status, 200);
				await untilRead();
				assert.equal(await balanceOf(other), 1000);
			});
		}

		test('a server that stood still, while another one went on, changes nothing', async () => {
			const [token, next] = [`user-${++user}`, `user-${++user}`];
			const bought = await payment(token);
			await checkout.tell(bought.event);
			await untilBalance(token, 1000);
			await untilRead();
			const refund = checkout.refunded(bought.reference, 250);
			const [locked, statement] = STEPS['reads the ledger'];
			const hold = await lock(locked);
			await checkout.tell(refund);
			await until('the server reads', async () => (await waitingFor(hold, statement)).length > 0);
			const stood = server;
			stood.signal('SIGSTOP');
			await hold.release();
			await restart();
			await untilBalance(token, 750);
			await checkout.tell(checkout.failed(refund));
			await untilBalance(token, 1000);
			await untilRead();
			stood.signal('SIGCONT');
			await server.stop();
			// What it does next comes after what it was about to do.
			server = stood;
			await checkout.tell((await payment(next)).event);
			await untilBalance(next, 1000);
			assert.equal(await balanceOf(token), 1000);
		});

		test('killed while the user pays: the next call does not ask again', async () => {
			const token = `user-${++user}`;
			await assert.rejects(call(token, 'buy_credits', {}, async (url) => {
				await server.kill();
				await checkout.pay(url, CREDITS);
			}));
			await restart();
			await untilBalance(token, 1000);
			assert.match((await call(token, 'buy_credits')).text, /^1000 credits were bought/);
			await untilRead();
			assert.equal(await balanceOf(token), 1000);
		});

		test('what was paid while no call waited is there, and is settled after an hour', async () => {
			const [token, other] = [`user-${++user}`, `user-${++user}`];
			const held = await payment(other);
			await checkout.tell((await payment(token)).event, held.event, checkout.refunded(held.reference, 250));
			await untilBalance(other, 750);
			const unclaimed = async () => (await fixture.urlmode.unclaimed()).map(({ subject }) => subject);
			assert.ok((await unclaimed()).includes(emailOf(token)));
			await fixture.stack.sql("UPDATE urlmode.payment SET proven_at = proven_at - interval '2 hours' WHERE claimed_at IS NULL");
			await server.kill();
			await restart();
			await until('it is settled', async () => !(await unclaimed()).includes(emailOf(token)));
			assert.ok((await unclaimed()).includes(emailOf(other)), 'about what is held, the operator decides');
		});

		test('it stops by SIGTERM', async () => {
			assert.equal(await server.stop(), 0, server.output);
		});
	});
}
