// Runs the scenarios of tests/scenarios, one after the other or many at the same
// time. What a step means is in tests/scenarios/README.md.

import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

import { elicitationsOf, goToCheckout, PRICE, refuse, rowState, scenarioUser, settle, signIn, tellOfSubscription } from './adapters.mjs';
import { decideAs, FormPage } from './form-page.mjs';
import { deferred, until } from './wait.mjs';

const FOLDER = new URL('../scenarios/', import.meta.url);

/**
 * @typedef {object} Scenario
 * @property {string} name
 * @property {string[]} [of] the ways of asking that it is for: `request`, `retry` or `link`. All by default
 * @property {string[]} [needs] what a server must have
 * @property {number} [servers] instances that it has for itself, because it stops or kills them
 * @property {boolean} [once] one framework of a language, with one kind of client for each way, is enough
 * @property {boolean} [always] every version of a framework runs it, with every kind of client, also where VERSIONS is not `all`
 * @property {Record<string, unknown>[]} steps
 *
 * @typedef {object} Setting a server on one framework, and one kind of client
 * @property {import('./fixture.mjs').Fixture} fixture
 * @property {'request' | 'retry' | 'link'} way
 * @property {string[]} has
 * @property {Record<string, string>} [tools] other names of tools
 * @property {(subject: string) => string} tokenOf the access token of a user
 * @property {(scenario: { servers?: number }, run: (servers: Servers) => Promise<void>) => Promise<void>} serve runs a scenario with its servers
 * @property {(options: object) => Promise<object>} connect a client, see clients.mjs
 *
 * @typedef {object} Servers
 * @property {string} url of all of them
 * @property {{ url: string, output: string, kill: () => Promise<void>, stop: () => Promise<number | string> }[]} instances
 */

/** @returns {Scenario[]} */
export function readScenarios() {
	return readdirSync(FOLDER).filter((file) => file.endsWith('.json')).sort()
		.flatMap((file) => JSON.parse(readFileSync(new URL(file, FOLDER), 'utf8')));
}

/**
 * @param {Scenario} scenario
 * @param {Pick<Setting, 'way' | 'has'> & { whole: boolean, shared?: boolean }} setting shared: another framework, whose adapter is
 *     made of the same modules, runs what is to be run once
 */
export function isFor({ of, needs = [], once = false, always = false }, { way, has, whole, shared = false }) {
	const all = process.env.VERSIONS === 'all';
	const isWanted = all ? whole || !once : whole ? !(once && shared) : always;
	return isWanted && (of === undefined || of.includes(way)) && needs.every((need) => has.includes(need));
}

let runs = 0;

/** The number of another run, with users of its own. */
export const nextRun = () => runs += 1;

/**
 * Each run has users of its own, so that many can run at the same time.
 *
 * @param {Scenario} scenario
 * @param {Setting} setting
 */
export function runScenario({ steps, servers }, setting) {
	return setting.serve({ servers }, async (served) => {
		const run = new Run(setting, served, nextRun());
		try {
			await runSteps(run, steps);
		} finally {
			await run.close();
		}
	});
}

async function runSteps(run, steps) {
	for (const [index, step] of steps.entries()) {
		const [verb] = Object.keys(step);
		assert.ok(Object.hasOwn(STEPS, verb), `no step is called ${verb}`);
		try {
			await STEPS[verb](run, step[verb], step);
		} catch (error) {
			error.message = `step ${index + 1}, ${JSON.stringify(step)}: ${error.message}`;
			throw error;
		}
	}
}

class Run {
	clients = new Map();
	calls = new Map();
	/** The call whose link the user has. */
	asked = undefined;
	payments = 0;

	constructor(setting, servers, number) {
		Object.assign(this, { setting, servers, number, fixture: setting.fixture });
	}

	subject(user) {
		return scenarioUser(user, this.number);
	}

	get reference() {
		return `cs_${scenarioUser('paid', this.number)}_${this.payments}`;
	}

	fill(text) {
		return text.replaceAll('{reference}', this.reference).replace(/\{(ada|grace)\}/g, (_, user) => this.subject(user));
	}

	/** The page of the form that the user was asked to open. */
	async form() {
		this.asked.form ??= await FormPage.open(this.fixture, this.asked.url);
		return this.asked.form;
	}

