// The Node package, as tests/waiting/README.md describes a driver: on PostgreSQL, or with OVER=http on the api alone.

import { createInterface } from 'node:readline';

import { UrlMode } from '../../lib/node/src/index.js';
import { UrlMode as HttpUrlMode } from '../../lib/node/src/http/index.js';
import { Vault } from '../../lib/node/src/vault.js';

const say = (message) => process.stdout.write(`${JSON.stringify(message)}\n`);

/** @param {string} name in snake_case */
const camel = (name) => ({ timeout_ms: 'timeout', lease_ms: 'lease', ttl_ms: 'ttl', verify_timeout_ms: 'verifyTimeout', valid_for_ms: 'validFor', older_than_ms: 'olderThan' }[name]
	?? name.replace(/_(.)/g, (_, letter) => letter.toUpperCase()));
const snake = (name) => (name === 'from' ? 'interrupted' : name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`));
const rename = (object, how) => Object.fromEntries(Object.entries(object).map(([name, value]) => [how(name), value]));

/** What a caller gives, but not what is inside `about` and `result`. */
const given = (options) => rename(options, camel);
const told = (object) => rename(object, snake);
/** `since_ms` is counted from now. */
const filter = ({ since_ms: since, ...options }) => ({ ...options, ...since !== undefined && { since: new Date(Date.now() + since) } });

/** A long text is told by its size. */
const inShort = (result) => (typeof result === 'string' && result.length > 1_000 ? { of_size: result.length } : result);

const settings = given(JSON.parse(process.env.SETTINGS ?? '{}'));
const urlmode = process.env.OVER === 'http' ? new HttpUrlMode({
	url: process.env.URLMODE_API_URL, key: process.env.URLMODE_API_KEY, ...settings,
}) : new UrlMode({
	databaseUrl: process.env.URLMODE_DATABASE_URL, keysFile: process.env.URLMODE_KEYS_FILE, baseUrl: process.env.URLMODE_BASE_URL,
	...settings,
});
/** By the number of the request that has begun them. */
const stops = new Map();
const claims = new Map();
/** The rechecks that wait for an answer, by the number of their wait. */
const asked = new Map();
const provider = 'demo';
let vault;

/** What a recheck returns. */
const answered = (recheck) => Object.fromEntries(Object.entries(given(recheck)).map(
	([name, value]) => [name, ['payments', 'refunds'].includes(name) ? value.map(given) : value]));

const VERBS = {
	create: async ({ checkout, ...options }, _, signal) => told(await urlmode.create(
		{ ...given(options), signal, ...checkout && { targetUrl: { url: options.target_url, checkout } } })),
	async wait({ elicitation_id: id, recheck, verify, timeout_ms: timeout, ...options }, number, signal) {
		return told(await urlmode.waitForCompletion(id, {
			...given(options), timeout: timeout === null ? Infinity : timeout, signal,
			onProgress: (progress) => say({ id: number, progress }),
			...recheck && { recheck: ({ signal: _, ...event }) => {
				say({ id: number, recheck: told(event) });
				return recheck === 'asks' ? new Promise((resolve, reject) => asked.set(number, { resolve, reject })) : answered(recheck);
			} },
			...verify && { verify: ({ elicitationId, values: { [verify.field]: value } }) => {
				say({ id: number, verify: { elicitation_id: elicitationId } });
				return value === verify.value ? undefined : { field: verify.field, problem: verify.problem };
			} },
		}));
	},
	answer({ wait, answer, error }) {
		const { resolve, reject } = asked.get(wait);
		if (error) reject(Object.assign(new Error(error), { code: 'FAILED' }));
		else resolve(answer ? answered(answer) : undefined);
	},
	stop: ({ wait }) => stops.get(wait)?.abort(Object.assign(new Error('stopped'), { code: 'STOPPED' })),
	complete: ({ elicitation_id: id, ...options }) => urlmode.complete(id, given(options)),
	cancel: ({ elicitation_id: id, ...options }) => urlmode.cancel(id, given(options)),
	abandon: ({ elicitation_id: id, ...options }) => urlmode.abandon(id, given(options)),
	claim: ({ elicitation_id: id, ...options }) => urlmode.claim(id, given(options)),
	async begin_claim({ elicitation_id: id, recheck, recheck_after_ms: recheckAfter, ...options }, number, signal) {
		const claim = await urlmode.beginClaim(id, { ...given(options), signal, recheckAfter, ...recheck && { recheck: () => {
			if (recheck === 'fails') throw Object.assign(new Error('the provider cannot be asked'), { code: 'FAILED' });
			return answered(recheck);
		} } });
		claims.set(number, claim);
		const { state, reference, fence, result } = claim;
		return { state, reference, fence, ...state === 'fulfilled' && { result: inShort(result) } };
	},
	fulfil: ({ claim, result }) => claims.get(claim).fulfil(result?.of_size ? 'x'.repeat(result.of_size) : result),
	confirm: ({ claim }) => claims.get(claim).confirm(),
	release: ({ claim }) => claims.get(claim).release(),
	end: ({ claim, how, refund }) => claims.get(claim).end(how, refund),
	unclaimed: async (options) => (await urlmode.unclaimed(filter(options))).map(told),
	refunds: async (options) => (await urlmode.refunds(filter(options))).map(told),
	async ledger({ consumer, elicitation_id: id, count }) {
		const entries = [];
		for await (const entry of urlmode.ledger({ consumer })) {
			if ((id === null || entry.elicitationId === id) && entries.push(told(entry)) === count) break;
		}
		return entries;
	},
	paid: (options) => urlmode.paid(filter(options)),
	purge: (options) => urlmode.purge(given(options)),
	ticket: (options) => urlmode.ticket(given(options)),
	late: () => void urlmode.on('late', (payment) => say({ late: told(payment) })),
	new_refunds: () => void urlmode.on('refunded', (refund) => say({ refund: told(refund) })),
	open_vault({ keys, issuer, reuse_within: reuseWithin }) {
		const client = { id: 'a', secret: 'secret-of-the-client' };
		vault = new Vault(urlmode, { keys, providers: { [provider]: { client, description: 'openid-connect', variables: { issuer }, reuseWithin } } });
		for (const name of ['connected', 'refreshed', 'reconnect', 'failed', 'disconnected']) vault.on(name, ({ reason }) => say({ event: { name, reason } }));
	},
	store: ({ subject, account, tokens }) => vault.store({ subject, provider }, { tokens, account: { id: account }, scopes: ['read'] }),
	access_token: async (options) => told(await vault.accessToken({ ...given(options), provider })),
	accounts: async ({ subject }) => (await vault.listAccounts({ subject })).map(told),
	disconnect: ({ subject, account }) => vault.disconnect({ subject, provider, account }),
	forget: ({ subject }) => vault.forgetSubject({ subject }),
	reseal: () => vault.reseal(),
	close: () => urlmode.close(),
};

function codeOf(error) {
	if (error instanceof TypeError) return 'ARGUMENT';
	return /^[A-Z]+(_[A-Z]+)*$/.test(error.code) ? error.code : 'DATABASE';
}

for await (const line of createInterface({ input: process.stdin })) {
	const { id, do: verb, with: options = {} } = JSON.parse(line);
	const stop = new AbortController();
	stops.set(id, stop);
	// Nothing of a call is kept after its end: `make soak` measures this process.
	Promise.resolve().then(() => VERBS[verb](options, id, stop.signal)).finally(() => stops.delete(id)).then(
		(answer = null) => say({ id, answer }),
		(error) => say({ id, error: { code: codeOf(error), status: error.status, reason: error.reason ?? error.detail, message: error.message } }));
}
await urlmode.close();
