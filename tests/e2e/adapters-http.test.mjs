// The adapters with urlmode/http, as servers in Node.js use them that have neither the keys file nor a connection to
// PostgreSQL: sdk2 runs the whole table of tests/scenarios, and the others what depends on the framework. The other runtimes:
// workerd.test.mjs, deno.test.mjs.

import { after, before } from 'node:test';

import { AdapterServers, describeScenarios, SCENARIO_CLIENTS } from '../support/adapter-scenarios.mjs';
import { APP, makeExampleProject, SCENARIO_USERS, startExample } from '../support/adapters.mjs';
import { connectSdk1, connectSdk2 } from '../support/clients.mjs';
import { openProvider } from '../support/demo.mjs';
import { openFixture } from '../support/fixture.mjs';
import { appOverHttp, exampleOverHttp, waitsOverHttp } from '../support/over-http.mjs';
import { readScenarios } from '../support/scenarios.mjs';

const FRAMEWORKS = {
	sdk: [connectSdk1, 'request', ['text', 'resumes', 'stops', 'typed', 'names', 'sessions', 'notifications', 'late notifications', 'error']],
	sdk2: [connectSdk2, 'retry', ['text', 'resumes', 'stops', 'typed', 'names']],
	'mcp-use': [connectSdk2, 'retry', ['text', 'resumes', 'stops', 'typed', 'names']],
	'mcp-lite': [connectSdk1, 'link', ['text', 'resumes', 'stops', 'typed']],
};

let fixture;

before(async () => {
	fixture = await openFixture({ name: 'adapters-http', own: true, env: { API: '1' } });
	fixture.closeAtEnd(await openProvider(fixture.stack));
});

after(() => fixture?.close());

for (const [name, [connect, way, has]] of Object.entries(FRAMEWORKS)) {
	const project = makeExampleProject(name, 'newest', { source: exampleOverHttp(name), files: { 'app.mjs': appOverHttp(APP), 'waits.mjs': waitsOverHttp() } });
	const servers = new AdapterServers(() => fixture, () => startExample(fixture, project, { env: { APP_USERS: JSON.stringify(SCENARIO_USERS), APP_CLIENTS: JSON.stringify(SCENARIO_CLIENTS) } }));
	describeScenarios(`${name} over HTTP`, {
		fixture: () => fixture, servers, scenarios: readScenarios(), way, has, whole: name === 'sdk2', sticky: name === 'mcp-lite', connect: (options) => connect(project, options),
	});
}
