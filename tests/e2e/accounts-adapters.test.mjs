// useAccount in every adapter, with a real framework: the example of lib/node/examples, whose
// tool uses the account of a vault in place of connecting one.

import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';

import { makeExampleProject, openAdapterFixture, signIn, startExample } from '../support/adapters.mjs';
import { describeBuild, FRONTMCP, LYNQ } from '../support/builds.mjs';
import { connectSdk1, connectSdk2 } from '../support/clients.mjs';
import { startDressedProviders } from '../support/dressed-provider.mjs';
import { frontMcpExample } from '../support/frontmcp.mjs';
import { example } from '../support/projects.mjs';
import { connectTasks } from '../support/tasks.mjs';
import { until } from '../support/wait.mjs';

const { tokenOf, env, example: frontmcp } = frontMcpExample();
/** Files that run at the same time delete what the users of others have. */
const SUBJECT = 'accounts@example.org';
const TOKEN = 'token-of-accounts';

/** `asks`: the server asks the client, which opens the link. Otherwise the link is in the result of the call. */
const ADAPTERS = [
	{ name: 'sdk', of: '@modelcontextprotocol/sdk', connect: connectSdk1, asks: true },
	{ name: 'sdk2', of: '@modelcontextprotocol/server', connect: connectSdk2, asks: true, hasTasks: true },
	{ name: 'mcp-use', of: 'mcp-use', connect: connectSdk2, asks: true },
	{ name: 'mcp-lite', of: 'mcp-lite', connect: connectSdk1, asks: false },
	{ name: 'lynq', of: describeBuild('lynq', LYNQ['@lynq/lynq']), connect: connectSdk1, asks: true, tool: 'connect_again',
		more: { doubles: LYNQ }, from: 'lynq-hono' },
	{ name: 'frontmcp', of: describeBuild('FrontMCP', FRONTMCP['@frontmcp/sdk']), connect: connectSdk1, asks: true, more: frontmcp,
		token: tokenOf(SUBJECT), env },
];

/** What is added to an example. The token itself is never said. */
const ADDED = `
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { Vault } from 'urlmode/vault';
const vault = new Vault(urlmode, { keys: process.env.APP_VAULT_KEYS, providers: { account: JSON.parse(process.env.APP_ACCOUNT) } });
const wanted = () => JSON.parse(readFileSync(process.env.APP_SCOPES, 'utf8'));
const said = ({ accessToken, scopes }) => \`\${createHash('sha256').update(accessToken).digest('hex')} for \${scopes.join(' ')}\`;
`;

