// The examples of README.md are run as they stand there: an account that is
// connected, a payment that is taken, and the configuration of both.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { createHash, generateKeyPairSync, randomBytes, randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { promisify } from 'node:util';

import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js';

import { sender } from '../support/deliveries.mjs';
import { PROVIDER_PAGE, press } from '../support/flow.mjs';
import { makeProject } from '../support/projects.mjs';
import { titleOf } from '../support/pages.mjs';
import { openFixture } from '../support/fixture.mjs';
import { installStripe, startStripeApi } from '../support/stripe-api.mjs';
import { deferred } from '../support/wait.mjs';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const README = readFileSync(path.join(ROOT, 'README.md'), 'utf8');
const SECRET_KEY = 'sk_test_of_the_readme';
const SUBJECT = 'ada@example.org';
const AUTHORIZATION_URL = 'http://localhost:9/authorize?client_id=readme';

/** The blocks of code in a language that stand under a heading. */
const blocks = (heading, language) => {
	const [, section] = new RegExp(`^## ${heading}\\n([^]*?)(?=^## |$(?![^]))`, 'm').exec(README);
	return [...section.matchAll(new RegExp(`^\`\`\`${language}\\n([^]*?)^\`\`\`$`, 'gm'))].map(([, code]) => code);
};

let fixture;
let api;
let examples;
let urlmode;

before(async () => {
	fixture = await openFixture({ name: 'readme' });
	api = fixture.closeAtEnd(await startStripeApi({ secretKey: SECRET_KEY }));
	examples = await load({
		'connect.mjs': blocks('In front of your own MCP server', 'js')[0],
		'account.mjs': blocks('Connect a GitHub account', 'js')[0],
		'buy.mjs': blocks('Take a Stripe payment', 'js')[0],
		'urlmode.mjs': "export { UrlMode } from 'urlmode';\n",
	});
	const { URLMODE_DATABASE_URL: databaseUrl, URLMODE_KEYS_FILE: keysFile } = fixture.stack.env;
	urlmode = fixture.closeAtEnd(new examples.UrlMode({ databaseUrl, keysFile, baseUrl: fixture.stack.baseUrl }));
});

after(() => fixture?.close());

/** What the files export, in a project with urlmode and stripe beside them. */
async function load(files) {
	const { folder } = makeProject({ name: 'readme', frameworks: 'newest', files });
	await writeFile(path.join(folder, 'vault-keys'), `1 ${randomBytes(32).toString('base64')}\n`, { mode: 0o600 });
	installStripe(path.join(folder, 'node_modules'), api.port);
	Object.assign(process.env, fixture.stack.env, {
		AUTHORIZATION_URL, STRIPE_SECRET_KEY: SECRET_KEY, URLMODE_VAULT_KEYS_FILE: path.join(folder, 'vault-keys'),
		GITHUB_CLIENT_ID: 'readme', GITHUB_CLIENT_SECRET: 'secret-of-the-readme',
	});
	const modules = Object.keys(files).map((name) => import(pathToFileURL(path.join(folder, name))));
	return Object.assign({}, ...await Promise.all(modules));
}

/** A call of this tool by a client that agrees to whatever URL it is asked to go to. */
async function call(tool) {
	const server = new McpServer({ name: 'readme', version: '1.0.0' });
	const client = new Client({ name: 'tests', version: '1.0.0' }, { capabilities: { elicitation: { url: {} } } });
	const [one, other] = InMemoryTransport.createLinkedPair();
	const asked = deferred();

	server.registerTool('tool', {}, (extra) => tool(server, extra));
	client.setRequestHandler(ElicitRequestSchema, ({ params }) => {
		asked.resolve(params);
		return { action: 'accept' };
	});
	await Promise.all([server.connect(one), client.connect(other)]);
	fixture.closeAtEnd(client);
	const result = client.callTool({ name: 'tool' });
	result.then(() => asked.resolve(undefined), asked.reject);
	return { asked: await asked.promise, result };
}

