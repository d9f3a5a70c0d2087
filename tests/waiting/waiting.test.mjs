// Every SDK runs the scenarios of scenarios.json: alone, and two of
// different languages together. README.md says what the steps mean.

import assert from 'node:assert/strict';
import { randomBytes, randomUUID } from 'node:crypto';
import { mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

import { ALIVE_MS, POOL_MAX } from '../../lib/node/src/core/contract-limits.js';
import { decrypt } from '../../lib/node/src/core/envelope.js';
import { parseKeys } from '../../lib/node/src/core/keys.js';
import { Proxy } from '../../lib/node/test/support/proxy.js';
import { Api } from '../support/api.mjs';
import { sender } from '../support/deliveries.mjs';
import { comeBack, press, stateOf } from '../support/flow.mjs';
import { openFixture } from '../support/fixture.mjs';
import { decideAs, FormPage } from '../support/form-page.mjs';
import { holdRow, LISTENING } from '../support/locks.mjs';
import { until } from '../support/wait.mjs';
import { Driver, SIDES } from './side.mjs';

const path = (relative) => fileURLToPath(new URL(relative, import.meta.url));
const ALL = JSON.parse(readFileSync(path('scenarios.json'), 'utf8'));
const CREATE = {
	account: { provider: 'demo', kind: 'oauth', target_url: 'http://localhost:9/authorize?client_id=tests' },
	payment: { provider: 'stripe', kind: 'payment', target_url: 'http://localhost:9/pay', expected: { amount: 1050, currency: 'EUR' }, item: 'report:42' },
	input: { provider: 'intake', kind: 'input', form: {
		title: 'Your API key', fields: [{ name: 'api_key', type: 'secret', label: 'API key', required: true }] } },
	approval: { provider: 'approvals', kind: 'approval', form: { title: 'Delete the archive?', comment: 'optional' } },
};
const { SIDE, VERSIONS } = process.env;
/** Each alone, and in a ring, so that another side goes on with what each has made, and each with what another one has made. */
const RING = [['node', 'node'], ['python', 'python'], ['http', 'http'], ['go', 'go'],
	['node', 'python'], ['python', 'go'], ['go', 'http'], ['http', 'node']];
const OTHERS = [['python', 'node'], ['python', 'http'], ['go', 'node']];
const PAIRS = SIDE === 'node' ? [['node', 'node']] : [...RING, ...VERSIONS === 'all' ? OTHERS : []]
	// Go is not on every machine, so those with it are a suite of their own.
	.filter((pair) => pair.includes('go') === (SIDE === 'go') && (SIDE !== 'http' || pair.includes('http')));

let fixture;
let api;
const shared = new Map();

before(async () => {
	fixture = await openFixture({ name: 'waiting-sides', env: { API: '1' } });
	api = new Api(fixture.stack, fixture.stack.env.URLMODE_API_KEY);
});

after(async () => {
	await Promise.all([...shared.values()].map((driver) => driver.end()));
	await fixture?.close();
});

/** Whether a side can do what a scenario asks of it. */
function canRun({ steps, needs = [], settings }, pair) {
	const [one, other] = pair.map((name) => SIDES[name]);
	const usesBoth = steps.some(({ by, storm }) => by === 'b' || storm);
	if (pair[0] !== pair[1] && !usesBoth) return false;
	if (!needs.every((need) => one.has.includes(need) && (!usesBoth || other.has.includes(need)))) return false;
	return steps.every((step) => {
		const [verb] = Object.keys(step);
		if ([one, other].some(({ without }) => without?.steps.includes(verb) || without && settings)) return false;
		return !(step.by === 'b' ? other : one).without?.verbs.includes(verb);
	});
}

class Run {
	subject = `user-${randomUUID()}`;
	session = 'a session';
	reference = `cs_${randomUUID()}`;
	calls = new Map();
	ids = new Set();

	constructor(drivers) {
		this.drivers = drivers;
	}

	/** Replaces the names in braces. */
	fill(value) {
		if (typeof value === 'string') return value.replace(/\{(id|reference|subject)\}/g, (_, name) => this[name]);
		if (Array.isArray(value)) return value.map((each) => this.fill(each));
		if (typeof value !== 'object' || value === null) return value;
		return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, this.fill(member)]));
	}

	begin(verb, { by = 'a', as }, options) {
		const call = this.drivers[by].begin(verb, options);
		if (as) this.calls.set(as, call);
		return call;
	}

	/** A verb of the SDK, to its end. */
	async ask(verb, step, options) {
		const { answer, error } = await this.begin(verb, step, options).end;
		if (step.fails) {
			assert.equal(error?.code, step.fails, `it has answered ${JSON.stringify(answer ?? error)}`);
			return undefined;
		}
		assert.equal(error, undefined, JSON.stringify(error));
		return answer;
	}

	async about(verb, step) {
		const options = { subject: this.subject, session: this.session, elicitation_id: this.id, ...this.fill(step[verb]) };
		if (step.goes_on) return void this.begin(verb, step, options);
		const answer = await this.ask(verb, step, options);
		if ('answers' in step) matches(answer, this.fill(step.answers));
	}

	async list(verb, step) {
		const all = await this.ask(verb, step, step[verb]);
		if (step.fails) return;
		const listed = all.filter(({ elicitation_id: id }) => this.ids.has(id));
		const wanted = this.fill(step.answers);
		assert.equal(listed.length, wanted.length, JSON.stringify(listed));
		const driver = this.drivers[step.by ?? 'a'];
		wanted.forEach((each, n) => matches(listed[n], toldBy(driver, verb, each)));
	}

	/** The next step of a claim that has begun. */
	async finish(verb, step, options) {
		const { driver, number } = this.calls.get(step.of);
		const { answer, error } = await driver.begin(verb, { claim: number, ...options }).end;
		if (step.fails) assert.equal(error?.code, step.fails, JSON.stringify(answer ?? error));
		else assert.deepEqual([answer, error], [step.answers, undefined]);
	}

	/** It is told of this elicitation, and if the reference is known of this payment, once. */
	async isReported(reports, { time = 1, ...told }) {
		const wanted = this.fill(told);
		const find = () => reports.filter(({ elicitation_id: id, reference }) => id === this.id && (wanted.reference ?? reference) === reference);
		await until('it is reported', () => find().length >= time);
		assert.equal(find().length, time);
		matches(find()[time - 1], wanted);
	}

	/** The user goes on from the link to the provider. */
	async open() {
		this.browser = fixture.browser();
		const hop = await press(this.browser, await this.browser.open(this.url), 'continue');
		this.state = stateOf(hop.location);
	}
}

