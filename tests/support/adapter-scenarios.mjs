// Runs the scenarios of tests/scenarios with the servers of one adapter, and one kind of client.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import { elicitationsOf, scenarioUser } from './adapters.mjs';
import { startBalancer } from './instances.mjs';
import { isFor, nextRun, runScenario } from './scenarios.mjs';

const TRACE = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';

/** What the servers know of clients, see tests/scenarios/README.md. */
export const SCENARIO_CLIENTS = [
	{ name: 'impatient', round: 600 },
	{ name: 'patient', round: 600, rounds: 8 },
	{ name: 'tireless', round: 300, rounds: 3 },
	{ name: 'boastful', url: false },
	{ name: 'modest', url: true },
	{ name: 'by request', ask: 'request' },
	{ name: 'by error', ask: 'error' },
	{ name: 'by text', ask: 'text', round: 600 },
];

/**
 * The servers of one adapter: at most two, which its scenarios share. A scenario that stops or kills some has all of them
 * for itself. What is left of them serves the next scenario, since a start costs more than most scenarios.
 */
export class AdapterServers {
	#fixture;
	#start;
	/** @type {Promise<import('./scenarios.mjs').Servers['instances'][number]>[]} */
	#instances = [];
	/** The last scenario that has all servers for itself, and those that share them. */
	#alone = Promise.resolve();
	#together = [];

	/**
	 * @param {() => import('./fixture.mjs').Fixture} fixture
	 * @param {() => Promise<import('./scenarios.mjs').Servers['instances'][number]>} start
	 */
	constructor(fixture, start) {
		this.#fixture = fixture;
		this.#start = start;
	}

	/**
	 * Runs a scenario. `sticky`: sessions are in the memory of one process, so that a balancer would lose them.
	 *
	 * @param {Pick<import('./scenarios.mjs').Scenario, 'servers'>} scenario
	 * @param {boolean} sticky
	 * @param {(servers: import('./scenarios.mjs').Servers) => Promise<void>} run
	 */
	serve({ servers }, sticky, run) {
		const served = Promise.allSettled([this.#alone, ...servers ? this.#together : []])
			.then(() => (servers ? this.#serveAlone(servers, sticky, run) : this.#serve(sticky ? 1 : 2, sticky, run)));
		if (servers) this.#alone = served;
		else this.#together.push(served);
		return served;
	}

	async #serveAlone(count, sticky, run) {
		try {
			await this.#serve(count, sticky, run);
		} finally {
			const instances = await Promise.all(this.#instances);
			this.#instances = instances.filter(({ isRunning }) => isRunning).map((instance) => Promise.resolve(instance));
		}
	}

	async #serve(count, sticky, run) {
		while (this.#instances.length < count) this.#instances.push(this.#start());
		const instances = await Promise.all(this.#instances.slice(0, count));
		if (sticky) return run({ url: instances[0].url, instances });
		const { url, drop } = this.#fixture().closeAtEnd(await startBalancer(instances.map((instance) => instance.url)));
		return run({ url, drop, instances });
	}
}

/**
 * @param {string} name of the adapter, its version and the client
 * @param {object} options
 * @param {() => import('./fixture.mjs').Fixture} options.fixture
 * @param {AdapterServers} options.servers
 * @param {import('./scenarios.mjs').Scenario[]} options.scenarios those that fit are run
 * @param {'request' | 'retry' | 'link'} options.way
 * @param {string[]} options.has
 * @param {(options: object) => Promise<object>} options.connect
 * @param {boolean} [options.whole] false: without the scenarios of which one version of the framework is enough
 * @param {boolean} [options.shared] another framework of the language runs those that are to be run once
 * @param {boolean} [options.sticky]
 * @param {string} [options.traced] a tool whose call has a trace, which is to be kept
 * @param {Record<string, string>} [options.tools]
 * @param {(subject: string) => string} [options.tokenOf]
 */
export function describeScenarios(name, { fixture, servers, scenarios, way, has, connect, whole = true, shared, sticky, traced, tools, tokenOf = (subject) => `token-of-${subject}` }) {
	describe(name, { concurrency: 4, timeout: 1_200_000 }, () => {
		const setting = () => ({
			fixture: fixture(), way, has, tools, tokenOf, connect,
			serve: (scenario, run) => servers.serve(scenario, sticky || has.includes('sessions'), run),
		});
		const fitting = scenarios.filter((each) => isFor(each, { way, has, whole, shared }));
		// First those that stop or kill servers, so that the others find what is left.
		for (const scenario of [...fitting.filter(({ servers: own }) => own), ...fitting.filter(({ servers: own }) => !own)]) {
			test(scenario.name, { timeout: 240_000 }, () => runScenario(scenario, setting()));
		}

		// Some frameworks show a tool its `_meta`, and others the headers of the request.
		if (traced) test('the trace of a call is kept with the row', { timeout: 240_000 }, async () => {
			const subject = scenarioUser('ada', nextRun());
			await servers.serve({}, true, async ({ url }) => {
				const client = fixture().closeAtEnd(await connect(
					{ url, token: tokenOf(subject), name: 'impatient', headers: { traceparent: TRACE }, onElicit: () => 'decline' }));
				await client.call(traced, { meta: { traceparent: TRACE } });
			});
			const [{ traceparent }] = await elicitationsOf(fixture(), subject);
			assert.equal(traceparent, TRACE);
		});
	});
}
