// The demo's OpenID provider: oidc-provider with PKCE required, `iss` in its
// responses (RFC 9207) and a sign-in page that asks for a name.
//
//     PROVIDER_PORT=9000 URLMODE_BASE_URL=http://127.0.0.1:8080 node provider.mjs

import { createHash, generateKeyPairSync, randomBytes } from 'node:crypto';
import { createServer } from 'node:http';

import { memoryAdapter } from './memory-adapter.mjs';
import { Provider } from './oidc-provider.mjs';
import { closeServer, env, isMain, listen, readForm, run, sendPage } from './process.mjs';
import { errorPage, signInPage } from './provider-pages.mjs';

export const CLIENT_ID = 'urlmode-demo';

/** The client for `user_check` `openid` of the callback programs. */
export const SIGN_IN_CLIENT_ID = 'urlmode-signin';

const NAME_MAX = 100;

/**
 * Starts a provider whose client for accounts may return to `redirectUris`, and
 * the one for signing in to `signInUri`, if there is such a one.
 *
 * The issuer is http://localhost:PORT. For a browser this is another site than
 * the callback host on 127.0.0.1, as a real provider is.
 *
 * @param {{ redirectUris: string[], signInUri?: string, port?: number }} options port: 0 for a free one
 * @returns {Promise<{ issuer: string, url: string, close: () => Promise<void> }>}
 */
export async function startProvider({ redirectUris, signInUri, port = 0 }) {
	const server = createServer();
	const issuer = `http://localhost:${await listen(server, port)}`;
	const names = new Map();
	const provider = createProvider(issuer, redirectUris, signInUri, names);
	const answer = provider.callback();

	provider.on('server_error', (_context, error) => console.error(`OpenID provider: ${error.message}`));

	server.on('request', (request, response) => {
		if (!request.url.startsWith('/interaction/')) {
			answer(request, response);
			return;
		}
		signIn(provider, names, request, response).catch(() => {
			sendPage(response, 400, errorPage('This sign-in is over. Start again.'));
		});
	});
	return { issuer, url: issuer, close: () => closeServer(server) };
}

function createProvider(issuer, redirectUris, signInUri, names) {
	const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
	const minutes = 60;

	return new Provider(issuer, {
		adapter: memoryAdapter(),
		jwks: { keys: [{ ...privateKey.export({ format: 'jwk' }), use: 'sig', alg: 'ES256' }] },
		cookies: { keys: [randomBytes(32).toString('base64url')] },
		clients: [{
			client_id: CLIENT_ID,
			redirect_uris: redirectUris,
			response_types: ['code'],
			grant_types: ['authorization_code'],
			token_endpoint_auth_method: 'none',
			id_token_signed_response_alg: 'ES256',
		}, ...signInUri ? [{
			client_id: SIGN_IN_CLIENT_ID,
			application_type: 'native',
			redirect_uris: [signInUri],
			response_types: ['id_token'],
			grant_types: ['implicit'],
			token_endpoint_auth_method: 'none',
			id_token_signed_response_alg: 'ES256',
		}] : []],
		responseTypes: ['code', 'id_token'],
		pkce: { required: () => true },
		claims: { openid: ['sub'], profile: ['name'], email: ['email', 'email_verified'] },
		findAccount: (_ctx, sub) => ({
			accountId: sub,
			claims: () => ({ sub, name: names.get(sub), email: names.get(sub), email_verified: true }),
		}),
		features: {
			devInteractions: { enabled: false },
			rpInitiatedLogout: { enabled: false },
		},
		interactions: { url: (_ctx, { uid }) => `/interaction/${uid}` },
		loadExistingGrant: grantWhatIsAsked,
		clientBasedCORS: () => false,
		renderError: (ctx, { error }) => {
			ctx.type = 'html';
			ctx.body = errorPage(error);
		},
		ttl: {
			AccessToken: 10 * minutes,
			AuthorizationCode: 1 * minutes,
			Grant: 60 * minutes,
			IdToken: 10 * minutes,
			Interaction: 10 * minutes,
			Session: 60 * minutes,
		},
	});
}

/** Grants consent with the sign-in, so that the demo has no second page. */
async function grantWhatIsAsked(ctx) {
	const { client, session, provider, requestParamScopes } = ctx.oidc;
	const grant = new provider.Grant({ accountId: session.accountId, clientId: client.clientId });
	grant.addOIDCScope([...requestParamScopes].join(' '));
	await grant.save();
	return grant;
}

async function signIn(provider, names, request, response) {
	const { uid, params, prompt } = await provider.interactionDetails(request, response);
	// It asks for the consent to every sign-in of a client on this machine.
	if (prompt.name === 'consent') {
		await provider.interactionFinished(request, response, { consent: {} }, { mergeWithLastSubmission: true });
		return;
	}
	const suggested = params.client_id === SIGN_IN_CLIENT_ID ? 'ada@example.org' : '';

	if (request.method !== 'POST') {
		sendPage(response, 200, signInPage(uid, suggested));
		return;
	}
	const form = await readForm(request);
	if (form.get('answer') === 'cancel') {
		await provider.interactionFinished(request, response, { error: 'access_denied' });
		return;
	}
	const name = (form.get('name') ?? '').trim().slice(0, NAME_MAX);
	if (name === '') {
		sendPage(response, 400, signInPage(uid, suggested));
		return;
	}
	const accountId = createHash('sha256').update(name).digest('base64url');
	names.set(accountId, name);
	await provider.interactionFinished(request, response, { login: { accountId } });
}

if (isMain(import.meta.url)) {
	await run('OpenID provider', () => startProvider({
		port: Number(env('PROVIDER_PORT')),
		redirectUris: [`${env('URLMODE_BASE_URL')}/oauth/demo/return`],
		signInUri: `${env('URLMODE_BASE_URL')}/signin/return`,
	}));
}
