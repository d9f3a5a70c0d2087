// urlmode.mcp and urlmode.fastmcp, with the oldest and the newest version of each major version of the official Python SDK
// and of FastMCP (but only the newest of FastMCP 3), run the scenarios of tests/scenarios with each kind of client in TypeScript: all of them with the newest
// version of the SDK, and those that depend on the version with the others, unless VERSIONS=all.
// And Python's client calls a server in Node.

import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { AdapterServers, describeScenarios } from '../support/adapter-scenarios.mjs';
import { makeExampleProject, openAdapterFixture, SCENARIO_USERS, startExample } from '../support/adapters.mjs';
import { connectSdk1, connectSdk2 } from '../support/clients.mjs';
import { Forks } from '../support/forks.mjs';
import { buyReport, REVISIONS } from '../support/meeting.mjs';
import { PYTHON_ENV } from '../support/python.mjs';
import { readScenarios } from '../support/scenarios.mjs';

const path = (relative) => fileURLToPath(new URL(relative, import.meta.url));
const ALWAYS = ['text', 'resumes', 'stops', 'names', 'typed'];
const SESSIONS = [...ALWAYS, 'sessions', 'notifications', 'late notifications', 'error'];
const SDK2_OLDER = {
	of: 'the SDK 2.x, 2025-11-25', connect: (project, options) => connectSdk2(project, { ...options, legacy: true }), way: 'request', has: SESSIONS,
};
const SDK1 = { of: 'the SDK 1.x', connect: connectSdk1, way: 'request', has: SESSIONS };
const NEWEST = { of: 'the SDK 2.x', connect: connectSdk2, way: 'retry', has: ALWAYS };
/** The folder of each in build/, and the example. Each framework has both versions of the protocol, and each client of the older one. */
const SERVERS = [
	{ of: 'mcp 1.x, oldest', python: 'python-oldest', example: 'sdk', clients: [SDK2_OLDER] },
	{ of: 'mcp 1.x, newest', python: 'python-1', example: 'sdk', clients: [SDK1], whole: true },
	{ of: 'mcp 2.x, oldest', python: 'python-2', example: 'sdk', clients: [SDK1] },
	{ of: 'mcp 2.x, newest', python: 'python', example: 'sdk', clients: [NEWEST], whole: true },
	{ of: 'FastMCP 2', python: 'python-oldest', example: 'fastmcp_server', clients: [SDK1] },
	{ of: 'FastMCP 3', python: 'python-1', example: 'fastmcp_server', clients: [SDK2_OLDER] },
	{ of: 'FastMCP 4, oldest', python: 'python-2', example: 'fastmcp_server', clients: [SDK1] },
	{ of: 'FastMCP 4, newest', python: 'python', example: 'fastmcp_server', clients: [NEWEST] },
];
/** What the servers know of clients, see tests/scenarios/README.md; in seconds. */
const KNOWN = [
	{ name: 'impatient', round: 0.6 }, { name: 'patient', round: 0.6, rounds: 8 }, { name: 'tireless', round: 0.3, rounds: 3 },
	{ name: 'boastful', url: false }, { name: 'modest', url: true },
	{ name: 'by request', ask: 'request' }, { name: 'by error', ask: 'error' }, { name: 'by text', ask: 'text', round: 0.6 },
];

const ALL = readScenarios();

let fixture;
const project = makeExampleProject('sdk2', 'newest');

before(async () => {
	fixture = await openAdapterFixture('python');
});

after(() => fixture?.close());

/** A process that has loaded the framework of an example, and starts instances of it. */
function openForks({ python, example }) {
	const { env } = fixture.stack;
	return fixture.closeAtEnd(new Forks(project, fixture.stack, {
		command: [path(`../../build/${python}/bin/python`), path('../support/waits.py'), path(`../../lib/python/examples/${example}.py`)],
		env: {
			...PYTHON_ENV, APP_USERS: JSON.stringify(SCENARIO_USERS),
			APP_ISSUER: env.URLMODE_DEMO_ISSUER, APP_CLIENT_ID: 'urlmode-demo', APP_CLIENTS: JSON.stringify(KNOWN),
		},
	}));
}

for (const { of: framework, clients, whole = false, ...server } of SERVERS) {
	let forks;
	const servers = new AdapterServers(() => fixture, async () => {
		forks ??= openForks(server);
		return fixture.closeAtEnd(await forks.start());
	});
	for (const { of, connect, ...rest } of clients) {
		describeScenarios(`${framework}, a client of ${of}`, {
			fixture: () => fixture, servers, scenarios: ALL, whole, traced: 'connect_account', connect: (options) => connect(project, options), ...rest,
		});
	}
}

test('Python\'s client calls a server in Node, in both revisions', { timeout: 120_000 }, async () => {
	const { url } = await startExample(fixture, project, { env: { APP_USERS: JSON.stringify(SCENARIO_USERS) } });
	await Promise.all(REVISIONS.map((revision, index) => buyReport(fixture, 'python', {
		url, revision, tokens: Object.keys(SCENARIO_USERS).slice(-2 - 2 * index, -2 * index || undefined),
	})));
});