	async connect({ as = 'client', user = 'ada', declares, answers = 'accept', server, ...more } = {}) {
		const held = deferred();
		const client = await this.setting.connect({
			url: server === undefined ? this.servers.url : this.servers.instances[server].url,
			token: this.setting.tokenOf(this.subject(user)),
			...declares && { capabilities: declares },
			onElicit() {
				if (answers === 'error') throw new Error('this client cannot ask its user');
				return answers === 'held' ? held.promise : answers;
			},
			...more,
		});
		this.clients.set(as, {
			client, held, hasAnswered: answers !== 'held',
			asks: this.setting.way !== 'link' && (!declares || Boolean(declares.elicitation?.url)),
		});
		return this.clients.get(as);
	}

	async clientOf({ by = 'client' }) {
		return this.clients.get(by) ?? this.connect({ as: by });
	}

	callOf({ of }) {
		return this.calls.get(of) ?? (of ? assert.fail(`no call is called ${of}`) : [...this.calls.values()].at(-1));
	}

	/** Whatever state they are in: another scenario stops their server. */
	async close() {
		await Promise.allSettled([...this.clients.values()].map(({ client }) => client.close()));
	}

	async newestRow({ of = 'ada' }) {
		return (await elicitationsOf(this.fixture, this.subject(of)))[0];
	}
}

/**
 * Ends a call by `end` while the server waits for its elicitation, and returns when the
 * server has ended the wait: an outcome that arrives earlier belongs to this call. A client
 * that was asked by a result, and has not answered yet, has no call that waits.
 *
 * @param {Run} run
 * @param {{ hasAnswered: boolean }} client
 * @param {() => unknown} end
 */
async function endWait(run, { hasAnswered }, end) {
	const { id } = await run.newestRow({});
	const waits = () => run.servers.instances.reduce((sum, instance) => sum + instance.waitsFor(id), 0);
	if (run.setting.way !== 'retry' || hasAnswered) await until('the server waits', () => waits() > 0);
	await end();
	await until('the server waits no longer', () => waits() === 0);
}

function beginCall(client, tool, { progress, timeout }) {
	const controller = new AbortController();
	const heard = [];
	const promise = client.call(tool, {
		signal: controller.signal, timeout, ...progress && { onProgress: ({ message }) => heard.push(message) },
	});
	promise.catch(() => {});
	return { client, tool, promise, controller, heard };
}

function linkIn({ text }) {
	return /^https?:\S+$/m.exec(text)?.[0] ?? /https?:\S+/.exec(text)?.[0] ?? assert.fail(`no link in: ${text}`);
}

function checkResult(run, { text, data, isError }, wanted) {
	if (wanted.text !== undefined) assert.equal(text, run.fill(wanted.text));
	for (const part of [wanted.says ?? []].flat()) assert.ok(text.includes(run.fill(part)), `“${part}” is not in: ${text}`);
	for (const part of [wanted.saysNot ?? []].flat()) assert.ok(!text.includes(run.fill(part)), `“${part}” is in: ${text}`);
	if (wanted.isError !== 'either') assert.equal(isError, wanted.isError ?? false, text);
	if (wanted.reason !== undefined) assert.equal(data?.elicitation?.reason, wanted.reason, text);
	if (wanted.data !== undefined) assert.deepEqual(data, JSON.parse(run.fill(JSON.stringify(wanted.data))), text);
}

