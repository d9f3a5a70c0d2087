// `make demo`: runs the whole demo with a scripted browser and prints one line for
// each step: connecting an account, what happens when users pay, a secret that is verified, and an
// approval by somebody else. SERVER is the language of the MCP server: node, python or go. Uses the stack
// that URLMODE_BASE_URL and the related variables name, or else starts one in
// build/demo-run, or build/demo-run-python.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import process from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

import { Browser } from '../support/browser.mjs';
import { connectClient } from '../support/mcp.mjs';
import { useStack } from '../support/stack.mjs';
import { checkName, openServer } from './servers.mjs';
import { DEMO_KEY } from './store-key.mjs';
import { demoUsers } from './users.mjs';

const { SERVER = 'node' } = process.env;
const RUN_DIR = fileURLToPath(new URL(`../../build/demo-run${SERVER === 'node' ? '' : `-${SERVER}`}`, import.meta.url));

/** How long the webhook may take, and how often the page that waits for it is loaded. */
const FOLLOW_MS = 20_000;
const FOLLOW_EVERY_MS = 200;

const interruption = interrupted();
const open = [];
let stage = 'the start';

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
	checkName(SERVER);
	const stack = await step('Stack',
		() => closeLater(useStack({ runDir: RUN_DIR, demo: true })), ({ baseUrl }) => baseUrl);
	const { url } = await step('MCP server', () => closeLater(openServer(SERVER, stack)), (server) => `${server.url}, in ${SERVER}`);
	const [[token, subject]] = demoUsers;
	const client = await step('MCP client',
		() => closeLater(connectHost({ url, token })),
		() => `connected as ${subject}, capability elicitation.url`);

	await connectAccount(stack, client, subject);
	await declineThenPay(client);
	await closeTheTab(client);
	await payAfterTheToolGaveUp(client);
	await payAfterGoingBack(client);
	await storeKey(client);
	await deleteArchive(client);
}

/** An MCP client whose user agrees to every elicitation. */
async function connectHost(options) {
	let asked;
	let completed;
	const client = await connectClient({
		...options,
		onElicit(elicitation) {
			asked.resolve(elicitation);
			return 'accept';
		},
		onComplete: (id) => completed.resolve(id),
	});
	return {
		/**
		 * Calls a tool. `asked` resolves to the elicitation, `completed` to the id
		 * in the completion notification, `result` to what the tool returns.
		 */
		call(tool, callOptions) {
			asked = deferred();
			completed = deferred();
			const result = client.callTool(tool, callOptions);
			const early = result.then(({ text }) => assert.fail(text));
			const call = {
				result,
				asked: Promise.race([asked.promise, early]),
				completed: Promise.race([completed.promise, early]),
			};
			for (const promise of Object.values(call)) {
				promise.catch(() => {});
			}
			return call;
		},
		/** Calls a tool that asks its user nothing. */
		callOnce: (tool) => client.callTool(tool),
		sent: () => client.sent(),
		close: () => client.close(),
	};
}

async function connectAccount(stack, client, subject) {
	const call = client.call('connect_account');
	const elicitation = await step('Tool connect_account',
		() => call.asked, ({ message }) => `asks: “${message}”`);

	const browser = closeLater(new Browser());
	const signIn = await step('Opening the link, to the provider',
		() => visit(browser.open(elicitation.url)), trail);
	const form = await step('Signing in', () => visit(browser.submit(signIn, { button: 'sign-in' })), trail);
	const done = await step('Back with an id token, and by the provider again, for a code', () => visit(browser.submit(form)), trail);
	await step('Last page', async () => {
		assert.equal(done.url, `${stack.baseUrl}/done`, `ended on ${done.path}`);
		return heading(done);
	}, String);

	await step('Completion notification', async () => {
		assert.equal(await call.completed, elicitation.elicitationId, 'for another elicitation');
	}, () => 'has come');
	await step('Tool result', () => resultOf(call.result, subject), String);
}

async function declineThenPay(client) {
	const browser = closeLater(new Browser());
	const call = client.call('buy_report');
	const elicitation = await step('Tool buy_report', () => call.asked, ({ message }) => `asks: “${message}”`);
	const checkout = await step('Signing in, and on to the checkout', () => goToCheckout(browser, elicitation), trail);
	const declined = await step('Paying with a card that is declined',
		() => visit(browser.submit(checkout, { button: 'declined' })), alertOf);
	await step('Paying with another card, and back', () => pay(browser, declined), heading);
	await step('Tool result', () => resultOf(call.result, 'Here is your report.'), String);
}

async function closeTheTab(client) {
	const [first, second] = [closeLater(new Browser()), closeLater(new Browser())];
	const { elicitation, giveUp } = await callAndGoToCheckout('Tool buy_report again, and its checkout', client, first);
	await step('Closing the tab, and the tool is no longer waited for', giveUp, () => 'the payment stays open');
	const call = client.call('buy_report');
	const again = await step('Tool buy_report called again', async () => {
		const next = await call.asked;
		assert.equal(next.elicitationId, elicitation.elicitationId, 'another elicitation');
		return next;
	}, () => 'asks for the same payment, and not for another one');
	const checkout = await step('Its link', () => goToCheckout(second, again), trail);
	await step('Paying, and back', () => pay(second, checkout), heading);
	await step('Tool result', () => resultOf(call.result, 'Here is your report.'), String);
}

