// The tables of lib/providers/SHIPPED.md and ACCOUNTS.md that say what each description proves, made from the descriptions.
// `make contract` writes them into these documents.

import { readdirSync, readFileSync, writeFileSync } from 'node:fs';

import { DESCRIBED } from './deliveries.mjs';
import { isMain } from '../demo/process.mjs';

const TOP = new URL('../../', import.meta.url);
const read = (path) => JSON.parse(readFileSync(new URL(path, TOP)));

const FILES = readdirSync(new URL('lib/providers/', TOP)).filter((file) => file.endsWith('.json') && file !== 'schema.json').sort();

const PROVES = {
	body: 'the whole body', fields: 'every value that decides', part: 'a part', token: 'that the sender knows a secret', nothing: 'nothing',
};

const line = (cells) => `| ${cells.join(' | ')} |\n`;
const table = (head, ...rows) => [line(head), `|${'---|'.repeat(head.length)}\n`, ...rows.map(line)].join('');
const list = (items) => [...new Set(items)].join(', ') || '–';

/** Where the elicitation's id is, in the words of the provider. */
function placeOf(value) {
	if (value === undefined) return '–';
	if (typeof value === 'string') return `\`${value}\``;
	if (value.first) return [...new Set(value.first.map(placeOf))].join(', or ');
	const { json, item = json, where, is, value: at, inside, query, form, multipart } = value;
	if (item === undefined) return `\`${query ?? form ?? multipart}\` of the ${query ? 'address' : 'form'}`;
	return where ? `\`${item}\`, where \`${where}\` is \`${is}\`` : `\`${item}${inside ?? ''}\``;
}

/** What a provider with this description can be: for kind payment, signature or oauth. */
function kindsOf({ outcomes, oauth }, kind) {
	const effects = outcomes.map(({ effect }) => effect);
	return list([effects.includes('paid') && 'payment', effects.includes('accepted') && kind !== 'oauth' && 'signature', kind, oauth && 'oauth'].filter(Boolean));
}

const HMAC = /^hmac-/;

/** How it is signed, and since when that is known. */
const schemeOf = ({ algorithm, signature: { from: { header, ...other } }, since }) => `${algorithm.replace(HMAC, 'HMAC-').toUpperCase().replace('TOKEN', 'a token').replace('ED25519', 'Ed25519')
} in ${header ? [header].flat().map((name) => `\`${name}\``).join(' or ') : `the ${Object.keys(other)[0].replace('item', 'event').replace('json', 'body').replace('query', 'address')}`} (${since})`;

function webhookRow(file) {
	const description = read(`lib/providers/${file}`);
	const { name, trust, outcomes, live, account, challenge, return: back, elicitation, verify } = description;
	const { kind } = DESCRIBED.find((one) => `${one.name}.json` === file);
	const compared = [description.compared, ...verify.map((one) => one.compared)].filter(Boolean).sort()[0];
	const { deliveries, returns = [] } = read(`build/deliveries/${file}`);
	const effects = outcomes.map(({ effect }) => effect);
	const more = [live && 'mode', account && 'account', challenge && 'challenge', back && 'return'].filter(Boolean);
	return [`\`${file}\``, name, kindsOf(description, kind), list(verify.map(schemeOf)), placeOf(trust === 'nothing' ? 'webhookUrl' : elicitation), PROVES[trust], list(effects.filter((one) => !['recheck', 'ignore'].includes(one))),
		effects.includes('recheck') ? list(outcomes.filter((one) => one.effect === 'recheck').flatMap(({ type }) => type ?? 'everything else')) : '–',
		list(more), String(deliveries.length + returns.length), compared];
}

/** A provider of any kind says nothing that could be confirmed. */
const OPEN = 'as the provider says';

function lifetimes({ lifetimes: { access = '–', refresh = '–', rotation, source } = {} }) {
	return [source ? `[${access}](${source})` : access === OPEN ? access : `${access} (not confirmed)`, [refresh, rotation].filter(Boolean).join('; ')];
}

