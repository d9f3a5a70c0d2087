// What the example servers take from your application. Replace each part with
// your own; until then these variables say what it is, see .env.example:
//
//     URLMODE_DATABASE_URL, URLMODE_KEYS_FILE, URLMODE_BASE_URL    how it reaches the callback programs
//     PORT          where this server listens
//     APP_USERS     the subject of each access token, {"a-token": "ada@example.org"}
//     APP_HOSTS     the names by which clients call this server; those of loopback by default
//     APP_ISSUER, APP_CLIENT_ID, APP_CLIENT_SECRET    an OpenID provider, and this server there
//     APP_CHECKOUT  the page on which the report is paid
//     APP_CLIENTS   what is known of clients beside what they declare, for the option `clients`
//     APP_DATABASE_URL    a database of your own, in which paid.mjs keeps credits

import { allowInsecureRequests, discovery } from 'openid-client';

const {
	URLMODE_DATABASE_URL = '', URLMODE_KEYS_FILE = '', URLMODE_BASE_URL = '', PORT = '8000',
	APP_USERS = '{}', APP_HOSTS = 'localhost 127.0.0.1 [::1]', APP_ISSUER = '', APP_CLIENT_ID = '', APP_CLIENT_SECRET,
	APP_CHECKOUT = 'https://checkout.example/pay', APP_CLIENTS = '[]', APP_DATABASE_URL = '',
} = process.env;
const missing = Object.entries({ URLMODE_DATABASE_URL, URLMODE_KEYS_FILE, URLMODE_BASE_URL }).filter(([, value]) => value === '');
if (missing.length > 0) throw new Error(`set ${missing.map(([name]) => name).join(', ')}: .env.example has an example of each`);

/** @type {import('urlmode').UrlModeOptions} */
export const settings = {
	databaseUrl: URLMODE_DATABASE_URL, keysFile: URLMODE_KEYS_FILE, baseUrl: URLMODE_BASE_URL, clients: JSON.parse(APP_CLIENTS),
};

export const port = Number(PORT);

export const ownDatabaseUrl = APP_DATABASE_URL;

/** @type {Map<string | undefined, string>} */
const users = new Map(Object.entries(JSON.parse(APP_USERS)));
const hosts = APP_HOSTS.split(' ');

/**
 * The user of an access token, as your authorization server says. Never take it
 * from anything else that the client sends.
 *
 * @param {string | null} [authorization]
 */
export function subjectOf(authorization) {
	return users.get(/^Bearer (.+)$/.exec(authorization ?? '')?.[1]);
}

/**
 * Whether a request calls this server by one of its names, and is not sent by a
 * page of another site. A server without this check can be called by any page
 * that its user visits (DNS rebinding).
 *
 * @param {{ host?: string | undefined, origin?: string | undefined }} headers
 */
export function isTrusted({ host = '', origin }) {
	const isOurs = (/** @type {string} */ authority) => hosts.includes(authority.toLowerCase().replace(/:\d+$/, ''));
	return isOurs(host) && (origin === undefined || isOurs(origin.replace(/^https?:\/\//, '')));
}

export const issuer = APP_ISSUER;

/** This server, as the provider has registered it. */
export const client = { id: APP_CLIENT_ID, ...APP_CLIENT_SECRET && { secret: APP_CLIENT_SECRET } };

/** The same for openid-client, where an example makes the authorization URL itself. */
export const configuration = issuer ? await discovery(new URL(issuer), client.id, APP_CLIENT_SECRET, undefined,
	issuer.startsWith('http:') ? { execute: [allowInsecureRequests] } : {}) : undefined;

/** How FrontMCP checks access tokens by itself. */
export const auth = { mode: 'transparent', provider: issuer };

/**
 * Creates a checkout of your payment provider, and returns its address. The id
 * of the elicitation is the reference by which the provider's webhook finds it.
 *
 * @param {{ elicitationId: string, returnUrl: string, cancelUrl?: string | undefined }} elicitation
 */
export function createCheckout({ elicitationId }) {
	return `${APP_CHECKOUT}?reference=${elicitationId}`;
}

/**
 * The page on which a user settles a subscription that is past due, such as Stripe's portal.
 *
 * @param {import('urlmode').Entitlement} entitlement
 */
export function manageUrl({ subscription }) {
	return `https://billing.example/manage?subscription=${subscription}`;
}

/**
 * What the tools ask on pages of the callback programs.
 *
 * @type {import('urlmode').InputForm}
 */
export const keyForm = {
	title: { en: 'Your API key', de: 'Ihr API-Schlüssel' },
	fields: [{
		name: 'api_key', type: 'secret', label: { en: 'API key', de: 'API-Schlüssel' }, required: true, min: 8,
		link: { url: 'https://reports.example/keys', label: 'reports.example' },
	}],
};
/** @type {import('urlmode').ApprovalForm} */
export const terms = { title: 'Terms of the reports', text: 'Reports are for your own use.' };
/** @type {import('urlmode').ApprovalForm} */
export const deletion = { title: 'Delete all reports?', facts: [{ label: 'Reports', value: '2024, 2025 and 2026' }], comment: 'optional' };

/**
 * Asks the service whether it knows the key. What is returned is shown at the field.
 *
 * @param {import('urlmode').Verify} request
 */
export async function verifyKey({ values }) {
	const isKnown = String(values.api_key).startsWith('sk-');
	return isKnown ? undefined : { field: 'api_key', problem: { en: 'This key is not known.', de: 'Diesen Schlüssel gibt es nicht.' } };
}
