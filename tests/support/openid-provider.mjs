// An OpenID provider that posts id tokens, dressed up as one that companies have:
// its issuer, its keys and its claims are written as that one writes them. It
// also signs what no provider would, for the tests of attacks. That a provider
// is like this, only the real one can tell; oidc-provider itself is the demo's.

import { createHash, createPrivateKey, createPublicKey, generateKeyPairSync, randomBytes, sign } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';

import { closeServer, listen, sendPage } from '../demo/process.mjs';

const TENANT = '6f1c9a52-3f0e-4d1b-9c57-0f2f6f3b8a11';

const encode = (value) => Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64url');
const id = (text) => createHash('sha256').update(text).digest('hex');

/** RSA keys of the tests, one after the other: to make one takes longer than most tests. */
const PAIRS = [1, 2, 3].map((n) => {
	const privateKey = createPrivateKey(readFileSync(new URL(`../unit/keys/rsa-${n}.pem`, import.meta.url)));
	return { privateKey, publicKey: createPublicKey(privateKey) };
});
let made = 0;
const rsa = () => PAIRS[made++ % PAIRS.length];

/** What differs: the issuer's path, the key and how it is published, the claims of a user. */
export const DRESSES = {
	entra: {
		path: `/${TENANT}/v2.0`,
		claim: 'oid',
		make: rsa,
		alg: 'RS256',
		// Neither `alg` nor anything but the key's id and its certificate.
		jwk: (jwk, kid) => ({ ...jwk, kid, x5t: kid, use: 'sig', x5c: ['MIIC'], issuer: 'https://login.example/{tenantid}/v2.0' }),
		claims: (name) => ({ ver: '2.0', tid: TENANT, oid: id(name).slice(0, 36), sub: `pairwise-${id(name)}`, preferred_username: `${name}@corp.example` }),
	},
	google: {
		path: '',
		claim: 'sub',
		make: rsa,
		alg: 'RS256',
		jwk: (jwk, kid) => ({ ...jwk, kid, use: 'sig', alg: 'RS256' }),
		claims: (name, client) => ({ azp: client, sub: String(parseInt(id(name).slice(0, 12), 16)), hd: 'corp.example', email: `${name}@corp.example`, email_verified: true, jti: id(name) }),
	},
	keycloak: {
		path: '/realms/corp',
		claim: 'sub',
		make: () => generateKeyPairSync('ec', { namedCurve: 'P-256' }),
		alg: 'ES256',
		jwk: (jwk, kid) => ({ ...jwk, kid, use: 'sig', alg: 'ES256' }),
		// A key for encryption stands beside it.
		others: () => [{ ...rsa().publicKey.export({ format: 'jwk' }), kid: 'enc', use: 'enc', alg: 'RSA-OAEP' }],
		claims: (name, client) => ({ typ: 'ID', azp: client, sid: id('session'), sub: `${id(name).slice(0, 8)}-corp`, preferred_username: name, session_state: 'x' }),
	},
	authentik: {
		path: '/application/o/urlmode/',
		claim: 'sub',
		make: rsa,
		alg: 'RS256',
		jwk: (jwk, kid) => ({ ...jwk, kid, use: 'sig', alg: 'RS256', x5c: ['MIIC'], x5t: kid }),
		claims: (name) => ({ acr: 'goauthentik.io/providers/oauth2/default', amr: ['pwd'], sid: id('session'), sub: id(name), preferred_username: name }),
		// It posts an access token, which nobody has asked for.
		posts: { access_token: 'eyJ.of.authentik', token_type: 'Bearer', expires_in: '300' },
	},
};

/**
 * @param {keyof typeof DRESSES} dress
 * @param {string} clientId
 */
export async function startOpenIdProvider(dress, clientId = 'urlmode') {
	const server = createServer();
	const origin = `http://localhost:${await listen(server, 0)}`;
	const provider = new OpenIdProvider(DRESSES[dress], origin, clientId);

	server.on('request', (request, response) => provider.answer(new URL(request.url, origin), response));
	provider.close = () => closeServer(server);
	return provider;
}