/** For how long a refresh token is taken again, with the page that says so or was read for it. */
function taken({ reuse_within: within, reuse_source: source, refresh_token_stays_good: stays, lifetimes: { rotation } = {} }) {
	if (source === undefined) return stays ? 'always' : rotation === undefined ? '–' : 'not known';
	const [, why, page, day] = /^(?:(.+): )?(\S+) \((\S+)\)$/.exec(source);
	const said = within === undefined ? why : within === 'never' ? within : `${within.toLocaleString('en')} s`;
	return `[${said}](${page}), ${day}`;
}

function peculiarities({ scope = {}, parameters = {}, token_parameters: more = {}, response_mode: mode, variables = {}, token_response: answer = {},
	parameter_names: names = {}, token_request: request, signed_secret: signed, refresh_endpoint: refresh, long_lived: longer }) {
	return list([
		scope.parameter && `\`${scope.parameter}\``, scope.separator === ',' && 'scopes with commas',
		...Object.entries({ ...parameters, ...more }).map(([name, value]) => `\`${name}=${value}\``),
		mode === 'form_post' && 'a posted response', ...Object.keys(variables).map((name) => `\`{${name}}\``),
		answer.member && `tokens in \`${answer.member}\``, answer.token_type && 'no type of the token',
		...Object.entries(names).map(([name, own]) => `\`${own}\` for \`${name}\``), request === 'json' && 'JSON token requests',
		signed && 'a secret that is signed', refresh && 'an endpoint for refreshes', longer && 'a long-lived token',
		...Object.values(variables).map(({ return_parameter: from }) => from && `the host comes back as \`${from}\``),
	].filter(Boolean));
}

function issuerOf({ issuer, token_endpoint: token, authorization_response_iss_parameter_supported: isSent }) {
	if (isSent) return 'required';
	if (token === undefined && isSent === undefined) return 'as the metadata say';
	return issuer === undefined ? 'not looked at' : 'compared if it is there';
}

function accountRow(file) {
	const { oauth } = read(`lib/providers/${file}`);
	const { pkce, token_endpoint: token, token_endpoint_auth_method: method, revocation_endpoint: revocation, account } = oauth;
	return [`\`${file}\``, token === undefined ? 'discovered' : 'written out', pkce, issuerOf(oauth), `\`${method}\``, peculiarities(oauth),
		!account ? 'not said' : account.endpoint ? 'asked at an endpoint' : `\`${account.from}\``, token === undefined ? 'as the metadata say' : revocation ? 'yes' : 'no', ...lifetimes(oauth), taken(oauth)];
}

/** Document → heading and table. */
export const TABLES = {
	SHIPPED: ['What the webhooks prove', table(
		['file', 'for', 'kind', 'signature (known since)', 'the id is in', 'a right signature proves', 'effects', 'left to `recheck`', 'also', 'known deliveries', 'compared'],
		...FILES.filter((file) => read(`lib/providers/${file}`).verify).map(webhookRow))],
	ACCOUNTS: ['What is known of accounts', table(
		['file', 'endpoints', 'PKCE', '`iss`', 'client authentication', 'peculiar', 'whose account', 'revoked (RFC 7009)', 'access token', 'refresh token', 'taken again after its use'],
		...FILES.filter((file) => read(`lib/providers/${file}`).oauth).map(accountRow))],
};

const place = (document) => new URL(`lib/providers/${document}.md`, TOP);

export const readDocument = (document) => readFileSync(place(document), 'utf8');

/** The document with its table under its heading. */
export function withTables(document) {
	const [heading, rows] = TABLES[document];
	return readDocument(document).replace(new RegExp(`(^## ${heading}\\n[^]*?\\n)(?:\\|.*\\n)+`, 'm'), (_, before) => before + rows);
}

if (isMain(import.meta.url)) for (const document of Object.keys(TABLES)) writeFileSync(place(document), withTables(document));
