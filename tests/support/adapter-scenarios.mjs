// Runs the scenarios of tests/scenarios with the servers of one adapter, and one kind of client.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import { elicitationsOf, scenarioUser } from './adapters.mjs';
import { startBalancer } from './instances.mjs';
import { isFor, nextRun, runScenario } from './scenarios.mjs';

const TRACE = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';

/** The servers of one adapter: two that scenarios share, and those of one scenario. */
export class AdapterServers {
	#fixture;
	#start;
	#shared;

	/**
	 * @param {() => import('./fixture.mjs').Fixture} fixture
	 * @param {() => Promise<import('./scenarios.mjs').Servers['instances'][number]>} start
	 */
	constructor(fixture, start) {
		this.#fixture = fixture;
		this.#start = start;
	}

	/** `sticky`: sessions are in the memory of one process, so that a balancer would lose them. */
	async start({ servers }, sticky) {
		this.#shared ??= this.#startMany(2);
		const instances = await (servers ? this.#startMany(servers) : this.#shared);
		if (sticky || instances.length === 1) return { url: instances[0].url, instances };
		const { url, drop } = this.#fixture().closeAtEnd(await startBalancer(instances.map((instance) => instance.url)));
		return { url, drop, instances };
	}

	#startMany(count) {
		return Promise.all(Array.from({ length: count }, () => this.#start()));
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
 * @param {boolean} [options.sticky]
 * @param {string} [options.traced] a tool whose call has a trace, which is to be kept
 * @param {Record<string, string>} [options.tools]
 * @param {(subject: string) => string} [options.tokenOf]
 */
export function describeScenarios(name, { fixture, servers, scenarios, way, has, connect, whole = true, sticky, traced, tools, tokenOf = (subject) => `token-of-${subject}` }) {
	describe(name, { concurrency: 4, timeout: 1_200_000 }, () => {
		const setting = () => ({
			fixture: fixture(), way, has, tools, tokenOf, connect,
			start: (options) => servers.start(options, sticky || has.includes('sessions')),
		});
		for (const scenario of scenarios.filter((each) => isFor(each, { way, has, whole }))) {
			test(scenario.name, { timeout: 240_000 }, () => runScenario(scenario, setting()));
		}

		// Some frameworks show a tool its `_meta`, and others the headers of the request.
		if (traced) test('the trace of a call is kept with the row', { timeout: 240_000 }, async () => {
			const subject = scenarioUser('ada', nextRun());
			const { url } = await servers.start({}, true);
			const client = fixture().closeAtEnd(await connect(
				{ url, token: tokenOf(subject), name: 'impatient', headers: { traceparent: TRACE }, onElicit: () => 'decline' }));
			await client.call(traced, { meta: { traceparent: TRACE } });
			const [{ traceparent }] = await elicitationsOf(fixture(), subject);
			assert.equal(traceparent, TRACE);
		});
	});
}
