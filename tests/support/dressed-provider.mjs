// Real OpenID providers, each dressed up as one of lib/providers: it takes what
// that provider takes, refuses what that provider does not know, and answers as
// that provider does. What it does comes from the description itself, so that
// each line of one is used. That the description is right, only the real
// provider can tell.

import { createHash, generateKeyPairSync, randomBytes, verify } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { memoryAdapter } from '../demo/memory-adapter.mjs';
import { Provider } from '../demo/oidc-provider.mjs';
import { closeServer, listen, readForm, sendPage } from '../demo/process.mjs';
import { errorPage, signInPage } from '../demo/provider-pages.mjs';

const PROVIDERS = new URL('../../lib/providers/', import.meta.url);

/** With characters that a form encodes, and some that it does not. */
export const SECRET = 'a+secret/with.special_chars-~=& %';

export const SCOPES = ['openid', 'profile', 'offline_access', 'read', 'write'];

const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
/** With which clients sign. */
const CLIENT_KEY = generateKeyPairSync('ec', { namedCurve: 'P-256' });

const KEY = { ...privateKey.export({ format: 'jwk' }), use: 'sig', alg: 'ES256' };

/** @param {string} name of a file in lib/providers */
export const readOAuth = (name) => JSON.parse(readFileSync(new URL(`${name}.json`, PROVIDERS))).oauth;

/** Every description with an `oauth` part. */
export const PRESETS = readdirSync(PROVIDERS).filter((file) => file !== 'schema.json' && file.endsWith('.json'))
	.map((file) => file.slice(0, -'.json'.length)).filter(readOAuth);

/** A document that has these texts at these JSON pointers. */
function documentOf(entries) {
	const document = {};
	for (const [pointer, value] of entries.filter(([at]) => at)) {
		const steps = pointer.split('/').slice(1);
		const last = steps.pop();
		steps.reduce((node, step) => (node[step] ??= {}), document)[last] = value;
	}
	return document;
}

/** Both documents as one. */
function merge(document, other) {
	const isObject = (value) => typeof value === 'object' && value !== null;
	if (!isObject(document) || !isObject(other)) return other ?? document;
	const names = new Set([...Object.keys(document), ...Object.keys(other)]);
	return Object.fromEntries([...names].map((name) => [name, name in other ? merge(document[name], other[name]) : document[name]]));
}

/**
 * @param {{ redirectUri: string }} options
 */
export async function startDressedProviders({ redirectUri }) {
	const server = createServer();
	const origin = `http://localhost:${await listen(server, 0)}`;
	const folder = mkdtempSync(join(tmpdir(), 'urlmode-dressed-'));
	const dressed = new Map();

	server.on('request', (request, response) => {
		const [, first, second] = request.url.split(/[/?]/);
		const found = dressed.get(first === 'interaction' ? second.split('.')[0] : first);
		if (!found) return void response.writeHead(404).end();
		found.handle(request, response).catch((error) => sendPage(response, 500, errorPage(error.message)));
	});
	return {
		/**
		 * A provider that behaves as this description says.
		 *
		 * @param {string} preset
		 * @param {{ oauth?: object, behaviour?: object }} [changes] members over those of the description; and over what
		 *     the provider does
		 */
		dress(preset, { oauth, behaviour } = {}) {
			const name = `${preset}-${randomBytes(4).toString('hex')}`;
			const provider = new DressedProvider({ name, origin, redirectUri, oauth: { ...readOAuth(preset), ...oauth }, behaviour });
			dressed.set(name, provider);
			provider.file = join(folder, `${name}.json`);
			writeFileSync(provider.file, JSON.stringify({ name, documentation: 'of the tests', oauth: provider.description }));
			return provider;
		},
		async close() {
			rmSync(folder, { recursive: true });
			await closeServer(server);
		},
	};
}

class DressedProvider {
	/** The authorization requests and the token requests that have arrived. */
	authorizations = [];
	exchanges = [];
	/** The requests for long-lived tokens. */
	lengthened = [];
	#names = new Map();
	#mount;
	#issuer;
	#provider;
	#answer;
	#oauth;
	#name;
	#behaviour;
	/** What was answered to each refresh token. */
	#given = new Map();