const textOf = ({ content: [{ text }] }) => text;

test('connectAccount resolves with the code and its verifier', async () => {
	const { asked, result } = await call(async (server) => {
		const outcome = await examples.connectAccount(server, SUBJECT);
		return { content: [{ type: 'text', text: JSON.stringify(outcome) }] };
	});
	const browser = fixture.browser();
	const hop = await press(browser, await browser.open(asked.url), 'continue');
	const target = new URL(hop.location).searchParams;
	const fields = { code: 'c0de', iss: fixture.stack.env.URLMODE_DEMO_ISSUER, state: target.get('state') };
	await browser.send({ url: new URL(`${target.get('redirect_uri')}?${new URLSearchParams(fields)}`), from: PROVIDER_PAGE });

	const outcome = JSON.parse(textOf(await result));
	assert.equal(outcome.action, 'accept');
	assert.equal(outcome.result.code, 'c0de');
	assert.equal(createHash('sha256').update(outcome.codeVerifier).digest('base64url'), target.get('code_challenge'));
});

test("listRepositories: the code goes to GitHub's token endpoint, and the next call asks nobody", async (t) => {
	const sent = [];
	const real = globalThis.fetch;
	t.mock.method(globalThis, 'fetch', async (url, options) => {
		const { host, pathname, href } = new URL(url);
		if (!/(^|\.)github\.com$/.test(host)) return real(url, options);
		sent.push({ href, ...options, headers: new Headers(options.headers) });
		return Response.json({
			'/login/oauth/access_token': { access_token: 'gho_1', token_type: 'bearer', scope: 'repo' },
			'/user': { id: 7, login: 'ada' },
			'/user/repos': [{ full_name: 'ada/engine' }],
		}[pathname]);
	});
	const vault = examples.openVault(urlmode);
	const tool = (server, extra) => examples.listRepositories(server, vault, SUBJECT, extra);
	const { asked, result } = await call(tool);
	const browser = fixture.browser();
	const hop = await press(browser, await browser.open(asked.url), 'continue');
	const target = new URL(hop.location);
	assert.equal(target.origin + target.pathname, 'https://github.com/login/oauth/authorize');
	assert.equal(target.searchParams.get('scope'), 'repo');
	const fields = { code: 'c0de', state: target.searchParams.get('state') };
	await browser.send({ url: new URL(`${target.searchParams.get('redirect_uri')}?${new URLSearchParams(fields)}`), from: PROVIDER_PAGE });

	assert.equal(textOf(await result), 'ada/engine');
	const [exchange, user, repos] = sent;
	const form = new URLSearchParams(exchange.body);
	assert.equal(exchange.href, 'https://github.com/login/oauth/access_token');
	assert.deepEqual([form.get('code'), form.get('client_id'), form.get('client_secret')], ['c0de', 'readme', 'secret-of-the-readme']);
	assert.equal(createHash('sha256').update(form.get('code_verifier')).digest('base64url'), target.searchParams.get('code_challenge'));
	assert.deepEqual([user.href, user.headers.get('authorization')], ['https://api.github.com/user', 'Bearer gho_1']);
	assert.deepEqual([repos.href, repos.headers.get('authorization')], ['https://api.github.com/user/repos', 'Bearer gho_1']);
	assert.equal(sent.length, 3);

	const again = await call(tool);
	assert.equal(textOf(await again.result), 'ada/engine');
	assert.equal(sent.length, 4);
});