/** @param {string} source of an example, which connects an account */
function toUser(source) {
	const steps = [
		[/withAccount/g, 'useAccount'],
		[/const urlmode = new UrlMode\(settings\);/, (line) => line + ADDED],
		[/(useAccount\(\{\s*|const account = \{\s*)urlmode,/, (_, before) => `${before}vault,`],
		[/description: 'openid-connect',\s*variables: \{ issuer \}, client,\s*scopes: \['openid', 'profile'\],/, 'get scopes() { return wanted(); },'],
		[/provider: 'demo'/g, "provider: 'account'"],
		[/async \(\{ account: \{ name \} \}\)|async \(connected\)/, 'async (connected)'],
		[/Connected the account of \$\{(connected\.account\?\.)?name\}\./, 'It has ${said(connected)}.'],
	];
	return steps.reduce((text, [from, to]) => {
		assert.match(text, from);
		return text.replace(from, to);
	}, source);
}

let fixture;
let providers;

before(async () => {
	fixture = await openAdapterFixture('accounts');
	providers = fixture.closeAtEnd(await startDressedProviders({ redirectUri: fixture.url('/oauth/account/return') }));
});

after(() => fixture?.close());

for (const { name, of, connect, asks, hasTasks, tool = 'connect_account', more, from = name, token = TOKEN, env: environment = async () => ({}) } of ADAPTERS) {
	describe(of, { timeout: 180_000 }, () => {
		test('the token, or the elicitation that connects, connects again, and asks for what is missing', async (t) => {
			const granted = [];
			const provider = providers.dress('openid-connect', { behaviour: { note: (answer) => granted.push(answer) } });
			const folder = mkdtempSync(join(tmpdir(), 'urlmode-accounts-'));
			t.after(() => rmSync(folder, { recursive: true }));
			const want = (...scopes) => writeFileSync(join(folder, 'scopes.json'), JSON.stringify(scopes));
			want('openid', 'read');
			const project = makeExampleProject(name, 'newest', { ...more, source: toUser(example(`${from}.mjs`)) });
			const instance = await startExample(fixture, project, { env: {
				APP_USERS: JSON.stringify({ [TOKEN]: SUBJECT }),
				APP_CLIENTS: JSON.stringify([{ name: 'impatient', round: 600 }]), APP_VAULT_KEYS: `1 ${randomBytes(32).toString('base64')}`,
				APP_SCOPES: join(folder, 'scopes.json'),
				APP_ACCOUNT: JSON.stringify({ description: provider.file, client: provider.client, variables: provider.variables }), ...await environment(),
			} });
			const client = fixture.closeAtEnd(await connect(project, { url: instance.url, token, ...!asks && { name: 'impatient' } }));
			const change = (text) => fixture.stack.sql(`UPDATE urlmode.account SET ${text} WHERE subject = $1`, [SUBJECT]);
			await fixture.stack.sql('DELETE FROM urlmode.account WHERE subject = $1', [SUBJECT]);
			t.after(() => fixture.stack.sql('DELETE FROM urlmode.account WHERE subject = $1', [SUBJECT]));

			/** It has this token, after the user was asked, or without. */
			const assertUsed = ({ text, isError }, scopes) => {
				assert.deepEqual([text, isError], [`It has ${createHash('sha256').update(granted.at(-1).access_token).digest('hex')} for ${scopes}.`, false]);
			};
			let asked = 0;
			const use = async (scopes) => {
				assertUsed(await client.call(tool), scopes);
				assert.equal(client.requests.length, asks ? asked : 0, 'the user is asked for nothing');
			};
			const useAsked = async (scopes) => {
				asked += 1;
				if (!asks) {
					const { text } = await client.call(tool);
					await signIn(fixture, /https?:\S+/.exec(text)[0]);
					return assertUsed(await client.call(tool), scopes);
				}
				const call = client.call(tool);
				await signIn(fixture, (await client.nextRequest()).url);
				assertUsed(await call, scopes);
			};
			const asksFor = () => provider.authorizations.at(-1).scope;

			await useAsked('openid read');
			await use('openid read');
			assert.equal(granted.length, 1);
			await change("expires_at = now(), refreshed_at = now() - interval '1 hour'");
			await use('openid read');
			assert.deepEqual(provider.exchanges.map(({ form }) => form.grant_type), ['authorization_code', 'refresh_token']);

			want('write');
			await useAsked('openid read write');
			assert.equal(asksFor(), 'openid read write', 'beside those that there are');
			await use('openid read write');

			await change("state = 'reconnect', reason = 'invalid_grant'");
			await useAsked('openid read write');
			assert.equal(asksFor(), 'openid read write');
			await use('openid read write');
			assert.equal(granted.length, 4);

			if (hasTasks) {
				const holder = fixture.closeAtEnd(await connectTasks({ url: instance.url, token }));
				const call = async () => (await holder.request('tools/call', { name: tool, arguments: {} })).result;
				const textOf = ({ content: [{ text }], isError = false }) => ({ text, isError });
				await change("state = 'reconnect', reason = 'invalid_grant'");
				const { resultType, taskId } = await call();
				assert.equal(resultType, 'task');
				const look = async () => (await holder.request('tasks/get', { taskId })).result;
				const [{ params: { url } }] = Object.values((await look()).inputRequests);
				await signIn(fixture, url);
				const { result } = await until('it is connected', async () => {
					const now = await look();
					return now.status !== 'working' && now.status !== 'input_required' && now;
				});
				assertUsed(textOf(result), 'openid read write');
				const next = await call();
				assert.equal(next.resultType, 'complete', 'what is connected needs no task');
				assertUsed(textOf(next), 'openid read write');
			}
			const secrets = [
				...granted.flatMap(({ access_token: access, refresh_token: refresh, id_token: id }) => [access, refresh, id]),
				...provider.exchanges.flatMap(({ form }) => [form.code, form.code_verifier]), provider.client.secret,
			].filter(Boolean);
			assert.ok(secrets.length > 15, String(secrets.length));
			for (const secret of secrets) assert.ok(!instance.output.includes(secret));
		});
	});
}