const STEPS = {
	connect: (run, options) => run.connect(options),

	async call(run, tool, step) {
		const { client, asks } = await run.clientOf(step);
		run.calls.set(step.as ?? tool, { ...beginCall(client, run.setting.tools?.[tool] ?? tool, step), asks, step });
	},

	async asked(run, message, step) {
		const call = run.callOf(step);
		run.asked = call;
		if (call.asks) {
			Object.assign(call, await call.client.nextRequest());
			if (typeof message === 'string') assert.equal(call.message, message);
			return;
		}
		const result = await call.promise;
		call.url = linkIn(result);
		if (typeof message === 'string') assert.ok(result.text.startsWith(message), result.text);
		// The model calls again, as the text has told it. What happens then is an answer to this call.
		Object.assign(call, beginCall(call.client, call.tool, call.step));
		const { id } = await run.newestRow({});
		const waits = () => run.servers.instances.some((instance) => instance.waitsFor(id) > 0);
		await Promise.race([until('the server waits', waits), call.promise.catch(() => {})]);
	},

	async user(run, does) {
		const { url } = run.asked;
		if (does === 'signs in') await signIn(run.fixture, url);
		else if (does === 'refuses') await refuse(run.fixture, url);
		else run.asked.paying = await goToCheckout(run.fixture, url);
	},

	async provider(run, what, { price = {} }) {
		const { asked } = run;
		asked.paying ??= await goToCheckout(run.fixture, asked.url);
		if (!['processing', 'refunded'].includes(what)) run.payments += 1;
		await settle(run.fixture, asked.paying, what, { ...PRICE, ...price, reference: run.reference });
	},

	async subscription(run, what) {
		const { asked } = run;
		asked.paying ??= await goToCheckout(run.fixture, asked.url);
		await tellOfSubscription(run.fixture, asked.paying, what);
	},

	async types(run, value) {
		await (await run.form()).send('submit', { 'field.api_key': value });
	},

	async page(run, text) {
		await (await run.form()).shows(text);
	},

	async decides(run, answer, { user, comment }) {
		if (!user) {
			await (await run.form()).send(answer);
			return;
		}
		const { title } = await decideAs(run.fixture, run.asked.url, { approver: run.subject(user), answer, comment });
		assert.ok(title.startsWith(answer === 'approve' ? 'All done' : 'Declined'), title);
	},

	async answer(run, action, step) {
		(await run.clientOf(step)).held.resolve(action);
	},

	async result(run, wanted, step) {
		const call = run.callOf(step);
		const result = await call.promise;
		checkResult(run, result, wanted);
		if (wanted.link) {
			call.url = linkIn(result);
			run.asked = call;
		}
	},

	async written(run, user) {
		const claims = () => run.fixture.stack.sql('SELECT l.fence FROM urlmode.lease l JOIN urlmode.elicitation e ON e.id = l.elicitation WHERE e.subject = $1',
			[run.subject(user)]);
		await until('the server knows that its answer was written', async () => (await claims()).length === 0);
	},

	async error(run, wanted, step) {
		const call = run.callOf(step);
		const error = await call.promise.then(({ text }) => assert.fail(`it has a result: ${text}`), (reason) => reason);
		if (wanted.code === undefined) return;
		assert.equal(error.code, wanted.code, error);
		if (wanted.code !== -32042) return;
		const [elicitation] = error.data.elicitations;
		assert.equal(elicitation.mode, 'url');
		// What a client says to the model that takes the error for a failure.
		for (const part of [wanted.says ?? []].flat()) assert.ok(error.message.includes(part), `“${part}” is not in: ${error.message}`);
		if (wanted.says) assert.equal(linkIn({ text: error.message }), elicitation.url);
		Object.assign(call, elicitation);
		run.asked = call;
	},

	async heard(run, messages, step) {
		const { heard } = run.callOf(step);
		await until(`${messages} is heard`, () => messages.every((message) => heard.includes(message)));
	},

	pause: (run, milliseconds) => sleep(milliseconds),

	async cancel(run, _, step) {
		await endWait(run, await run.clientOf(step), () => run.callOf(step).controller.abort('enough'));
	},

	async disconnect(run, how, step) {
		const { client, ...settings } = await run.clientOf(step);
		await endWait(run, settings, () => (how === 'ends the session' ? client.endSession() : client.close()));
	},

	async kill(run, server) {
		await run.servers.instances[server].kill();
		run.servers.drop?.(server);
	},

	async stop(run, server) {
		const instance = run.servers.instances[server];
		assert.equal(await instance.stop(), 0, instance.output);
		run.servers.drop?.(server);
	},

	async row(run, state, step) {
		const look = async () => {
			const row = await run.newestRow(step);
			return row ? rowState(run.fixture, row.id) : 'none';
		};
		await until(`the row is ${state}`, async () => await look() === state).catch(async (error) => {
			assert.equal(await look(), state, error.message);
		});
	},

	/** What the client has answered is stored after its call was answered. */
	async remembered(run, answer, step) {
		const { id } = await run.newestRow(step);
		await until(`it is remembered that the client ${answer}`, async () => (
			(await run.fixture.stack.sql('SELECT FROM urlmode.asked_client WHERE elicitation = $1 AND answer = $2', [id, answer])).length > 0));
	},

	async rows(run, count, { of = 'ada' }) {
		assert.equal((await elicitationsOf(run.fixture, run.subject(of))).length, count);
	},

	async requests(run, count, step) {
		const { client } = await run.clientOf(step);
		assert.equal(client.requests.length, count);
	},

	async notifications(run, count, step) {
		if (!run.setting.has.includes('notifications')) return;
		const { client } = await run.clientOf(step);
		if (count > 0) await until('the client is notified', () => client.completed.length >= count);
		assert.equal(client.completed.length, count);
	},

	sameLink(run, names) {
		const urls = names.map((of) => run.callOf({ of }).url);
		assert.equal(new Set(urls).size, 1, urls.join('\n'));
	},
};