/** Whose ticket it is, and how many seconds it is valid (lib/PROTOCOL.md, "Values"). */
function openTicket(value) {
	const file = fixture.stack.env.URLMODE_KEYS_FILE;
	const keys = parseKeys(readFileSync(file, 'latin1'), file);
	const opened = decrypt(Buffer.from(value, 'base64url'), (kid) => keys.find(kid)?.shared('urlmode ticket v1'), Buffer.from('ticket'));
	assert.ok(Buffer.isBuffer(opened), String(opened));
	return { subject: opened.toString('utf8', 8), left: Number(opened.readBigUInt64BE()) - Date.now() / 1_000 };
}

/** What is wanted of the answers of this driver: not what its side does not tell. */
function toldBy({ side }, verb, wanted) {
	const untold = SIDES[side].without?.members[verb] ?? [];
	return Object.fromEntries(Object.entries(wanted).filter(([name]) => !untold.includes(name)));
}

/** Each member that is wanted is there; `{verifier}` is any text, and `{now}` a time of this hour. */
function matches(actual, wanted) {
	if (wanted === '{verifier}') assert.match(actual, /^[\w-]{43}$/);
	else if (wanted === '{now}') assert.ok(Math.abs(Date.parse(actual) - Date.now()) < 3_600_000, actual);
	else if (typeof wanted !== 'object' || wanted === null) assert.equal(actual ?? false, wanted);
	else if (Array.isArray(wanted)) assert.deepEqual(actual, wanted);
	else for (const [name, member] of Object.entries(wanted)) matches(actual[name], member);
}

