// The demo's MCP server in each language. The one in Node is part of the stack.

import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

import { buildGo } from '../support/go.mjs';
import { startInstance } from '../support/instances.mjs';
import { PYTHON, PYTHON_ENV } from '../support/python.mjs';
import { SECRET_KEY } from './checkout.mjs';
import { DEMO_KEY } from './store-key.mjs';
import { demoUsers } from './users.mjs';

const ROOT = new URL('../../', import.meta.url);
const path = (relative) => fileURLToPath(new URL(relative, ROOT));

const GO = path('build/go/demo');

/** The command of each, and its variables. */
const SERVERS = {
	node: undefined,
	async python() {
		if (!existsSync(PYTHON)) throw new Error(`${PYTHON} is missing; \`make demo SERVER=python\` installs it`);
		return {
			command: [PYTHON, path('tests/demo/server.py')],
			env: { ...PYTHON_ENV, PYTHONPATH: `${PYTHON_ENV.PYTHONPATH}:${path('lib/python/examples')}` },
		};
	},
	async go() {
		if (!await buildGo('tests/demo/go', GO)) throw new Error('go is not in PATH; the server in Go needs Go 1.25.5 or newer');
		return { command: [GO] };
	},
};

/**
 * Whether it is the name of a server; throws otherwise.
 *
 * @param {string} name
 */
export function checkName(name) {
	if (!Object.hasOwn(SERVERS, name)) throw new Error(`SERVER=${name}: the demo has servers in ${Object.keys(SERVERS).join(', ')}`);
}

/**
 * Starts the demo's MCP server in a language.
 *
 * @param {string} name
 * @param {import('../support/stack.mjs').Stack} stack
 * @returns {Promise<{ url: string, close: () => Promise<void> }>}
 */
export async function openServer(name, stack) {
	if (SERVERS[name] === undefined) return { url: stack.env.URLMODE_DEMO_MCP_URL, close: async () => {} };
	const { command, env } = await SERVERS[name]();
	return startInstance({ folder: path('.') }, stack, { command, env: {
		APP_USERS: JSON.stringify(Object.fromEntries(demoUsers)), APP_ISSUER: stack.env.URLMODE_DEMO_ISSUER, APP_CLIENT_ID: 'urlmode-demo',
		DEMO_CHECKOUT_KEY: SECRET_KEY, DEMO_KEY, ...env,
	} });
}