class OpenIdProvider {
	/** Who signs in next; each is asked for, unless it is the last. */
	users = ['ada'];
	/** Every authorization request. */
	asked = [];
	/** Members over those of the id token. */
	claims = {};
	/** Instead of a token: an error. */
	error;
	/** Prompts that it refuses: `posts` the error to the client, or `shows` a page of its own. */
	refuses = {};
	/** Whether the user presses a button at the provider, or comes back at once. */
	waits = false;
	/** Id tokens have `auth_time` although nobody asks for max_age. */
	saysWhen = false;

	#dress;

	constructor(dress, origin, clientId) {
		this.#dress = dress;
		this.origin = origin;
		this.issuer = origin + dress.path;
		this.clientId = clientId;
		this.rotate();
	}

	/** A new key in place of the one that signs. */
	rotate() {
		this.kid = randomBytes(8).toString('hex');
		({ publicKey: this.publicKey, privateKey: this.privateKey } = this.#dress.make());
	}

	get jwks() {
		const { jwk, others } = this.#dress;
		return { keys: [...others?.() ?? [], jwk(this.publicKey.export({ format: 'jwk' }), this.kid)] };
	}

	/** What the configuration of the programs says of it. */
	get openid() {
		return {
			issuer: this.issuer, client_id: this.clientId, claim: this.#dress.claim,
			authorization_endpoint: `${this.origin}/authorize`, end_session_endpoint: `${this.origin}/logout`,
		};
	}

	/** The subject of a user's elicitations. */
	subject(name) {
		return this.#dress.claims(name, this.clientId)[this.#dress.claim];
	}

	idToken(name, nonce, claims = {}) {
		const now = Math.floor(Date.now() / 1_000);
		const payload = {
			iss: this.issuer, aud: this.clientId, iat: now, exp: now + 300, nonce, ...this.#dress.claims(name, this.clientId), ...this.claims, ...claims,
		};
		const input = `${encode({ alg: this.#dress.alg, typ: 'JWT', kid: this.kid })}.${encode(payload)}`;
		return `${input}.${sign('sha256', Buffer.from(input), { key: this.privateKey, dsaEncoding: 'ieee-p1363' }).toString('base64url')}`;
	}

	/** A page that posts these fields: at once, or when its button is pressed. */
	post(response, action, fields) {
		const inputs = Object.entries(fields).map(([name, value]) => `<input type="hidden" name="${name}" value="${value}">`);
		const script = this.waits ? '' : '<script>document.forms[0].submit()</script>';
		sendPage(response, 200, `<!doctype html><title>Provider</title><form method="post" action="${action}">${inputs.join('')}
			<button>Go on</button></form>${script}`);
	}

	answer(url, response) {
		const get = (name) => url.searchParams.get(name);
		if (url.pathname === '/.well-known/openid-configuration' || url.pathname === `${new URL(this.issuer).pathname.replace(/\/$/, '')}/.well-known/openid-configuration`) {
			this.json(response, {
				issuer: this.issuer, authorization_endpoint: `${this.origin}/authorize`, jwks_uri: `${this.origin}/jwks`,
				end_session_endpoint: `${this.origin}/logout`, response_types_supported: ['code', 'id_token'],
				response_modes_supported: ['query', 'fragment', 'form_post'], ...this.discovery,
			});
		} else if (url.pathname === '/jwks') {
			this.json(response, this.served ?? this.jwks, this.headers);
		} else if (url.pathname === '/authorize') {
			this.asked.push(Object.fromEntries(url.searchParams));
			const refused = this.refuses[get('prompt')];
			if (refused === 'shows') return sendPage(response, 400, '<!doctype html><title>Provider</title><h1>The prompt is not supported</h1>');
			if (refused === 'posts') return this.post(response, get('redirect_uri'), { state: get('state'), error: 'invalid_request' });
			const name = this.users.length > 1 ? this.users.shift() : this.users[0];
			this.post(response, get('redirect_uri'), {
				state: get('state'), ...this.error ? { error: this.error }
					: { id_token: this.idToken(name, get('nonce'), get('max_age') === null && !this.saysWhen ? {} : { auth_time: Math.floor(Date.now() / 1_000), ...this.claims }), ...this.#dress.posts },
			});
		} else {
			sendPage(response, 200, '<!doctype html><title>Provider</title><h1>Somewhere at the provider</h1>');
		}
	}

	json(response, value, headers = {}) {
		response.writeHead(200, { 'Content-Type': 'application/json', ...headers }).end(typeof value === 'string' ? value : JSON.stringify(value));
	}
}
