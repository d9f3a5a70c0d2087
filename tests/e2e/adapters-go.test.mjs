// urlmode/mcp and urlmode/mcpgo, with the oldest and the newest version of the official Go SDK and of mcp-go, run the
// scenarios of tests/scenarios with each kind of client in TypeScript: with the oldest those that depend on the version, unless
// VERSIONS=all. Those about rows, users and processes run on the official SDK: both adapters are made of lib/go/adapter. Then clients and servers in Go and Python meet.

import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { AdapterServers, describeScenarios } from '../support/adapter-scenarios.mjs';
import { makeExampleProject, openAdapterFixture, SCENARIO_USERS } from '../support/adapters.mjs';
import { connectSdk1, connectSdk2 } from '../support/clients.mjs';
import { buildGo, buildGoServers } from '../support/go.mjs';
import { startInstance } from '../support/instances.mjs';
import { buyReport, REVISIONS } from '../support/meeting.mjs';
import { GO_CLIENTS } from '../support/programs.mjs';
import { PYTHON, PYTHON_ENV } from '../support/python.mjs';
import { readScenarios } from '../support/scenarios.mjs';

const ALWAYS = ['text', 'resumes', 'stops', 'names', 'typed'];
const SESSIONS = [...ALWAYS, 'sessions'];
const NOTIFIES = [...SESSIONS, 'error', 'notifications', 'late notifications'];
const OLDER = { of: 'the SDK 2.x, 2025-11-25', connect: (project, options) => connectSdk2(project, { ...options, legacy: true }), way: 'request' };
const SDK1 = { of: 'the SDK 1.x', connect: connectSdk1, way: 'request' };
const NEWEST = { of: 'the SDK 2.x', connect: connectSdk2, way: 'retry', has: ALWAYS };
const SERVERS = [
	{ of: 'go-sdk, oldest', server: 'sdk', version: 'oldest', clients: [{ ...OLDER, has: SESSIONS }, NEWEST] },
	{ of: 'go-sdk, newest', server: 'sdk', version: 'newest', clients: [{ ...SDK1, has: NOTIFIES }, NEWEST] },
	{ of: 'mcp-go, oldest', server: 'mcpgo', version: 'oldest', clients: [{ ...OLDER, has: NOTIFIES }, NEWEST] },
	{ of: 'mcp-go, newest', server: 'mcpgo', version: 'newest', clients: [{ ...OLDER, has: NOTIFIES, shared: true }, { ...NEWEST, whole: false }] },
];
const MS = 1_000_000;
/** What the servers know of clients, see tests/scenarios/README.md; in nanoseconds. */
const KNOWN = [
	{ name: 'impatient', round: 600 * MS }, { name: 'patient', round: 600 * MS, rounds: 8 }, { name: 'tireless', round: 300 * MS, rounds: 3 },
	{ name: 'boastful', url: false }, { name: 'modest', url: true },
	{ name: 'by request', ask: 'request' }, { name: 'by error', ask: 'error' }, { name: 'by text', ask: 'text', round: 600 * MS },
];

const ALL = readScenarios();
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

async function startProgram(command, env) {
	return fixture.closeAtEnd(await startInstance(project, fixture.stack, { command, env: {
		APP_USERS: JSON.stringify(SCENARIO_USERS), APP_ISSUER: fixture.stack.env.URLMODE_DEMO_ISSUER, APP_CLIENT_ID: 'urlmode-demo', ...env,
	} }));
}

const start = ({ server, version }) => startProgram([fileURLToPath(new URL(`${version}-${server}`, built))], { APP_CLIENTS: JSON.stringify(KNOWN) });

for (const { of: framework, clients, ...program } of SERVERS) {
	const servers = new AdapterServers(() => fixture, () => start(program));
	for (const { of, connect, ...rest } of clients) {
		describeScenarios(`${framework}, a client of ${of}`, {
			fixture: () => fixture, servers, scenarios: ALL.filter((each) => isAsked(program, each)),
			whole: program.version === 'newest', traced: 'connect_account', connect: (options) => connect(project, options), ...rest,
		});
	}
}

const path = (relative) => fileURLToPath(new URL(`../../${relative}`, import.meta.url));
const inGo = (of) => ({ of, start: () => start(SERVERS.find((each) => each.of === of)) });
const inPython = (of, name) => ({ of, start: () => startProgram([PYTHON, path(`lib/python/examples/${name}.py`)], PYTHON_ENV) });
/** Each client with a server in the other language, and those of Go with a server of their own SDK. */
const MEETINGS = [
	['python', inGo('go-sdk, newest')], ['python', inGo('mcp-go, newest')], ['go-sdk', inPython('mcp', 'sdk')], ['mcp-go', inPython('FastMCP', 'fastmcp_server')],
	['go-sdk', inGo('go-sdk, newest')], ['mcp-go', inGo('mcp-go, newest')],
];

describe('clients and servers in Go and Python', { timeout: 600_000, concurrency: 4 }, () => {
	before(() => buildGo('tests/clients/go', GO_CLIENTS), { timeout: 600_000 });

	MEETINGS.forEach(([client, { of, start: startServer }], index) => {
		let server;
		for (const revision of REVISIONS) {
			test(`${client} calls ${of}, ${revision}`, { timeout: 120_000 }, async () => {
				server ??= startServer();
				const { url } = await server;
				const last = -2 * (REVISIONS.length * index + REVISIONS.indexOf(revision));
				await buyReport(fixture, client, { url, revision, tokens: Object.keys(SCENARIO_USERS).slice(last - 2, last || undefined) });
			});
		}
	});
});