describe('buyReport', () => {
	/** The tool is called, and its user is on Stripe's page. */
	async function start() {
		const { asked, result } = await call((server, extra) => examples.buyReport(server, urlmode, SUBJECT, extra));
		const browser = fixture.browser();
		const hop = await press(browser, await browser.open(asked.url), 'continue');
		const session = api.session(hop.location);
		assert.equal(session.client_reference_id, asked.elicitationId);
		return { asked, result, browser, session };
	}

	/** Stripe's webhook, signed by its package. */
	async function announce(type, session, change) {
		const stripe = sender(fixture, 'stripe');
		const event = { id: `evt_${randomUUID()}`, object: 'event', type, data: { object: { ...session, ...change } } };
		assert.equal((await stripe.send(event)).status, 200);
	}

	test('the user pays: the promise is resolved with the reference of the session', async () => {
		const { result, browser, session } = await start();
		assert.equal(titleOf(await browser.open(session.success_url)), 'Waiting for confirmation');
		await announce('checkout.session.completed', session, { status: 'complete', payment_status: 'paid' });
		assert.equal(textOf(await result), `Paid with ${session.id}.`);
		assert.equal(titleOf(await browser.open(session.success_url)), 'All done');
	});

	test('no other session pays for it, but for one that Stripe has recovered from it', async () => {
		const { asked, result, session } = await start();
		const paid = { status: 'complete', payment_status: 'paid' };
		await announce('checkout.session.completed', session, { ...paid, id: 'cs_of_another' });
		assert.equal((await fixture.stack.elicitation(asked.elicitationId)).status, 'opened');
		await announce('checkout.session.completed', session, { ...paid, id: 'cs_recovered', recovered_from: session.id });
		assert.equal(textOf(await result), 'Paid with cs_recovered.');
	});

	test('a bank transfer: it is processing until it settles', async () => {
		const { asked, result, session } = await start();
		await announce('checkout.session.completed', session, { status: 'complete' });
		assert.equal((await fixture.stack.elicitation(asked.elicitationId)).status, 'processing');
		await announce('checkout.session.async_payment_succeeded', session, { status: 'complete', payment_status: 'paid' });
		assert.equal(textOf(await result), `Paid with ${session.id}.`);
	});

	test('the user goes back without paying', async () => {
		const { result, browser, session } = await start();
		assert.equal(titleOf(await browser.open(session.cancel_url)), 'Declined');
		assert.equal((await result).isError, true);
	});

	test('the session is over before the elicitation', async () => {
		const { asked, session } = await start();
		const { expires_at: expires } = await fixture.stack.elicitation(asked.elicitationId);
		assert.ok(session.expires_at * 1_000 < expires.getTime());
	});

	test('another amount than was asked for: the next call for the item is held, and asks for no money', async () => {
		const { result, session } = await start();
		await announce('checkout.session.completed', session, { payment_status: 'paid', amount_total: session.amount_total - 1 });
		const { isError, content: [{ text }] } = await result;
		assert.equal(isError, true);
		assert.match(text, /amount/);
		const again = await call((server, extra) => examples.buyReport(server, urlmode, SUBJECT, extra));
		assert.equal(again.asked, undefined);
		assert.match(textOf(await again.result), /need not pay again/);
	});
});

test('the programs start with the configuration', async () => {
	const folder = await mkdtemp(path.join(tmpdir(), 'urlmode-readme-'));
	const [config] = blocks('In front of your own MCP server', 'json');
	const file = path.join(folder, 'config.json');

	try {
		await writeFile(file, config, { mode: 0o600 });
		const { publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
		const key = { ...publicKey.export({ format: 'jwk' }), kid: 'one', use: 'sig', alg: 'RS256' };
		await writeFile(path.join(folder, 'jwks.json'), JSON.stringify({ keys: [key] }));
		await writeFile(path.join(folder, 'keys'), `1 ${randomBytes(32).toString('base64')}\n`, { mode: 0o600 });
		await promisify(execFile)(path.join(process.env.PROGRAM_DIR ?? path.join(ROOT, 'build/bin'), 'webhook'), ['--check'], {
			env: { ...process.env, URLMODE_CONFIG: file },
		});
	} finally {
		await rm(folder, { recursive: true });
	}
});