async function payAfterTheToolGaveUp(client) {
	const browser = closeLater(new Browser());
	const { checkout, giveUp } = await callAndGoToCheckout('Tool buy_report again, and its checkout', client, browser);
	await step('The tool is no longer waited for', giveUp, () => 'the payment stays open');
	await step('Paying all the same', () => pay(browser, checkout), heading);
	await step('Tool buy_report called again', () => resultWithoutAsking(client, 'Here is your report.'), String);
}

async function payAfterGoingBack(client) {
	const browser = closeLater(new Browser());
	const call = client.call('buy_report');
	const elicitation = await call.asked;
	const checkout = await step('Tool buy_report again, and its checkout', () => goToCheckout(browser, elicitation), trail);
	await step('Back without paying', async () => {
		const [{ attributes: { href } }] = checkout.find('a');
		return visit(browser.follow(checkout, href));
	}, heading);
	await step('Tool result', async () => (await call.result).text, String);
	await step('Paying in a tab that was left open', () => pay(browser, checkout, 'Your payment has arrived'), heading);
	await step('Tool buy_report called again', () => resultWithoutAsking(client, 'You had paid it before.'), String);
}

async function storeKey(client) {
	const browser = closeLater(new Browser());
	const call = client.call('store_key');
	const elicitation = await step('Tool store_key', () => call.asked, ({ message }) => `asks: “${message}”`);
	const form = await step('Opening the link, and signing in', () => signIn(browser, elicitation.url), heading);
	const problem = await step('Typing a key that is not known', () => type(browser, form, 'another-key', 'does not know this key'),
		(page) => page.find('span').find(({ attributes }) => attributes.class === 'wrong').text);
	await step('Typing the right one', () => type(browser, problem, DEMO_KEY, 'All done'), heading);
	await step('Tool result', () => resultOf(call.result, 'The key works'), String);
}

/** Sends the form, and loads its page again, as it does by itself, until it shows a text. */
async function type(browser, form, key, expected) {
	const deadline = Date.now() + FOLLOW_MS;
	let page = await visit(browser.submit(form, { button: 'submit', fields: { 'field.key': key } }));
	while (!page.body.includes(expected)) {
		assert.ok(Date.now() < deadline, `still “${heading(page)}”`);
		await sleep(FOLLOW_EVERY_MS);
		page = await visit(browser.open(page.url));
	}
	return page;
}

async function deleteArchive(client) {
	const [ada, grace] = [...demoUsers.values()];
	const { text } = await step('Tool delete_archive', () => client.callOnce('delete_archive'), ({ text: said }) => said.split('\n')[0]);
	const [approvalUrl] = /^https?:\S+$/m.exec(text);
	await step(`Its link, opened by ${ada} herself`, async () => {
		const browser = closeLater(new Browser());
		const page = await browser.open(approvalUrl);
		const refusal = await browser.submit(await browser.submit(page, { button: 'sign-in' }));
		assert.equal(refusal.status, 403);
		return refusal;
	}, (page) => `${heading(page)} (${page.find('code')[0].text})`);
	const browser = closeLater(new Browser());
	const form = await step(`Its link, opened by ${grace}`, () => signIn(browser, approvalUrl, grace), heading);
	await step('Approving', () => visit(browser.submit(form, { button: 'approve', fields: { comment: 'Nobody needs it.' } })), heading);
	await step('Tool delete_archive called again', () => resultOf(client.callOnce('delete_archive'), grace), String);
}

/** Calls buy_report and goes on to the checkout; `giveUp` cancels the call. */
async function callAndGoToCheckout(name, client, browser) {
	const controller = new AbortController();
	const call = client.call('buy_report', { signal: controller.signal });
	const elicitation = await call.asked;
	const checkout = await step(name, () => goToCheckout(browser, elicitation), trail);

	async function giveUp() {
		controller.abort();
		await assert.rejects(call.result);
		await client.sent();
	}
	return { elicitation, checkout, giveUp };
}

/** Opens the link, for which the user of a new browser signs in. */
async function goToCheckout(browser, { url }) {
	return signIn(browser, url);
}

/** Opens a link, and signs in: as the user whom the provider suggests, or as another one. */
async function signIn(browser, url, name) {
	const page = await visit(browser.open(url));
	return visit(browser.submit(await visit(browser.submit(page, { button: 'sign-in', ...name && { fields: { name } } }))));
}

/**
 * Pays, and opens the page to which the checkout sends the browser again and
 * again, as that page does by itself, until it shows a heading.
 */
async function pay(browser, checkout, expected = 'All done') {
	const deadline = Date.now() + FOLLOW_MS;
	const first = await visit(browser.submit(checkout, { button: 'good' }));
	const returnUrl = first.hops[1].url;
	let page = first;

	while (heading(page) !== expected) {
		assert.ok(Date.now() < deadline, `still “${heading(page)}”`);
		await sleep(FOLLOW_EVERY_MS);
		page = await visit(browser.open(returnUrl));
	}
	return page;
}

/** Calls buy_report, which must return at once, without an elicitation. */
async function resultWithoutAsking(client, text) {
	const { result, asked } = client.call('buy_report');
	const askedAgain = asked.then(() => assert.fail('it asks to pay again'), () => result);
	return resultOf(Promise.race([result, askedAgain]), text);
}

async function resultOf(call, expected) {
	const { text, isError } = await call;
	assert.ok(!isError && text.includes(expected), text);
	return text;
}

const heading = (page) => page.find('h1')[0].text;
const alertOf = (page) => page.find('p').find(({ attributes }) => attributes.role === 'alert').text;

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
