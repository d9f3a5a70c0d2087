// urlmode/mcp and urlmode/mcpgo, with the oldest and the newest version of the official Go SDK and of mcp-go, run the
// scenarios of tests/scenarios with each kind of client in TypeScript.

import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { makeExampleProject, openAdapterFixture, SCENARIO_USERS } from '../support/adapters.mjs';
import { connectSdk1, connectSdk2 } from '../support/clients.mjs';
import { buildGoServers } from '../support/go.mjs';
import { startBalancer, startInstance } from '../support/instances.mjs';
import { isFor, readScenarios, runScenario } from '../support/scenarios.mjs';

const ALWAYS = ['text', 'resumes', 'stops', 'names'];
const SESSIONS = [...ALWAYS, 'sessions'];
const NOTIFIES = [...SESSIONS, 'error', 'notifications', 'late notifications'];
const OLDER = { of: 'the SDK 2.x, 2025-11-25', connect: (project, options) => connectSdk2(project, { ...options, legacy: true }), way: 'request' };
const SDK1 = { of: 'the SDK 1.x', connect: connectSdk1, way: 'request' };
const NEWEST = { of: 'the SDK 2.x', connect: connectSdk2, way: 'retry', has: ALWAYS };
const SERVERS = [
	{ of: 'go-sdk, oldest', server: 'sdk', version: 'oldest', clients: [{ ...OLDER, has: SESSIONS }] },
	{ of: 'go-sdk, newest', server: 'sdk', version: 'newest', clients: [{ ...SDK1, has: NOTIFIES }, NEWEST] },
	{ of: 'mcp-go, oldest', server: 'mcpgo', version: 'oldest', clients: [NEWEST] },
	{ of: 'mcp-go, newest', server: 'mcpgo', version: 'newest', clients: [{ ...OLDER, has: NOTIFIES }] },
];
const MS = 1_000_000;
/** What the servers know of clients, see tests/scenarios/README.md; in nanoseconds. */
const KNOWN = [
	{ name: 'impatient', round: 600 * MS }, { name: 'patient', round: 600 * MS, rounds: 8 }, { name: 'tireless', round: 300 * MS, rounds: 3 },
	{ name: 'boastful', url: false }, { name: 'modest', url: true },
];

/** Go has no forms. */
const TOOLS = ['connect_account', 'buy_report', 'read_report'];
const ALL = readScenarios().filter(({ steps }) => steps.every(({ call }) => call === undefined || TOOLS.includes(call)));
/** The official SDK sends no request to a client that does not declare it. */
const isAsked = ({ server }, { steps, of }) => server !== 'sdk' || of?.[0] === 'retry' || steps.every(({ connect }) => connect?.name !== 'modest');

let fixture;
let built;
const project = makeExampleProject('sdk2', 'newest');

before(async () => {
	built = await buildGoServers();
	fixture = await openAdapterFixture('go');
}, { timeout: 900_000 });

after(() => fixture?.close());

async function startMany({ server, version }, count) {
	const { env } = fixture.stack;
	return Promise.all(Array.from({ length: count }, async () => fixture.closeAtEnd(await startInstance(project, fixture.stack, {
		command: [fileURLToPath(new URL(`${version}-${server}`, built))],
		env: {
			APP_USERS: JSON.stringify(SCENARIO_USERS), APP_ISSUER: env.URLMODE_DEMO_ISSUER, APP_CLIENT_ID: 'urlmode-demo',
			APP_CLIENTS: JSON.stringify(KNOWN),
		},
	}))));
}

for (const { of: framework, clients, ...program } of SERVERS) {
	const shared = new Map();

	/** Sessions are in the memory of one process. */
	const start = async ({ servers }, hasSessions) => {
		if (!servers && !shared.has('both')) shared.set('both', startMany(program, 2));
		const instances = await (servers ? startMany(program, servers) : shared.get('both'));
		if (hasSessions || instances.length === 1) return { url: instances[0].url, instances };
		const { url, drop } = fixture.closeAtEnd(await startBalancer(instances.map((instance) => instance.url)));
		return { url, drop, instances };
	};

	for (const { of, connect, way, has } of clients) {
		describe(`${framework}, a client of ${of}`, { concurrency: 4, timeout: 1_200_000 }, () => {
			const setting = () => ({
				fixture, way, has, tokenOf: (subject) => `token-of-${subject}`,
				start: (options) => start(options, has !== ALWAYS), connect: (options) => connect(project, options),
			});
			for (const scenario of ALL.filter((each) => isFor(each, { way, has }) && isAsked(program, each))) {
				test(scenario.name, { timeout: 240_000 }, () => runScenario(scenario, setting()));
			}
		});
	}
}