const listening = (driver) => fixture.stack.sql(`${LISTENING} AND application_name = $1`, [driver.name]);

const STEPS = {
	async create(run, what, step) {
		const created = await run.ask('create', step, { ...CREATE[what], subject: run.subject, session: run.session, ...run.fill(step.with) });
		if (step.fails) return;
		const url = created.url ?? created.approval_url;
		if (step.same !== undefined) assert.deepEqual([created.resumed, url === run.url], [step.same, step.same]);
		Object.assign(run, {
			id: created.elicitation_id, url, returnUrl: created.return_url, state: undefined, form: undefined,
		});
		run.provider = step.with?.provider ?? CREATE[what].provider;
		run.ids.add(run.id);
	},

	async wait(run, options, step) {
		const begin = () => run.begin('wait', step, { subject: run.subject, session: run.session, elicitation_id: run.id, ...run.fill(options) });
		begin();
		if (!step.until) return;
		await until(`it is ${step.until}`, async () => {
			const { error } = await run.calls.get(step.as).end;
			return error?.status === step.until || void begin();
		});
	},

	async stop(run, name) {
		const call = run.calls.get(name);
		await call.driver.begin('stop', { wait: call.number }).end;
	},

	complete: (run, _, step) => run.about('complete', step),
	cancel: (run, _, step) => run.about('cancel', step),
	abandon: (run, _, step) => run.about('abandon', step),
	claim: (run, _, step) => run.about('claim', step),
	begin_claim: (run, _, step) => run.about('begin_claim', step),
	unclaimed: (run, _, step) => run.list('unclaimed', step),
	refunds: (run, _, step) => run.list('refunds', step),

	/** The next entries of this elicitation, for a consumer of its own. */
	async ledger(run, options, step) {
		const entries = await run.ask('ledger', step, { consumer: `of-${run.id}`, elicitation_id: run.id, ...options });
		if (step.fails) return;
		const wanted = run.fill(step.answers);
		assert.equal(entries.length, wanted.length, JSON.stringify(entries));
		wanted.forEach((each, n) => matches(entries[n], each));
	},

	async paid(run, options, step) {
		const answer = await run.ask('paid', step, { subject: run.subject, ...options });
		if ('answers' in step) assert.equal(answer, step.answers);
	},

	fulfil: (run, result, step) => run.finish('fulfil', step, { result }),
	confirm: (run, _, step) => run.finish('confirm', step, {}),
	release: (run, _, step) => run.finish('release', step, {}),

	async purge(run, options, step) {
		const purged = await run.ask('purge', step, run.fill(options));
		if ('answers' in step) assert.equal(purged, step.answers);
	},

	/** The cookie that the callback programs read. */
	async ticket(run, options, step) {
		const ticket = await run.ask('ticket', step, { subject: run.subject, ...options });
		if (step.fails) return;
		const { subject, left } = openTicket(ticket.value);
		assert.equal(subject, run.subject);
		const seconds = step.lasts;
		assert.ok(left > seconds - 60 && left <= seconds, `it lasts ${left} s`);
		assert.equal(ticket.name, '__Host-urlmode-ticket');
		assert.equal(ticket.header, `${ticket.name}=${ticket.value}; Path=/; Max-Age=${seconds}; Secure; HttpOnly; SameSite=Lax`);
	},

	/** So many days pass for this elicitation, and the next purge looks at all rows again. */
	async ages(run, days) {
		const columns = ['created_at', 'opened_at', 'completed_at', 'expires_at'].map((name) => `${name} = ${name} - $2 * interval '1 day'`);
		await fixture.stack.sql(`UPDATE urlmode.elicitation SET ${columns} WHERE id = $1`, [run.id, days]);
		await fixture.stack.sql("UPDATE urlmode.purge_pass SET since = '-infinity', expires_at = '-infinity'");
	},

	/** As PostgreSQL does where the queue of notifications has no room for what the change of a row announces. */
	async full(run, isFull) {
		const name = `full_${run.id.replaceAll('-', '')}`;
		await fixture.stack.sql(isFull ? `
			CREATE FUNCTION public.${name}() RETURNS trigger LANGUAGE plpgsql AS
				$$ BEGIN RAISE program_limit_exceeded USING MESSAGE = 'too many notifications in the NOTIFY queue'; END $$;
			CREATE TRIGGER ${name} BEFORE UPDATE OF status ON urlmode.elicitation FOR EACH ROW
				WHEN (NEW.id = '${run.id}' AND NEW.status = 'completed') EXECUTE FUNCTION public.${name}()`
			: `DROP FUNCTION public.${name} CASCADE`);
	},

	async late(run, _, step) {
		await run.ask('late', step, {});
		await STEPS.listens(run, step.by ?? 'a');
	},

	async new_refunds(run, _, step) {
		await run.ask('new_refunds', step, {});
		await STEPS.listens(run, step.by ?? 'a');
	},

	/** The instance was told of no late payment and no refund. */
	quiet: (run, name) => assert.deepEqual([run.drivers[name].late, run.drivers[name].refunds], [[], []]),

	reported: (run, wanted, { by = 'a' }) => run.isReported(run.drivers[by].late, wanted),
	refunded: (run, wanted, { by = 'a' }) => run.isReported(run.drivers[by].refunds, wanted),

	async outcome(run, wanted, { of, within_s: limit }) {
		const call = run.calls.get(of);
		const { answer, error } = await call.end;
		const passed = (performance.now() - run.silentSince) / 1_000;
		if (limit) assert.ok(passed < limit, `it came after ${passed} s of silence`);
		assert.equal(error, undefined, JSON.stringify(error));
		matches(answer, run.fill(toldBy(call.driver, 'outcome', wanted)));
	},

	async error(run, code, { of, status }) {
		const { answer, error } = await run.calls.get(of).end;
		assert.equal(error?.code, code, JSON.stringify(answer ?? error));
		if (status) assert.equal(error.status, status);
	},

	async heard(run, wanted, { of }) {
		const call = run.calls.get(of);
		await until(`${wanted} is heard`, () => call.heard.length >= wanted.length);
		assert.deepEqual(call.heard, wanted);
	},

	rechecks(run, wanted) {
		const asked = [...run.calls.values()].flatMap(({ rechecks }) => rechecks);
		assert.equal(asked.length, wanted.length);
		run.fill(wanted).forEach((each, n) => matches(asked[n], each));
	},

	verified: (run, count) => assert.equal([...run.calls.values()].reduce((sum, { verified }) => sum + verified.length, 0), count),

	async types(run, value) {
		run.form ??= await FormPage.open(fixture, run.url);
		await run.form.send('submit', { 'field.api_key': value });
	},

	shows: (run, text) => run.form.shows(text),

	async decides(run, answer, { user, comment }) {
		if (user) await decideAs(fixture, run.url, { approver: user, answer, comment });
		else await (await FormPage.open(fixture, run.url)).send(answer, comment === undefined ? {} : { comment });
	},

	async user(run, does) {
		if (does === 'refuses') {
			const browser = fixture.browser();
			await press(browser, await browser.open(run.url), 'refuse');
			return;
		}
		if (!run.state) await run.open();
		if (does === 'opens') return;
		const url = new URL(run.returnUrl ?? fixture.url('/oauth/demo/return'));
		const said = does === 'returns' ? { code: 'c' } : { error: 'access_denied' };
		url.search = new URLSearchParams({ iss: fixture.stack.env.URLMODE_DEMO_ISSUER, state: run.state, ...said }).toString();
		assert.equal((await comeBack(run.browser, url)).location, '/done');
	},

	async provider(run, what, { price }) {
		const provider = sender(fixture, run.provider);
		const answer = await provider.send(provider.event(run.id, what, { amount: 1050, currency: 'EUR', reference: run.reference, ...run.fill(price) }));
		assert.equal(answer.status, 200, answer.body);
	},

	async announced(run, what) {
		const payload = typeof what === 'string' ? what : JSON.stringify(run.fill(what));
		await fixture.stack.sql("SELECT pg_notify('urlmode', $1)", [payload]);
	},

	async keys(run, what) {
		run.keysFile.write(what === 'added');
		// What is kept of a file that was looked at is valid for a second.
		if (what === 'removed') await sleep(1_100);
	},

	listens: async (run, name) => SIDES[run.drivers[name].side].without || until('it listens', async () => (await listening(run.drivers[name])).length > 0),

	async breaks(run, name) {
		const { length } = await fixture.stack.sql(
			'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = $1', [run.drivers[name].name]);
		assert.ok(length > 0);
	},

	async silences(run) {
		run.relay.silence();
		run.silentSince = performance.now();
		// A connection that has just answered is not asked whether it is alive.
		await sleep(ALIVE_MS + 100);
	},

	/**
	 * Claims `claims` accounts whose rows are locked, so that the instance has no connection left, makes `creates` elicitations, and stops
	 * all of them.
	 */
	async storm(run, { claims, creates }) {
		const someone = () => ({ subject: `user-${randomUUID()}`, session: run.session });
		const { a } = run.drivers;
		run.accounts = await Promise.all(Array.from({ length: claims }, async () => {
			const me = someone();
			const { elicitation_id: id } = await run.ask('create', { by: 'b' }, { ...CREATE.account, ...me });
			const account = { elicitation_id: id, ...me };
			assert.equal(await run.ask('complete', { by: 'b' }, { ...account, action: 'accept', result: { code: 'c' } }), true);
			return account;
		}));
		const held = await holdRow(fixture.stack, ...run.accounts.map(({ elicitation_id: id }) => id));
		let calls;
		try {
			calls = run.accounts.map((account) => a.begin('begin_claim', account));
			await until('all connections wait for a row', async () => (await fixture.stack.sql(
				"SELECT FROM pg_stat_activity WHERE application_name = $1 AND wait_event_type = 'Lock'", [a.name])).length === POOL_MAX);
			run.users = Array.from({ length: creates }, someone);
			calls.push(...run.users.map((me) => a.begin('create', { ...CREATE.account, ...me })));
			for (const { number } of calls) a.begin('stop', { wait: number });
			await Promise.all(calls.slice(claims).map(async ({ end }) => {
				const { answer, error } = await end;
				assert.equal(error?.code, 'STOPPED', JSON.stringify(answer ?? error));
			}));
		} finally {
			await held.release();
		}
		// In Go, who has begun a claim gives it back.
		await Promise.all(calls.slice(0, claims).map(async ({ end, number }) => {
			const { answer, error } = await end;
			if (answer) assert.equal((await a.begin('release_unsent', { claim: number }).end).answer, true);
			else assert.equal(error.code, 'STOPPED');
		}));
	},

	/** Each account of the storm can be claimed: what was sent is given back. */
	claimable: (run, _, step) => Promise.all(run.accounts.map((account) => until('it can be claimed',
		async () => (await run.ask('begin_claim', step, account)).state === 'begun'))),

	/** So many of the elicitations of the storm were written. */
	async written(run, count) {
		const rows = await fixture.stack.sql('SELECT FROM urlmode.elicitation WHERE subject = ANY ($1)', [run.users.map(({ subject }) => subject)]);
		assert.equal(rows.length, count);
	},

	async close(run, name) {
		await run.drivers[name].begin('close', {}).end;
	},

	kill: (run, name) => run.drivers[name].kill(),
};