	constructor({ name, origin, redirectUri, oauth, behaviour = {} }) {
		this.#name = name;
		this.#oauth = oauth;
		this.#behaviour = { sendsIss: oauth.issuer === '{issuer}' || oauth.authorization_response_iss_parameter_supported, ...behaviour };
		const variables = Object.entries(oauth.variables ?? {}).filter(([, { as }]) => as !== 'url');
		this.variables = Object.fromEntries(variables.map(([variable, { among }]) => [variable, among?.[0] ?? 'variable']));
		this.#mount = [name, ...Object.values(this.variables)].join('/');
		this.#issuer = `${origin}/${this.#mount}`;
		const template = [origin, name, ...variables.map(([variable]) => `{${variable}}`)].join('/');
		this.client = { id: `client-of_${name}`, ...oauth.signed_secret
			? { privateKey: CLIENT_KEY.privateKey.export({ type: 'pkcs8', format: 'pem' }), keyId: 'key-1' }
			: oauth.token_endpoint_auth_method !== 'none' && { secret: SECRET } };
		this.description = this.#describe(template);
		if (oauth.issuer === '{issuer}') this.variables.issuer = this.#issuer;
		this.#provider = this.#createProvider(redirectUri);
		this.#answer = this.#provider.callback();
	}

	/** The description, with the addresses of this provider. */
	#describe(template) {
		const { account, issuer, long_lived: longer = {} } = this.#oauth;
		const lengthenings = Object.entries(longer).map(([name, request]) => [name, { ...request, endpoint: `${template}/long-lived/${name}` }]);
		const at = (key, path) => (this.#oauth[key] === undefined ? {} : { [key]: `${template}${path}` });
		return {
			...this.#oauth,
			...issuer !== undefined && { issuer: issuer === '{issuer}' ? issuer : template },
			...at('authorization_endpoint', '/authorize'), ...at('token_endpoint', '/exchange'), ...at('revocation_endpoint', '/token/revocation'),
			...at('refresh_endpoint', '/exchange'),
			...lengthenings.length > 0 && { long_lived: Object.fromEntries(lengthenings) },
			...account?.endpoint && { account: { ...account, endpoint: `${template}/account${account.endpoint.replace(/^[^?]*/, '')}` } },
		};
	}

