// SPDX-License-Identifier: MIT
// A constant that several languages know has the same value in each.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';

import { data } from '../../lib/contract/generate.mjs';
import { constant, constantOf, domainMax, domains, domainWords, found, inFiles, inPackage, multiply } from '../support/constants.mjs';

const KB = 1_024;

const ofSeals = (name) => data('seals').constants.find((each) => each.name === name).value;
const wordsOf = (name) => data('words').words.find((each) => each.name === name).words;
const limit = (name) => data('limits').limits.find((each) => each.name === name).value;

const js = (module, name) => constantOf(`lib/node/src/${module}.js`, name);
const words = (file, pattern) => found(file, pattern).match(/\w+/g);
const FORM_SCHEMA = JSON.parse(readFileSync(new URL('../../lib/contract/form.schema.json', import.meta.url), 'utf8'));
/** Bytes of a body, of any method, of wait, and of fulfil_claim, as a directive of nginx has them. */
const bodiesOfApi = (directive) => inFiles('nginx/urlmode', /^api\.conf$/, new RegExp(`${directive} (\\d+[km]);`, 'g')).map((size) => parseInt(size, 10) * (size.endsWith('m') ? KB * KB : KB));
const conf = (pattern) => found('nginx/urlmode/server.conf', pattern);

/** What a constant is, and its value in each place. */
const SAME = {
	'bytes that sealing adds, at least': () => [2 + ofSeals('nonce_bytes') + ofSeals('tag_bytes'),
		found('sql/tables/014_vault.sql', /DOMAIN urlmode\.tokens .*BETWEEN (\d+) AND/)],
	'bytes of a digest': () => [domainMax('digest'), ofSeals('digest_bytes')],
	'bytes of a UUID': () => [constant('UM_UUID_LEN'), js('core/token', 'ID_BYTES'), js('core/seal', 'ID_BYTES')],
	'characters of a state token': () => [constant('UM_TOKEN_LEN'), found('lib/node/src/core/handles.js', /pattern = .*?\{(\d+)\}/)],
	'characters of a link': () => [constant('UM_LINK_LEN'), Math.ceil((2 + constant('UM_UUID_LEN') + ofSeals('link_mac_bytes')) * 4 / 3)],

	'the kinds': () => [domainWords('kind'), wordsOf('Kind')],
	'the actions': () => [domainWords('action'), wordsOf('Action')],
	'the statuses': () => [domainWords('status'), wordsOf('Status'), [...wordsOf('OpenStatus'), 'completed']],
	'the kinds with a target': () => [wordsOf('Kind').filter((kind) => !wordsOf('FormKind').includes(kind)), wordsOf('TargetKind')],
	'the purposes of the programs': () => [inPackage(/\{([^}]*) \| 'retry'\} Purpose/g)[0][1].match(/\w+/g),
		found('lib/crypto/token.c', /names\[\]\[PURPOSE_MAX \+ 1\] = (\{[^}]*\})/).match(/"\w+"/g).map((name) => name.slice(1, -1))],

	'the channel of notifications': () => [...inFiles('sql', /(002_elicitation|007_callback)\.sql$/, /pg_notify\('(\w+)'/g),
		data('statements').statements.find(({ name }) => name === 'channel').text],
	'the channel of the answers of clients': () => [...inFiles('sql', /client_request\.sql$/, /pg_notify\('(\w+)'/g),
		found('lib/node/src/frameworks/client-requests.js', /CHANNEL = '(\w+)'/)],
	'the channel of published messages': () => [...inFiles('sql', /storage\.sql$/, /pg_notify\('(\w+)'/g), found('lib/node/src/frameworks/storage.js', /CHANNEL = '(\w+)'/)],

	'what is purged': () => [words('nginx/command/purge.sh', /^kinds='(.*)'$/m), words('nginx/command/completion.bash', /--kind\) words='(.*)'/),
		words('nginx/command/purge.sh', /--kind KIND +only (.*)/).filter((word) => word !== 'or'),
		words('sql/functions/005_retention.sql', /purge\.kind NOT IN \(([^)]*)\)/), wordsOf('PurgeKind'), [...wordsOf('Kind'), 'result', 'stored']],
	'bytes of a body of the api, which nginx keeps in memory': () => [['create', 'wait', 'fulfil_claim']
		.map((name) => multiply(found('cgi-bin/api.c', new RegExp(`"/v1/${name}",[^}]*\\.body_max = ([^,]*)`)), () => KB)),
	bodiesOfApi('client_max_body_size'), bodiesOfApi('client_body_buffer_size')],
	'seconds after which a browser tries again': () => [Number(found('lib/http/response.h', /UM_RETRY_AFTER "(\d+)"/)),
		found('nginx/urlmode/http.conf', /"~\^\(429[^"]*" (\d+);/), found('nginx/urlmode/http.conf', /busy (\d+);/)],
	'bytes of a file of public keys': () => [constant('UM_JWKS_FILE_MAX'), found('nginx/command/jwks.sh', /--max-filesize (\d+)/)],
	'seconds between two fetches of public keys': () => [constant('UM_ISSUER_KEYS_PAUSE_S'), found('nginx/command/jwks.sh', /keys_pause=(\d+)/)],
};

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
	'a call of wait ends before nginx gives up': () => [constant('UM_WAIT_FOR_MAX_MS') / 1_000, found('nginx/urlmode/api.conf', /fastcgi_read_timeout (\d+)s/) - 10],
	'as many calls wait in the program as its connections leave room for': () => [constant('UM_API_WAITS_MAX') + 256, constant('UM_CONNECTIONS_MAX')],
	'a header with a target URL fits into the buffer of nginx': () => [domainMax('target_url'), found('nginx/urlmode/fastcgi.conf', /fastcgi_buffer_size (\d+)k/) * KB],
	'what nginx takes of a header fits into FastCGI': () => [conf(/large_client_header_buffers 2 (\d+)k/) * 2 * KB + conf(/client_header_buffer_size (\d+)k/) * KB,
		constant('UM_FCGI_PARAMS_MAX')],
	'a form has room in the programs': () => [['UM_DEFINITION_MAX', 'UM_FORM_INPUTS_MAX', 'UM_FORM_FACTS_MAX', 'UM_FORM_VALUES_MAX'].map(constant),
		[FORM_SCHEMA.maxBytes, FORM_SCHEMA.$defs.input.properties.fields.maxItems, FORM_SCHEMA.$defs.facts.maxItems, FORM_SCHEMA.$defs.text.properties.max.maximum]],
	'a form that a program takes passes nginx': () => [constant('UM_BODY_MAX'), conf(/client_max_body_size (\d+)k/) * KB],
	'the requests of an exchange of a code end while others wait for it': () => [
		3 * limit('account_request_ms'), limit('exchange_ms')],
	'a refresh ends before its lease': () => [limit('account_request_ms'), limit('refresh_lease_ms') - limit('refresh_late_ms')],
	'nobody asks anew while others wait for the exchange of a code': () => [
		limit('exchange_ms'), 1_000 * found('sql/functions/006_create.sql', /'exchanging' THEN .*interval '(\d+) seconds'/) - 1],
	'the database gives up before the package does': () => [found('sql/tables/001_schema.sql', /statement_timeout = ''(\d+)s''/) * 1_000, limit('query_ms') - 1],
};