let runs = 0;

/** A keys file of the instance `a`, with a key that nobody else has, and with those of the others. */
class KeysFile {
	#folder = mkdtempSync(join(tmpdir(), 'urlmode-keys-'));
	#another = `200 ${randomBytes(32).toString('base64')}\n`;
	file = join(this.#folder, 'keys');

	write(hasTheirs) {
		const theirs = hasTheirs ? readFileSync(fixture.stack.env.URLMODE_KEYS_FILE, 'latin1') : '';
		writeFileSync(`${this.file}.new`, theirs + this.#another, { mode: 0o600 });
		renameSync(`${this.file}.new`, this.file);
	}

	remove() {
		rmSync(this.#folder, { recursive: true });
	}
}

/** The tenants of the instances, which no other run has, and the key of each that goes over HTTP. */
async function tenantsOf(tenants, pair) {
	const suffix = randomBytes(4).toString('hex');
	return Promise.all(['a', 'b'].map(async (name, n) => {
		if (!tenants) return {};
		const tenant = `${tenants[name]}-${suffix}`;
		if (pair[n] !== 'http') return { settings: { tenant } };
		return { env: { URLMODE_API_KEY: (await api.as(`${name}-${suffix}`, tenant)).key } };
	}));
}

async function run({ steps, own, keys, relay: hasRelay, tenants, settings = {} }, pair) {
	const isOwn = own || keys || hasRelay || tenants || Object.keys(settings).length > 0;
	const keysFile = keys && new KeysFile();
	keysFile?.write(keys === 'same');
	const ends = [];
	const relay = hasRelay && await Proxy.start({ after: (end) => ends.push(end) }, fixture.stack.env.URLMODE_DATABASE_URL);
	const drivers = {};
	const ofTenant = await tenantsOf(tenants, pair);
	for (const [n, name] of ['a', 'b'].entries()) {
		const key = `${pair[n]} ${name}`;
		const start = () => {
			const [late, refunds] = [[], []];
			const env = { ...fixture.stack.env, ...name === 'a' && {
				...keysFile && { URLMODE_KEYS_FILE: keysFile.file }, ...relay && { URLMODE_DATABASE_URL: relay.url },
			} };
			const driver = new Driver(pair[n], {
				name: `waiting-${pair[n]}-${name}-${runs += 1}`, env: { ...env, ...ofTenant[n].env }, settings: { ...settings, ...ofTenant[n].settings },
				onLate: (payment) => late.push(payment), onRefund: (refund) => refunds.push(refund),
			});
			return Object.assign(driver, { late, refunds });
		};
		if (!isOwn && !shared.has(key)) shared.set(key, start());
		drivers[name] = isOwn ? start() : shared.get(key);
	}
	const state = Object.assign(new Run(drivers), { keysFile, relay });
	const killed = steps.map(({ kill }) => kill);
	try {
		for (const [index, step] of steps.entries()) {
			const [verb] = Object.keys(step);
			assert.ok(Object.hasOwn(STEPS, verb), `no step is called ${verb}`);
			try {
				await STEPS[verb](state, step[verb], step);
			} catch (error) {
				error.message = `step ${index + 1}, ${JSON.stringify(step)}: ${error.message}`;
				throw error;
			}
		}
	} finally {
		if (isOwn) await Promise.all(Object.entries(drivers).filter(([name]) => !killed.includes(name)).map(([, driver]) => driver.end()));
		for (const end of ends) end();
		keysFile?.remove();
	}
}

if (SIDE !== 'go') test('a driver that ends with an error ends all of its calls, with its last words', { timeout: 60_000 }, async () => {
	const driver = new Driver('node', { name: 'broken', env: { ...fixture.stack.env, URLMODE_KEYS_FILE: '/nowhere/keys' } });
	const { error } = await driver.begin('unclaimed').end;
	assert.match(error.message, /^the driver broken has ended \(1\): [^]*\/nowhere\/keys/);
	assert.deepEqual((await driver.begin('unclaimed').end).error, error);
	assert.equal(driver.failure.message, error.message);
});

for (const pair of PAIRS) {
	const [one, other] = pair;
	describe(one === other ? one : `${one} with ${other}`, { concurrency: 4 }, () => {
		for (const scenario of ALL.filter((each) => canRun(each, pair))) {
			test(scenario.name, { timeout: 120_000 }, () => run(scenario, pair));
		}
	});
}
