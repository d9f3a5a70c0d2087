// Each adapter, with the oldest and the newest version of its framework and with
// each kind of client, runs the scenarios of tests/scenarios: all of them with the
// newest version and the first client of each way of asking, and otherwise those
// that depend on the version (with VERSIONS=all: all but those of which one is enough).
// Those that are about rows, users and processes run on sdk2, for links on mcp-use, and
// on lynq and FrontMCP; the other adapters are made of the same modules (`shared`).

import { after, before } from 'node:test';

import { AdapterServers, describeScenarios, SCENARIO_CLIENTS } from '../support/adapter-scenarios.mjs';
import { makeExampleProject, openAdapterFixture, SCENARIO_USERS, startExample } from '../support/adapters.mjs';
import { describeBuild, FRONTMCP, LYNQ } from '../support/builds.mjs';
import { connectSdk1, connectSdk2 } from '../support/clients.mjs';
import { frontMcpExample } from '../support/frontmcp.mjs';
import { example, exampleInCommonJs } from '../support/projects.mjs';
import { readScenarios } from '../support/scenarios.mjs';

const connectLegacy = (project, options) => connectSdk2(project, { ...options, legacy: true });

const BOTH = ['newest', 'oldest'];
const ALWAYS = ['text', 'resumes', 'stops'];
const TYPED = [...ALWAYS, 'typed'];
const NAMES = [...TYPED, 'names'];
const SESSIONS = [...NAMES, 'sessions', 'notifications', 'late notifications', 'error'];
const FRAMEWORKS = [
	{ name: 'sdk', of: '@modelcontextprotocol/sdk', versions: BOTH,
		clients: [{ of: 'the SDK 1.x', connect: connectSdk1, way: 'request', has: SESSIONS, shared: true }] },
	{ name: 'sdk2', of: '@modelcontextprotocol/server', versions: BOTH, clients: [
		{ of: 'the SDK 2.x', connect: connectSdk2, way: 'retry', has: NAMES },
		{ of: 'the SDK 2.x, 2025-11-25', connect: connectLegacy, way: 'request', has: SESSIONS, sticky: true },
		{ of: 'the SDK 1.x', connect: connectSdk1, way: 'request', has: SESSIONS, sticky: true },
	] },
	// `require` has another copy of the SDK, and of its classes, than `import`.
	{ name: 'sdk-cjs', of: '@modelcontextprotocol/sdk in CommonJS', versions: BOTH, isCopy: true, ...inCommonJs('sdk'),
		clients: [{ of: 'the SDK 1.x', connect: connectSdk1, way: 'request', has: SESSIONS }] },
	{ name: 'sdk2-cjs', of: '@modelcontextprotocol/server in CommonJS', versions: ['newest'], isCopy: true, ...inCommonJs('sdk2'),
		clients: [{ of: 'the SDK 2.x, 2025-11-25', connect: connectLegacy, way: 'request', has: SESSIONS, sticky: true }] },
	{ name: 'mcp-use', of: 'mcp-use', versions: BOTH, clients: [
		{ of: 'the SDK 2.x', connect: connectSdk2, way: 'retry', has: NAMES, shared: true },
		{ of: 'the SDK 1.x', connect: connectSdk1, way: 'link', has: TYPED },
	] },
	{ name: 'mcp-lite', of: 'mcp-lite', versions: BOTH,
		clients: [{ of: 'the SDK 1.x', connect: connectSdk1, way: 'link', has: TYPED, shared: true }] },
	{ name: 'lynq', of: describeBuild('lynq', LYNQ['@lynq/lynq']), versions: ['newest'],
		example: { doubles: LYNQ, source: example('lynq-hono.mjs') },
		tools: { connect_account: 'connect_again', buy_report: 'buy_again' },
		clients: [{ of: 'the SDK 1.x', connect: connectSdk1, way: 'request', has: [...ALWAYS, 'sessions'] }] },
	{ name: 'lynq-express', of: describeBuild('lynq on Express, forms', LYNQ['@lynq/lynq']), versions: ['newest'],
		example: { doubles: LYNQ, source: example('lynq-express.mjs') }, only: ['store_key', 'accept_terms', 'delete_reports'],
		clients: [{ of: 'the SDK 1.x', connect: connectSdk1, way: 'request', has: [...ALWAYS, 'sessions'] }] },
	{ name: 'frontmcp', of: describeBuild('FrontMCP', FRONTMCP['@frontmcp/sdk']), versions: ['newest'],
		...frontMcpExample(),
		clients: [{ of: 'the SDK 1.x', connect: connectSdk1, way: 'request', has: ['resumes', 'sessions', 'stops', 'typed'] }] },
];

function inCommonJs(name) {
	return { file: 'server.cjs', example: { files: { 'server.cjs': exampleInCommonJs(`${name}.mjs`) }, source: '' } };
}

const ALL = readScenarios();

let fixture;

before(async () => {
	fixture = await openAdapterFixture('adapters');
});

after(() => fixture?.close());

/** `only`: the scenarios that call these tools and no others. */
for (const { name, of, versions, isCopy = false, clients, tools, only, file, env = async () => ({}), example: more, tokenOf } of FRAMEWORKS) {
	const scenarios = ALL.filter(({ steps }) => !only || steps.every(({ call }) => call === undefined || only.includes(call)));
	for (const frameworks of versions) {
		const project = makeExampleProject(name, frameworks, more);
		const servers = new AdapterServers(() => fixture, async () => startExample(fixture, project,
			{ file, env: { APP_USERS: JSON.stringify(SCENARIO_USERS), APP_CLIENTS: JSON.stringify(SCENARIO_CLIENTS), ...await env() } }));

		for (const { of: client, connect, way, ...rest } of clients) {
			describeScenarios(`${of}, ${frameworks}, a client of ${client}`, {
				fixture: () => fixture, servers, scenarios, tools, tokenOf, way, connect: (options) => connect(project, options), ...rest,
				whole: frameworks === 'newest' && !isCopy && clients.find((each) => each.way === way).of === client,
				traced: only?.[0] ?? tools?.connect_account ?? 'connect_account',
			});
		}
	}
}