for (const [what, places] of Object.entries(FITS)) {
	test(what, () => {
		const [smaller, larger] = places();
		assert.ok(smaller <= larger, `${smaller} is more than ${larger}`);
	});
}

test('the comment of a domain names its limit', () => {
	for (const [name, { condition, comment }] of domains) {
		const limit = /octet_length\(VALUE(?:::text)?\) (?:<=|BETWEEN 1 AND) (\d+)/.exec(condition)?.[1];
		if (limit && name !== 'provider') assert.ok(comment.includes(` ${limit} `), `${name}: ${comment}`);
	}
});

test('the contract has each reason that a program, the database or the package writes', () => {
	const known = data('codes').reasons.flatMap((row) => row.reasons);
	const written = [
		...inFiles('cgi-bin', /\.c$/, /op\.reason = (?:ex->reason = )?"(\w+)"/g), ...inFiles('lib/webhook', /\.c$/, /"(payment_failed)"/g),
		...inFiles('sql', /^(?!.*vault).*\.sql$/, /\breason = '(\w+)'/g), ...inFiles('sql', /\.sql$/, /ARRAY\['cancel', '(\w+)'\]/g),
		...inFiles('lib/node/src', /(ask-by-\w+|urlmode|wait)\.js$/, /(?:reason(?: =|:|\s*\?\?) |\bend\()'(\w+)'/g),
	].filter((reason) => reason !== 'asked'); // of a call, not of an elicitation
	assert.ok(new Set(written).size > 6, written.join());
	assert.deepEqual([...new Set(written)].filter((reason) => !known.includes(reason)), []);
});
