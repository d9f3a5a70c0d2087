// `make demo`: runs the whole demo with a scripted browser and prints one line for
// each step. Uses the stack that URLMODE_BASE_URL and the related variables name,
// or else starts one in build/demo-run.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import process from 'node:process';
import { fileURLToPath } from 'node:url';

import { Browser } from '../support/browser.mjs';
import { connectClient } from '../support/mcp.mjs';
import { useStack } from '../support/stack.mjs';
import { demoUsers } from './users.mjs';

const RUN_DIR = fileURLToPath(new URL('../../build/demo-run', import.meta.url));
const NAME = 'Ada Lovelace';

const interruption = interrupted();
const open = [];
let stage = '';

/** Runs a step and prints its result, formatted by `line`. */
async function step(name, action, line) {
	stage = name;
	const result = await Promise.race([action(), interruption]);
	console.log(`${name}: ${line(result)}`);
	return result;
}

/** Closed at the end in reverse order, including what is still being opened. */
function closeLater(part) {
	open.unshift(part);
	return part;
}

async function interrupted() {
	await Promise.race([once(process, 'SIGINT'), once(process, 'SIGTERM')]);
	throw new Error('interrupted');
}

/**
 * The hops that led to a page, without their queries, which contain codes and
 * states, and without long random parts.
 */
function trail({ hops }) {
	return hops.map(({ method, url, status }) => {
		const { origin, pathname } = new URL(url);
		return `${method} ${origin}${pathname.replace(/\/[\w-]{30,}/, '/…')} ${status}`;
	}).join(' → ');
}

async function walk() {
	const stack = await step('Stack',
		() => closeLater(useStack({ runDir: RUN_DIR, demo: true })), ({ baseUrl }) => baseUrl);
	const [[token, subject]] = demoUsers;
	const asked = deferred();
	const completed = deferred();
	const client = await step('MCP client',
		() => closeLater(connectClient({
			url: stack.env.URLMODE_DEMO_MCP_URL,
			token,
			onElicit(elicitation) {
				asked.resolve(elicitation);
				return 'accept';
			},
			onComplete: completed.resolve,
		})), () => `connected as ${subject}, capability elicitation.url`);

	const called = client.callTool('connect_account');
	const early = called.then(({ text }) => assert.fail(text));
	early.catch(() => {});
	const elicitation = await step('Tool connect_account',
		() => Promise.race([asked.promise, early]), ({ message }) => `asks: “${message}”`);

	const browser = closeLater(new Browser());
	const confirm = await step('Confirm page',
		() => visit(browser.open(elicitation.url)), trail);
	const signIn = await step('Going on, to the provider',
		() => visit(browser.submit(confirm, { button: 'continue' })), trail);
	const done = await step('Signing in, and back',
		() => visit(browser.submit(signIn, { button: 'sign-in', fields: { name: NAME } })), trail);
	await step('Last page', async () => {
		assert.equal(done.url, `${stack.baseUrl}/done`, `ended on ${done.path}`);
		return done.find('h1')[0].text;
	}, String);

	await step('Completion notification', async () => {
		const id = await Promise.race([completed.promise, early]);
		assert.equal(id, elicitation.elicitationId, 'for another elicitation');
	}, () => 'has come');
	await step('Tool result', async () => {
		const { text, isError } = await called;
		assert.ok(!isError && text.includes(NAME), text);
		return text;
	}, String);
}

/** Returns the page, or throws its reason if it is an error page. */
async function visit(navigation) {
	const page = await navigation;
	const reason = page.find('code')[0]?.text ?? page.title;
	assert.equal(page.status, 200, `${trail(page)} (${reason})`);
	return page;
}

function deferred() {
	const parts = {};
	parts.promise = new Promise((resolve, reject) => Object.assign(parts, { resolve, reject }));
	return parts;
}

try {
	await walk();
} catch (error) {
	console.error(`FAILED at “${stage}”: ${error.message}`);
	process.exitCode = 1;
}
for (const part of await Promise.allSettled(open)) {
	await part.value?.close();
}
