// SPDX-License-Identifier: MIT
// A constant that several languages know has the same value in each.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';

import { constant, constantOf, domainMax, domains, domainWords, found, inFiles, inPackage, sqlDefaults } from '../support/constants.mjs';

const KB = 1_024;

const js = (module, name) => constantOf(`lib/node/src/${module}.js`, name);
/** The value of a constant, or the text that a pattern finds, in a module of the Python package. */
const py = (module, pattern) => found(`lib/python/src/urlmode/_${module}.py`, pattern);
const words = (file, pattern) => found(file, pattern).match(/\w+/g);
const conf = (pattern) => found('nginx/urlmode/server.conf', pattern);

/** How many bytes the package takes of an argument, wherever it is checked. */
const checkedMax = (name) => inPackage(new RegExp(`checkText\\('${name}', .*?, [01], (\\d+)\\)`, 'g')).map(([, max]) => Number(max));

/** What a constant is, and its value in each place. */
const SAME = {
	'bytes of a secret, at least': () => [constant('UM_SECRET_MIN'), js('keys', 'SECRET_MIN')],
	'bytes of a secret, at most': () => [constant('UM_SECRET_MAX'), js('keys', 'SECRET_MAX')],
	'bytes of a nonce': () => [constant('UM_NONCE_LEN'), js('aead', 'NONCE_BYTES')],
	'bytes of a tag': () => [found('lib/crypto/envelope.h', /UM_ENVELOPE_OVERHEAD \(2 \+ UM_NONCE_LEN \+ (\d+)\)/), js('aead', 'TAG_BYTES')],
	'bytes that sealing adds, at least': () => [2 + constant('UM_NONCE_LEN') + js('aead', 'TAG_BYTES'),
		found('sql/tables/014_vault.sql', /DOMAIN urlmode\.tokens .*BETWEEN (\d+) AND/)],
	'bytes of the sealed tokens of an account': () => [found('sql/tables/014_vault.sql', /DOMAIN urlmode\.tokens .*AND (\d+)/), js('vault/sealed-tokens', 'SEALED_MAX')],
	'bytes of a digest': () => [domainMax('digest'), constant('UM_BINDING_LEN'), constant('UM_BROWSER_LEN'),
		js('token', 'BINDING_BYTES'), js('token', 'BROWSER_BYTES'), js('request-digest', 'DIGEST_BYTES')],
	'bytes of a UUID': () => [constant('UM_UUID_LEN'), js('token', 'ID_BYTES'), js('seal', 'ID_BYTES')],
	'characters of a state token': () => [constant('UM_TOKEN_LEN'), found('lib/node/src/adapters/ask-by-retry.js', /HANDLE = .*?\{(\d+)\}/)],
	'characters of a link': () => [constant('UM_LINK_LEN'), Math.ceil((2 + constant('UM_UUID_LEN') + js('link', 'MAC_BYTES')) * 4 / 3)],
	'bytes of the proof of a link': () => [constantOf('lib/crypto/link.c', 'MAC_LEN'), js('link', 'MAC_BYTES')],
	'the key of a link': () => [found('lib/crypto/keys.c', /UM_USE_LINK\] = "(.*)"/), found('lib/node/src/link.js', /INFO = '(.*)'/),
		found('lib/client/examples/wait.py', /b"(urlmode link v1)"/)],
	'the cookie of the ticket': () => [found('lib/crypto/ticket.h', /UM_TICKET_COOKIE "(.*)"/), found('lib/node/src/ticket.js', /TICKET_COOKIE = '(.*)'/)],

	'characters of the name of a provider': () => [constant('UM_PROVIDER_MAX'), domainMax('provider'),
		1 + found('lib/node/src/input.js', /PROVIDER = .*\{0,(\d+)\}/), 1 + found('lib/node/src/accounts/description.js', /^const NAME = .*\{0,(\d+)\}/m)],
	'bytes of a subject': () => [constant('UM_SUBJECT_MAX'), domainMax('subject'), ...checkedMax('subject')],
	'bytes of a session': () => [domainMax('session'), ...checkedMax('session')],
	'bytes of a resume key': () => [domainMax('resume_key'), ...checkedMax('resumeKey')],
	'bytes of the id of an account': () => [domainMax('account_id'), ...checkedMax('account')],
	'bytes of the name of an MCP server': () => [domainMax('requester'), ...checkedMax('name')],
	'bytes of the id of an MCP client': () => [domainMax('client_id'), ...checkedMax('clientId')],
	'bytes of a target URL': () => [domainMax('target_url'), js('url', 'TARGET_MAX')],
	'characters of a reason': () => [domainMax('reason'), found('lib/node/src/input.js', /REASON = .*\{0,(\d+)\}/)],
	'bytes of a reference': () => [domainMax('reference'), js('input', 'REFERENCE_MAX')],
	'bytes of the type of an event': () => [domainMax('event_type'), found('sql/tables/008_event.sql', /octet_length\(type\) <= (\d+)/)],
	'bytes of a sealed result': () => [constant('UM_RESULT_MAX'), domainMax('result'), found('lib/node/src/seal.js', /RESULT_MAX = ([\d_]+) - OVERHEAD/)],
	'bytes of an outcome in a notification': () => [constantOf('lib/app/result.c', 'UM_ANNOUNCED_MAX'),
		found('sql/functions/002_elicitation.sql', /octet_length\(outcome\) <= (\d+)/), found('sql/functions/002_elicitation.sql', /larger than (\d+) bytes/)],
	'bytes of what a call returned, sealed': () => [domainMax('fulfilled'), found('lib/node/src/seal.js', /FULFILLED_MAX = ([\d_]+) - OVERHEAD/)],
	'bytes of the response of a client, sealed': () => [domainMax('response'), js('adapters/client-requests', 'RESPONSE_MAX')],

	'the kinds': () => [domainWords('kind'), words('lib/config/provider.c', /kinds\[\] = \{ ([^}]*), NULL \}/),
		words('lib/node/src/create-options.js', /KINDS = \[(.*)\]/)],
	'the actions': () => [domainWords('action'), words('lib/node/src/input.js', /checkChoice\('action', value, \[(.*)\]/),
		words('lib/node/src/types.js', /\{([^}]*)\} Action /)],
	'the statuses': () => [domainWords('status'), [...words('lib/node/src/wait.js', /STATUSES = \[(.*)\]/), 'completed']],
	'the purposes of the programs': () => [inPackage(/\{([^}]*) \| 'retry'\} Purpose/g)[0][1].match(/\w+/g),
		found('lib/crypto/token.c', /names\[\]\[PURPOSE_MAX \+ 1\] = (\{[^}]*\})/).match(/"\w+"/g).map((name) => name.slice(1, -1))],

	'the channel of announcements': () => [found('sql/functions/002_elicitation.sql', /pg_notify\('(\w+)'/), found('sql/functions/007_callback.sql', /pg_notify\('(\w+)'/),
		found('lib/client/connection.c', /"LISTEN (\w+)"/), found('lib/node/src/database.js', /CHANNEL = '(\w+)'/)],
	'the channel of the answers of clients': () => [found('sql/frameworks/functions/010_client_request.sql', /pg_notify\('(\w+)'/),
		found('lib/node/src/adapters/client-requests.js', /CHANNEL = '(\w+)'/)],
	'the channel of published messages': () => [found('sql/frameworks/functions/012_storage.sql', /pg_notify\('(\w+)'/), found('lib/node/src/adapters/storage.js', /CHANNEL = '(\w+)'/)],

	'seconds of the longest grace': () => [365 * 24 * 60 * 60, constant('UM_GRACE_MAX_S'), constant('UM_COOKIE_MAX_AGE'), js('token', 'GRACE_MAX_SECONDS'),
		found('lib/providers/schema.json', /"grace": \{[^}]*"maximum": (\d+)/)],
	'days for money that may be on its way': () => [30, found('sql/functions/002_elicitation.sql', /greatest\(grace, '(\d+) days'\)/),
		found('sql/functions/006_create.sql', /closes_at\(.*\) > now\(\) - interval '(\d+) days'/),
		found('sql/functions/005_retention.sql', /closes_at\(.*\) <= now\(\) - interval '(\d+) days'/), js('purge', 'KEEP_UNCLAIMED_MS') / js('purge', 'DAY_MS')],
	'milliseconds that a result is kept after it was read': () => [js('purge', 'KEEP_RESULTS_MS'),
		...sqlDefaults('keep_ms').filter((ms) => ms !== js('purge', 'RETENTION_MS'))],
	'milliseconds that the result of an unclaimed payment is kept': () => [js('purge', 'KEEP_UNCLAIMED_MS'), ...sqlDefaults('keep_unclaimed_ms')],
	'milliseconds that it is kept at least': () => [js('purge', 'KEEP_UNCLAIMED_MIN_MS'), found('sql/functions/005_retention.sql', /keep_unclaimed_ms < (\d+)/)],
	'milliseconds that rows are kept': () => [js('purge', 'RETENTION_MS'), found('sql/functions/005_retention.sql', /purge\(keep_ms bigint DEFAULT (\d+)/)],
	'milliseconds that rows are kept at least': () => [js('purge', 'RETENTION_MIN_MS'), found('sql/functions/005_retention.sql', /keep_ms < (\d+)/)],
	'what is purged': () => [words('nginx/command/purge.sh', /^kinds='(.*)'$/m), words('nginx/command/completion.bash', /--kind\) words='(.*)'/),
		words('nginx/command/purge.sh', /--kind KIND +only (.*)/).filter((word) => word !== 'or'),
		words('sql/functions/005_retention.sql', /purge\.kind NOT IN \(([^)]*)\)/), [...domainWords('kind'), 'result', 'stored']],
	'rows that are purged at once': () => [js('purge', 'BATCH_SIZE'), ...sqlDefaults('batch').filter((rows) => rows > 100),
		found('sql/functions/005_retention.sql', /x\.due_at LIMIT (\d+)/)],

	'bytes of a delivery': () => [constant('UM_DELIVERY_BODY_MAX'), constant('UM_FCGI_BODY_MAX'), conf(/client_max_body_size (\d+)m/) * KB * KB],
	'seconds after which a browser tries again': () => [Number(found('lib/http/response.h', /UM_RETRY_AFTER "(\d+)"/)),
		found('nginx/urlmode/http.conf', /"~\^\(429[^"]*" (\d+);/), found('nginx/urlmode/http.conf', /busy (\d+);/)],
	'bytes of a file of public keys': () => [constant('UM_JWKS_FILE_MAX'), found('nginx/command/jwks.sh', /--max-filesize (\d+)/)],
	'seconds between two fetches of public keys': () => [constant('UM_ISSUER_KEYS_PAUSE_S'), found('nginx/command/jwks.sh', /keys_pause=(\d+)/)],
};

/** The same of the Python package: its value, and that of the Node package. */
const FORM_SCHEMA = JSON.parse(readFileSync(new URL('../../lib/contract/form.schema.json', import.meta.url), 'utf8'));
/** Kinds whose page is the programs' own. */
const FORMS = new Set(['input', 'approval']);

const SAME_IN_PYTHON = {
	'bytes of a secret': () => [[py('keys', /_SECRET_MIN = (\d+)/), py('keys', /_SECRET_MAX = (\d+)/)], [js('keys', 'SECRET_MIN'), js('keys', 'SECRET_MAX')]],
	'bytes of a nonce': () => [py('aead', /_NONCE_BYTES = (\d+)/), js('aead', 'NONCE_BYTES')],
	'bytes of a sealed result, and of what a call returned': () => [[py('seal', /RESULT_MAX = ([\d_]+) - OVERHEAD/), py('seal', /FULFILLED_MAX = ([\d_]+) - OVERHEAD/)],
		[domainMax('result'), domainMax('fulfilled')]],
	'bytes of the sealed tokens of an account': () => [py('sealed_tokens', /_SEALED_MAX = ([\d_]+)/), js('vault/sealed-tokens', 'SEALED_MAX')],
	'bytes of the id of an account': () => [found('lib/python/src/urlmode/vault.py', /"account", account, 1, (\d+)/), domainMax('account_id')],
	'the times of a refresh': () => [
		[py('refresher', /LEASE_MS = ([\d_]+)/), 1_000 * py('refresher', /_LATE_S = ([\d.]+)/), 1_000 * py('retried', /COMMIT_S = ([\d.]+)/),
			1_000 * py('http', /_TIMEOUT_S = ([\d.]+)/)],
		[js('vault/refresher', 'LEASE_MS'), js('vault/refresher', 'LATE_MS'), js('vault/retried', 'COMMIT_MS'), 1_000 * js('accounts/configuration', 'REQUEST_TIMEOUT_S')]],
	'the longest exchange of a code': () => [1_000 * py('use_account', /_EXCHANGE_S = ([\d.]+)/), js('adapters/use-account', 'EXCHANGE_MS')],
	'the cookie of the ticket': () => [py('token', /TICKET_COOKIE = "(.*)"/), found('lib/node/src/ticket.js', /TICKET_COOKIE = '(.*)'/)],
	'characters of the name of a provider': () => [1 + py('input', /_PROVIDER = .*\{0,(\d+)\}/), domainMax('provider')],
	'characters of a reason': () => [py('input', /_REASON = .*\{0,(\d+)\}/), domainMax('reason')],
	'bytes of a reference': () => [py('input', /_REFERENCE_MAX = (\d+)/), domainMax('reference')],
	'bytes of a target URL': () => [py('input', /_TARGET_MAX = (\d+)/), domainMax('target_url')],
	'bytes of an owner': () => [[py('input', /check_text\("subject", .*, 1, (\d+)\)/), py('input', /check_text\("session", .*, 0, (\d+)\)/)],
		[domainMax('subject'), domainMax('session')]],
	'bytes of a resume key, and of the id of a client': () => [[py('create_options', /"resume_key", resume_key, 1, (\d+)/), py('create_options', /"client_id", client_id, 1, (\d+)/)],
		[domainMax('resume_key'), domainMax('client_id')]],
	'the kinds': () => [words('lib/python/src/urlmode/_types.py', /^Kind = Literal\[(.*)\]/m), domainWords('kind')],
	'the kinds with a target': () => [words('lib/python/src/urlmode/_input.py', /^TARGET_KINDS.* = \((.*)\)/m), domainWords('kind').filter((kind) => !FORMS.has(kind))],
	'those who decide': () => [py('form', /^_APPROVERS_MAX = (\d+)/m), js('form/form', 'APPROVERS_MAX')],
	'the actions': () => [words('lib/python/src/urlmode/_input.py', /^ACTIONS.* = \((.*)\)/m), domainWords('action')],
	'the statuses': () => [[...words('lib/python/src/urlmode/_wait.py', /_STATUSES.* = \((.*)\)/), 'completed'], domainWords('status')],
	'what an adapter waits for, and remembers': () => [
		[1_000 * py('clients', /^ROUND_S = ([\d.]+)/m), py('clients', /_ROUNDS_MAX = (\d+)/), 1_000 * py('asking', /_RESPONSE_S = ([\d.]+)/), py('notifications', /_NOTICES_MAX = (\d+)/)],
		[js('adapters/clients', 'ROUND_MS'), js('adapters/clients', 'ROUNDS_MAX'), js('adapters/ask-by-request', 'RESPONSE_MS'), js('adapters/notifications', 'NOTICES_MAX')]],
	'the channel of announcements': () => [py('database', /CHANNEL = "(\w+)"/), found('lib/node/src/database.js', /CHANNEL = '(\w+)'/)],
	'the codes of the errors': () => [[...inFiles('lib/python/src/urlmode', /_errors\.py$/, /code = "(\w+)"/g)].sort().filter((code) => code !== 'STATE_INVALID'),
		[...new Set(inFiles('lib/node/src', /^errors\.js$/, /super\('(\w+)'/g))].sort()],
};

for (const [what, places] of Object.entries(SAME_IN_PYTHON)) SAME[`${what}, in Python`] = places;

const go = (file, pattern) => found(`lib/go/${file}.go`, pattern);
const goNumber = (file, name) => Number(go(file, new RegExp(`^\\s+${name}\\s+= ([\\d_]+)`, 'm')).toString().replaceAll('_', ''));
/** The values of the constants of a type, and of its list. */
const goWords = (type) => go('types', new RegExp(`((?:^\\s+\\w+\\s+${type}\\s+= "\\w+"\\n)+)`, 'm')).match(/(?<=")\w+(?=")/g);

/** The same of the Go package. */
const SAME_IN_GO = {
	'bytes of a secret': () => [[goNumber('keys', 'secretMin'), goNumber('keys', 'secretMax')], [js('keys', 'SECRET_MIN'), js('keys', 'SECRET_MAX')]],
	'bytes of a nonce': () => [goNumber('envelope', 'nonceBytes'), js('aead', 'NONCE_BYTES')],
	'bytes of a sealed result, and of what a call returned': () => [
		['resultMax', 'fulfilledMax'].map((name) => Number(go('seal', new RegExp(`${name}\\s+= ([\\d_]+) - overhead`)).toString().replaceAll('_', ''))),
		[domainMax('result'), domainMax('fulfilled')]],
	'the cookie of the ticket': () => [go('token', /ticketCookie\s+= "(.*)"/), found('lib/node/src/ticket.js', /TICKET_COOKIE = '(.*)'/)],
	'characters of the name of a provider': () => [1 + go('check', /providerForm\s+= .*\{0,(\d+)\}/), domainMax('provider')],
	'characters of a reason': () => [go('check', /reasonForm\s+= .*\{0,(\d+)\}/), domainMax('reason')],
	'bytes of what is stored': () => [['referenceMax', 'targetMax', 'subjectMax', 'sessionMax', 'resumeKeyMax', 'clientIDMax', 'nameMax'].map((name) => goNumber('check', name)),
		['reference', 'target_url', 'subject', 'session', 'resume_key', 'client_id', 'requester'].map(domainMax)],
	'the kinds': () => [goWords('Kind'), domainWords('kind').filter((kind) => !FORMS.has(kind))],
	'the actions': () => [goWords('Action'), domainWords('action')],
	'the statuses': () => [goWords('Status'), domainWords('status')],
	'the channel of announcements': () => [go('database', /channel = "(\w+)"/), found('lib/node/src/database.js', /CHANNEL = '(\w+)'/)],
	'what an adapter waits for': () => [
		[1_000 * go('adapter/clients', /roundDefault = (\d+) \* time.Second/), Number(go('retry', /RoundsMax = (\d+)/)), 1_000 * go('adapter/request', /afterCompletion = (\d+) \* time.Second/)],
		[js('adapters/clients', 'ROUND_MS'), js('adapters/clients', 'ROUNDS_MAX'), js('adapters/ask-by-request', 'RESPONSE_MS')]],
	'the codes of the errors': () => [[...inFiles('lib/go', /^errors\.go$/, /Code = "(\w+)"/g)].filter((code) => code !== 'ARGUMENT').sort(),
		[...new Set(inFiles('lib/node/src', /^errors\.js$/, /super\('(\w+)'/g))].sort()],
	'the tokens of an account': () => [[goNumber('vault/sealed', 'sealedMax'), go('vault/sealed', /use = "(.*)"/)],
		[js('vault/sealed-tokens', 'SEALED_MAX'), found('lib/python/src/urlmode/_sealed_tokens.py', /_USE = "(.*)"/)]],
	'the times of the vault': () => [
		[60_000 * go('vault/refresher', /lease = (?:1 \* )?time\.(Minute)/).replace('Minute', 1), 1_000 * go('vault/refresher', /lateAfter = (\d+) \* time\.Second/),
			60_000 * go('vault/database', /commitTimeout = (\d+) \* time\.Minute/), 1_000 * go('vault/request', /requestTimeout = (\d+) \* time\.Second/),
			1_000 * go('vault/connect', /exchangeTimeout = (\d+) \* time\.Second/)],
		[js('vault/refresher', 'LEASE_MS'), js('vault/refresher', 'LATE_MS'), js('vault/retried', 'COMMIT_MS'),
			1_000 * js('accounts/configuration', 'REQUEST_TIMEOUT_S'), js('adapters/use-account', 'EXCHANGE_MS')]],
};

for (const [what, places] of Object.entries(SAME_IN_GO)) SAME[`${what}, in Go`] = places;

for (const [what, places] of Object.entries(SAME)) {
	test(`in every language the same: ${what}`, () => {
		const [first, ...others] = places();
		assert.ok(others.length > 0);
		for (const other of others) assert.deepEqual(other, first);
	});
}

/** What must fit: the smaller number, and the one that it must not exceed. */
const FITS = {
	'a reference of an event fits into the database': () => [constant('UM_REFERENCE_MAX'), domainMax('reference')],
	'the identity of an event fits into the database': () => [constant('UM_EVENT_IDENTITY_MAX'), found('sql/tables/008_event.sql', /octet_length\(identity\) BETWEEN 1 AND (\d+)/)],
	'the type of an event fits into the database': () => [constant('UM_EVENT_TYPE_MAX'), domainMax('event_type')],
	'an operation of a browser ends before nginx gives up': () => [constant('UM_STORE_WAIT_MS') / 1_000, found('nginx/urlmode/fastcgi.conf', /fastcgi_read_timeout (\d+)s/) - 1],
	'a header with a target URL fits into the buffer of nginx': () => [domainMax('target_url'), found('nginx/urlmode/fastcgi.conf', /fastcgi_buffer_size (\d+)k/) * KB],
	'what nginx takes of a header fits into FastCGI': () => [conf(/large_client_header_buffers 2 (\d+)k/) * 2 * KB + conf(/client_header_buffer_size (\d+)k/) * KB,
		constant('UM_FCGI_PARAMS_MAX')],
	'a form has room in the programs': () => [['UM_DEFINITION_MAX', 'UM_FORM_INPUTS_MAX', 'UM_FORM_FACTS_MAX', 'UM_FORM_VALUES_MAX'].map(constant),
		[FORM_SCHEMA.maxBytes, FORM_SCHEMA.$defs.input.properties.fields.maxItems, FORM_SCHEMA.$defs.facts.maxItems, FORM_SCHEMA.$defs.text.properties.max.maximum]],
	'a form that a program takes passes nginx': () => [constant('UM_BODY_MAX'), conf(/client_max_body_size (\d+)k/) * KB],
	'the requests of an exchange of a code end while others wait for it': () => [
		3 * 1_000 * js('accounts/configuration', 'REQUEST_TIMEOUT_S'), js('adapters/use-account', 'EXCHANGE_MS')],
	'nobody asks anew while others wait for the exchange of a code': () => [
		js('adapters/use-account', 'EXCHANGE_MS'), 1_000 * found('sql/functions/006_create.sql', /'exchanging' THEN .*interval '(\d+) seconds'/) - 1],
	'the database gives up before the package does': () => [found('sql/tables/001_schema.sql', /statement_timeout = ''(\d+)s''/) * 1_000, js('pool', 'QUERY_TIMEOUT_MS') - 1],
};

for (const [what, places] of Object.entries(FITS)) {
	test(what, () => {
		const [smaller, larger] = places();
		assert.ok(smaller <= larger, `${smaller} is more than ${larger}`);
	});
}

test('an adapter in Python says what those in Node say', () => {
	const literals = (file) => [...found(file, /^([^]*)$/).replaceAll(/(['"])\s*\+?\s*\1/g, '').matchAll(/^\s+"?\w+"?: (['"])(.{3,}?)\1,$/gm)].map(([, , text]) => text);
	const [python, node] = ['lib/python/src/urlmode/_messages.py', 'lib/node/src/adapters/messages.js'].map(literals);
	assert.ok(python.length > 20, python.join('\n'));
	assert.deepEqual(python.filter((text) => !node.includes(text)), []);
});

test('the comment of a domain names its limit', () => {
	for (const [name, { condition, comment }] of domains) {
		const limit = /octet_length\(VALUE(?:::text)?\) (?:<=|BETWEEN 1 AND) (\d+)/.exec(condition)?.[1];
		if (limit && name !== 'provider') assert.ok(comment.includes(` ${limit} `), `${name}: ${comment}`);
	}
});

test('the type Reason has each reason that a program, the database or the package writes', () => {
	const known = found('lib/node/src/types.js', /@typedef \{'' \| ('abandoned'[^]*?) \| \(string/).match(/\w+/g);
	const written = [
		...inFiles('cgi-bin', /\.c$/, /op\.reason = (?:ex->reason = )?"(\w+)"/g), ...inFiles('lib/webhook', /\.c$/, /"(payment_failed)"/g),
		...inFiles('sql', /^(?!.*vault).*\.sql$/, /\breason = '(\w+)'/g), ...inFiles('sql', /\.sql$/, /ARRAY\['cancel', '(\w+)'\]/g),
		...inFiles('lib/node/src', /(ask-by-\w+|urlmode|wait)\.js$/, /(?:reason(?: =|:|\s*\?\?) |\bend\()'(\w+)'/g),
	].filter((reason) => !['dismissed', 'asked'].includes(reason)); // those of a call, not of an elicitation
	assert.ok(new Set(written).size > 6, written.join());
	assert.deepEqual([...new Set(written)].filter((reason) => !known.includes(reason)), []);
});
