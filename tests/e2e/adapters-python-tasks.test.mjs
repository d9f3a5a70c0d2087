// urlmode.mcp answers calls with tasks, which an instance in Node goes on with, and the other way round.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { makeGatedProject, startExample, USERS } from '../support/adapters.mjs';
import { Forks } from '../support/forks.mjs';
import { PYTHON, PYTHON_ENV } from '../support/python.mjs';
import { describeTasks } from '../support/task-server.mjs';

const path = (relative) => fileURLToPath(new URL(`../../${relative}`, import.meta.url));
const example = (file) => readFileSync(path(`lib/python/examples/${file}`), 'utf8');
const source = example('sdk.py').replace('            return f"Paid with {accepted.reference}."\n', `            said = await asyncio.to_thread(ask_gate)
            return f"Paid with {accepted.reference}.{said}"
`).replace('SDK2 = True\n', `SDK2 = True


def ask_gate() -> str:
    from os import environ
    from urllib.request import ProxyHandler, build_opener

    with build_opener(ProxyHandler({})).open(environ["GATE"]) as answer:
        return answer.read().decode()


`);
const project = makeGatedProject({ 'sdk.py': source, 'app.py': example('app.py') });

/** Starts instances in Python. */
function python() {
	let forks;
	return async (fixture, env) => {
		forks ??= fixture.closeAtEnd(new Forks(project, fixture.stack, {
			command: [PYTHON, path('tests/support/waits.py'), join(project.folder, 'sdk.py')],
			env: {
				...PYTHON_ENV, APP_USERS: JSON.stringify(USERS),
				APP_ISSUER: fixture.stack.env.URLMODE_DEMO_ISSUER, APP_CLIENT_ID: 'urlmode-demo', ...env,
			},
		}));
		return fixture.closeAtEnd(await forks.start());
	};
}

/** One instance in Python, one in Node, and so on. */
function both() {
	const start = python();
	let count = 0;
	return (fixture, env) => ((count += 1) % 2 ? start(fixture, env) : startExample(fixture, project, { env }));
}

describeTasks('Python', python());
describeTasks('Python and Node', both(), /opens the page|any instance|body runs once|nobody has read|a form that is checked|who listens/);