	#createProvider(redirectUri) {
		const { pkce, token_endpoint_auth_method: method } = this.#oauth;
		const provider = new Provider(this.#issuer, {
			adapter: memoryAdapter(),
			jwks: { keys: [KEY] },
			cookies: { keys: [randomBytes(32).toString('base64url')] },
			clients: [{
				client_id: this.client.id, ...(this.client.secret ?? this.client.privateKey) && { client_secret: SECRET },
				redirect_uris: [redirectUri], response_types: ['code'], grant_types: ['authorization_code', 'refresh_token'],
				token_endpoint_auth_method: method, id_token_signed_response_alg: 'ES256',
			}],
			responseTypes: ['code'],
			scopes: SCOPES,
			pkce: { required: () => pkce === 'S256' },
			claims: { openid: ['sub'], profile: ['name', 'email', 'preferred_username'] },
			conformIdTokenClaims: false,
			findAccount: (_ctx, sub) => ({
				accountId: sub,
				claims: () => Object.fromEntries(['sub', 'name', 'email', 'preferred_username'].map((claim) => [claim, claim === 'sub' ? sub : this.#names.get(sub)])),
			}),
			issueRefreshToken: () => true,
			rotateRefreshToken: () => this.#behaviour.rotates ?? true,
			features: { devInteractions: { enabled: false }, rpInitiatedLogout: { enabled: false }, revocation: { enabled: true, allowedPolicy: () => true } },
			interactions: { url: (_ctx, { uid }) => `/interaction/${this.#name}.${uid}` },
			loadExistingGrant: async ({ oidc }) => {
				const grant = new provider.Grant({ accountId: oidc.session.accountId, clientId: oidc.client.clientId });
				grant.addOIDCScope([...oidc.requestParamScopes].join(' '));
				await grant.save();
				return grant;
			},
			clientBasedCORS: () => false,
			ttl: { AccessToken: 600, AuthorizationCode: 60, Grant: 600, IdToken: 600, Interaction: 600, RefreshToken: 600, Session: 600 },
			renderError: (ctx, { error, error_description: description }) => {
				ctx.type = 'html';
				ctx.body = errorPage(`${error}: ${description}`);
			},
		});
		provider.use((ctx, next) => this.#hideIssuer(ctx, next));
		provider.use((ctx, next) => this.#addReturned(ctx, next));
		return provider;
	}

	/** Most providers do not send `iss`, and do not say in their metadata that they do. */
	async #hideIssuer(ctx, next) {
		await next();
		if (this.#behaviour.sendsIss) return;
		if (ctx.path.endsWith('/openid-configuration')) delete ctx.body.authorization_response_iss_parameter_supported;
		const location = ctx.response.get('location');
		if (URL.canParse(location) && new URL(location).searchParams.has('iss')) {
			const url = new URL(location);
			url.searchParams.delete('iss');
			ctx.set('location', url.href);
		}
	}

	/** What comes back with the user, beside what the standard says. */
	async #addReturned(ctx, next) {
		await next();
		const { account, variables = {} } = this.#oauth;
		const location = ctx.response.get('location');
		if (!URL.canParse(location) || !new URL(location).searchParams.has('code')) return;
		const url = new URL(location);
		if (account?.from === 'return') url.searchParams.set(account.id.slice(1), createHash('sha256').update('Ada Lovelace').digest('base64url'));
		for (const { return_parameter: name, among } of Object.values(variables)) if (name) url.searchParams.set(name, `https://${among[0]}`);
		ctx.set('location', url.href);
	}

	/** The standard's names of parameters, and the secret that this provider knows, if its client has signed the request. */
	#undress(form) {
		const { parameter_names: names = {}, signed_secret: signed } = this.#oauth;
		for (const [name, own] of Object.entries(names)) {
			form.set(name, form.get(own));
			form.delete(own);
		}
		if (!signed) return form;
		const [head, claims, signature] = String(form.get('client_secret')).split('.');
		const isGood = verify('sha256', Buffer.from(`${head}.${claims}`), { key: CLIENT_KEY.publicKey, dsaEncoding: 'ieee-p1363' }, Buffer.from(signature ?? '', 'base64url'));
		const { aud, sub } = JSON.parse(Buffer.from(claims ?? '', 'base64url'));
		form.set('client_secret', isGood && aud === signed.audience && sub === this.client.id ? SECRET : 'none');
		return form;
	}

	/** Changes what it does from now on. */
	behave(changes) {
		Object.assign(this.#behaviour, changes);
	}

	async handle(request, response) {
		const { pathname, searchParams } = new URL(request.url, this.#issuer);
		if (this.#behaviour.isDown) return void response.writeHead(503).end();
		if (pathname.startsWith('/interaction/')) return this.#signIn(request, response);
		const path = pathname.slice(this.#mount.length + 1);
		if (!pathname.startsWith(`/${this.#mount}/`)) return void response.writeHead(404).end();
		if (path === '/authorize') return this.#authorize(searchParams, response);
		if (path === '/exchange') return this.#exchange(request, response);
		const lengthening = this.#oauth.long_lived?.[path.replace('/long-lived/', '')];
		if (lengthening) return this.#lengthen(lengthening, request, response, searchParams);
		if (path === '/me' && this.#behaviour.userinfo) return this.#behaviour.userinfo(response);
		if (path === '/account') return this.#showAccount(request, response, searchParams);
		if (path === '/auth' && this.#oauth.token_endpoint === undefined) this.#checkAuthorization(searchParams);
		if (path === '/token') return this.#exchange(request, response);
		if (path === '/token/revocation' && (this.#oauth.parameter_names ?? this.#oauth.signed_secret)) return this.#revoke(request, response);
		request.originalUrl = request.url.replace('/undressed', '/token');
		request.url = request.originalUrl.slice(this.#mount.length + 1);
		this.#answer(request, response);
	}

	async #signIn(request, response) {
		const { uid } = await this.#provider.interactionDetails(request, response);
		if (request.method !== 'POST') return sendPage(response, 200, signInPage(`${this.#name}.${uid}`));
		const name = (await readForm(request)).get('name');
		const accountId = createHash('sha256').update(name).digest('base64url');
		this.#names.set(accountId, name);
		await this.#provider.interactionFinished(request, response, { login: { accountId }, consent: {} });
	}

	/** What this provider demands of an authorization request, and what it does not know. */
	#checkAuthorization(query) {
		const { pkce, parameters = {}, response_mode: mode } = this.#oauth;
		this.authorizations.push(Object.fromEntries(query));
		for (const own of Object.values(this.#oauth.parameter_names ?? {})) if (!query.has(own) && !query.has('client_id')) throw new Error(`${own} is missing`);
		if (pkce === 'none' && query.has('code_challenge')) throw new Error('this provider knows no PKCE');
		for (const [name, value] of Object.entries(parameters)) {
			if (query.get(name) !== value) throw new Error(`${name} is not ${value}`);
		}
		if (mode === 'form_post' && query.get('response_mode') !== mode) throw new Error('a form is not asked for');
	}

	/** An authorization request with this provider's words, which becomes one with those of the standard. */
	#authorize(query, response) {
		const { scope: { parameter = 'scope', separator = ' ' } = {} } = this.#oauth;
		this.#checkAuthorization(query);
		const scopes = query.get(parameter)?.split(separator) ?? [];
		if (scopes.some((scope) => !SCOPES.includes(scope))) throw new Error('unknown scopes');
		for (const [name, own] of Object.entries(this.#oauth.parameter_names ?? {})) {
			query.set(name, query.get(own));
			query.delete(own);
		}
		for (const name of [parameter, 'prompt', ...Object.keys(this.#oauth.parameters ?? {})]) query.delete(name);
		if (scopes.length > 0) query.set('scope', scopes.join(' '));
		response.writeHead(303, { location: `${this.#issuer}/auth?${query}` }).end();
	}

	/** A token request: with this provider's client authentication, answered in this provider's form. */
	async #exchange(request, response) {
		const { token_endpoint_auth_method: method } = this.#oauth;
		const isJson = request.headers['content-type'].startsWith('application/json');
		if (isJson !== (this.#oauth.token_request === 'json')) return this.#send(response, 400, { error: 'invalid_request' });
		const form = this.#undress(isJson ? new URLSearchParams(JSON.parse(await textOf(request))) : await readForm(request));
		const { authorization } = request.headers;
		this.exchanges.push({ form: Object.fromEntries(form), authorization });
		await this.#behaviour.before?.();
		if (this.#behaviour.answer) return this.#behaviour.answer(response);
		const isBasic = authorization !== undefined;
		for (const [name, value] of Object.entries(this.#oauth.token_parameters ?? {})) {
			if (form.has('code') && form.get(name) !== value) return this.#send(response, 400, { error: 'invalid_request' });
		}
		if (isBasic !== (method === 'client_secret_basic') || form.has('client_secret') !== (method === 'client_secret_post')) {
			return this.#send(response, 401, { error: 'invalid_client' });
		}
		// Providers that do not decode the id still know it.
		if (isBasic && !Buffer.from(authorization.slice('Basic '.length), 'base64').toString().startsWith(`${this.client.id}:`)) {
			return this.#send(response, 401, { error: 'invalid_client' });
		}
		const refreshToken = form.get('refresh_token');
		const again = this.#behaviour.hasGrace && this.#given.get(refreshToken);
		if (again) return this.#send(response, 200, again);
		const inner = await this.#ask(request, form);
		if (inner.status !== 200) {
			const { error } = await inner.json();
			return this.#send(response, this.#behaviour.refusesWith200 ? 200 : inner.status, { ok: false, error });
		}
		const answer = await inner.json();
		this.#behaviour.note?.(answer);
		const dressed = await this.#dressTokens(answer);
		if (refreshToken !== null) this.#given.set(refreshToken, dressed);
		if (this.#behaviour.losesAnswers-- > 0) return void response.destroy();
		this.#send(response, 200, dressed);
	}

	/** Gives a long-lived token for a token, if the request has exactly what its description says. */
	async #lengthen({ method = 'POST', parameters }, request, response, query) {
		const form = Object.fromEntries(method === 'POST' ? await readForm(request) : query);
		const [name] = Object.entries(parameters).find(([, value]) => value === '{access_token}');
		const expected = Object.fromEntries(Object.entries(parameters).map(([key, value]) => (
			[key, value.replace('{client_id}', this.client.id).replace('{client_secret}', SECRET).replace('{access_token}', form[name])])));
		this.lengthened.push({ method: request.method, grant: form.grant_type, token: form[name] });
		const found = await this.#provider.AccessToken.find(String(form[name]));
		const isRight = request.method === method && JSON.stringify(form) === JSON.stringify(expected) && [...query].length === (method === 'GET' ? Object.keys(form).length : 0);
		if (this.#behaviour.refusesLonger || !isRight || !found) return this.#send(response, 400, { error: { message: `${form[name]} is not good`, type: 'OAuthException', code: 190 } });
		const { AccessToken, Client } = this.#provider;
		const longer = new AccessToken({ accountId: found.accountId, client: await Client.find(found.clientId), grantId: found.grantId, scope: found.scope, gty: found.gty });
		const answer = { access_token: await longer.save(3_600), token_type: 'bearer', expires_in: 5_184_000 };
		this.#behaviour.note?.(answer);
		this.#send(response, 200, answer);
	}

	/** Sends a refresh token, as somebody who has kept it would. Resolves to the error. */
	async useAgain(token) {
		const authorization = `Basic ${Buffer.from(`${this.client.id}:${encodeURIComponent(SECRET)}`).toString('base64')}`;
		const form = new URLSearchParams({ grant_type: 'refresh_token', refresh_token: token });
		return (await (await this.#ask({ headers: { authorization } }, form)).json()).error;
	}

	async #revoke(request, response) {
		const inner = await this.#ask(request, this.#undress(await readForm(request)), '/undressed/revocation');
		response.writeHead(inner.status).end();
	}

	/** The answer of the provider without its dress. */
	#ask({ headers }, form, path = '/undressed') {
		const type = 'application/x-www-form-urlencoded';
		const { authorization } = headers;
		return fetch(`${this.#issuer}${path}`, { method: 'POST', headers: { 'content-type': type, ...authorization && { authorization } }, body: form });
	}

	async #dressTokens(answer) {
		const { token_response: { member, token_type: type } = {}, account } = this.#oauth;
		const found = await this.#provider.AccessToken.find(answer.access_token);
		const whose = account?.from === 'token_response' ? documentOf([[account.id, found.accountId], [account.name, this.#names.get(found.accountId)]]) : {};
		const tokens = { ...answer, refresh_token: answer.refresh_token ?? null, ...this.#behaviour.tokens, ...this.#behaviour.change?.(answer) };
		if (type && !member) delete tokens.token_type;
		if (!member) return merge(tokens, whose);
		// Slack says the kind of token where RFC 6749 has its type.
		return merge(documentOf([[member, { ...tokens, token_type: 'user' }]]), whose);
	}

	#send(response, status, answer) {
		const { form } = this.#behaviour;
		const text = form ? String(new URLSearchParams(Object.entries(answer).filter(([, value]) => value !== null))) : JSON.stringify(answer);
		response.writeHead(status, { 'content-type': form ? 'application/x-www-form-urlencoded' : 'application/json' }).end(text);
	}

	async #showAccount(request, response, query) {
		const { id, name, headers = {}, body, endpoint } = this.#oauth.account;
		const [secretHeader] = Object.entries(headers).find(([, value]) => value.includes('{access_token}')) ?? ['authorization'];
		const token = await this.#provider.AccessToken.find(String(request.headers[secretHeader]).replace(/^Bearer /, ''));
		const isRight = request.method === (body ? 'POST' : 'GET') && String(query) === (endpoint.split('?')[1] ?? '')
			&& Object.entries(headers).every(([header, value]) => header === secretHeader || request.headers[header] === value.replace('{client_id}', this.client.id))
			&& (secretHeader === 'authorization' || request.headers.authorization === undefined)
			&& (!body || JSON.stringify(body) === await textOf(request));
		if (!token || !isRight) return void response.writeHead(401).end();
		response.writeHead(this.#behaviour.accountStatus ?? 200, { 'content-type': 'application/json' });
		response.end(JSON.stringify(documentOf([[id, token.accountId], [name, this.#names.get(token.accountId)]])));
	}

	/** Whether a token is one of this provider's, and has not been revoked. */
	async knows(token) {
		return await this.#provider.AccessToken.find(token) !== undefined;
	}
}

async function textOf(request) {
	let text = '';
	for await (const chunk of request.setEncoding('utf8')) text += chunk;
	return text;
}
