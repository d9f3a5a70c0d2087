// SPDX-License-Identifier: MIT
// The limits, times and defaults in the documents are those of the code.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { data } from '../../lib/contract/generate.mjs';
import { constantOf, domainMax, found } from '../support/constants.mjs';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const DAY = 24 * 60 * 60_000;

const read = (file) => readFileSync(path.join(ROOT, file), 'utf8');

/** A document on one line, so that a sentence is found wherever it is broken. */
const sentences = (file) => read(file).replaceAll(/\s+/g, ' ');

const c = (module, ...names) => names.map((name) => constantOf(`lib/${module}.h`, name));
const limit = (name) => data('limits').limits.find((each) => each.name === name).value;
const KB = 1_024;
const ROOM = [constantOf('lib/server/connections.h', 'UM_CONNECTIONS_SMALL') / KB, Number(found('lib/server/connections.h', /UM_CONNECTIONS_ROOM \(\(size_t\)(\d+) \* 1024 \* 1024\)/))];

const ENTITLEMENTS = [found('sql/functions/032_entitlement.sql', /max_entitlements\(\) RETURNS integer[^]*?SELECT (\d+)/)];

/** Document: a sentence with numbers in it, and what they are in the code, in the unit of the sentence. */
const LIMITS = {
	'lib/PROTOCOL.md': [
		[/At most (\S+) items of a user/, ENTITLEMENTS],
		[/link \| base64url without padding, (\d+) characters/, c('crypto/link', 'UM_LINK_LEN')],
		[/state token \| base64url without padding, (\d+) characters/, c('crypto/token', 'UM_TOKEN_LEN')],
		[/session ticket \| base64url without padding; subject of 1 to (\d+) bytes/, c('contract/limits', 'UM_SUBJECT_MAX')],
		[/base64url without padding; (\S+) bytes without the envelope; name of at most (\d+) bytes/,
			[...c('crypto/sealed_text', 'UM_SEALED_TEXT_MAX'), ...c('jose/id_token', 'UM_ID_TOKEN_NAME_MAX')]],
		[/result \| bytes; (\S+) with the envelope/, c('contract/limits', 'UM_RESULT_MAX')],
		[/base64 in a notification; (\S+) bytes with the envelope/, c('contract/limits', 'UM_NOTIFIED_MAX')],
		[/what a call returned \| bytes; (\S+) with the envelope/, [limit('fulfilled_max')]],
		[/verifier \| bytes; (\S+) with the envelope/, [domainMax('verifier')]],
		[/tokens of an account \| bytes; (\S+) with the envelope/, [domainMax('tokens')]],
		[/client response \| bytes; (\S+) with the envelope/, [domainMax('response')]],
		[/the secret is base64 or base64url, with or without padding, of (\d+) to (\d+) bytes/, c('contract/limits', 'UM_SECRET_MIN', 'UM_SECRET_MAX')],
		[/an owner has (\S+) open at most/, [found('sql/functions/002_elicitation.sql', /max_open\(\) RETURNS integer[^]*?SELECT (\d+)/)]],
		[/A query has at most (\S+) bytes, a form (\S+), a webhook's body (\S+); a form or query at most (\S+) parameters with names of (\S+) and values of (\S+) bytes/,
			[...c('http/request', 'UM_QUERY_MAX', 'UM_BODY_MAX'), limit('delivery_max'),
				...c('http/form', 'UM_FORM_FIELDS_MAX', 'UM_FORM_NAME_MAX', 'UM_FORM_VALUE_MAX')]],
		[/up to (\S+) with one `read`/, [limit('read_batch_max')]],
		[/If none has arrived after (\d+) seconds/, [limit('probe_ms') / 1_000]],
		[/reads all rows after (\d+) ms, and each interval is (\S+) times the last one, up to (\d+) seconds\./,
			[limit('poll_min_ms'), limit('poll_growth'), limit('poll_max_ms') / 1_000]],
		[/reads all rows every (\d+) seconds/, [limit('routine_ms') / 1_000]],
		[/must come within (\d+) seconds/, [limit('listen_query_ms') / 1_000]],
		[/connects again after (\d+) ms, and after twice as long each time, up to (\d+) seconds, or to (\d+) ms if the URL/,
			[limit('backoff_min_ms'), limit('backoff_max_ms') / 1_000, limit('backoff_of_several_max_ms')]],
		[/a result over (\S+) bytes sealed/, c('contract/limits', 'UM_RESULT_MAX')],
		[/`unavailable` after (\d+) seconds/, [c('postgres/store', 'UM_STORE_WAIT_MS')[0] / 1_000]],
		[/bodies over (\d+) KB that a program is receiving, or whose answer waits for PostgreSQL, have (\d+) MB together/, ROOM],
		[/PostgreSQL did not answer within (\d+) seconds/, [c('postgres/store', 'UM_STORE_WAIT_MS')[0] / 1_000]],
	],
	'lib/providers/README.md': [
		[/(\d+) schemes - (\d+) keys a scheme - (\d+) signatures \((\d+) for public keys\) and (\d+) parameters/,
			[...c('webhook/spec_part', 'UM_SCHEMES_MAX'),
				...c('webhook/verifier', 'UM_VERIFIER_KEYS_MAX', 'UM_SIGNATURES_MAX', 'UM_PUBLIC_SIGNATURES_MAX'),
				...c('webhook/expr', 'UM_PARAMS_MAX')]],
		[/parameters in a signature's header, or in each of its (\d+) lists/, c('webhook/scheme', 'UM_LISTS_MAX')],
		[/(\d+) events - (\d+) outcomes with (\d+) conditions each - pointers of (\d+) names and (\d+) characters - header names of (\d+)/,
			[...c('webhook/event', 'UM_EVENTS_MAX'), ...c('webhook/spec_part', 'UM_RULES_MAX'), ...c('webhook/condition', 'UM_CONDITIONS_MAX'),
				...c('core/pointer', 'UM_POINTER_TOKENS_MAX', 'UM_POINTER_MAX'), ...c('webhook/expr', 'UM_EXPR_HEADER_MAX')]],
		[/(\d+) fields of a query, form or multipart body, form values of (\d+) bytes - JSON (\d+) deep, with (\S+) values and names \((\S+), and (\d+) KB/,
			[...c('http/form', 'UM_FORM_FIELDS_MAX', 'UM_FORM_VALUE_MAX'), ...c('core/json', 'UM_JSON_DEPTH_MAX', 'UM_JSON_VALUES_MAX'),
				...c('webhook/parsed', 'UM_UNPROVEN_VALUES_MAX'), c('webhook/parsed', 'UM_UNPROVEN_JSON_MAX')[0] / KB]],
		[/a type of (\d+) characters - a reference of (\d+) \(a longer one is left out\) - an identity of (\d+)/,
			c('webhook/event', 'UM_EVENT_TYPE_MAX', 'UM_REFERENCE_MAX', 'UM_EVENT_IDENTITY_MAX')],
	],
	'lib/providers/VALUES.md': [
		[/has more than (\d+) bytes, the value is absent/, c('webhook/expr', 'UM_INSIDE_MAX')],
		[/with `field`; at most (\d+) lists/, c('webhook/scheme', 'UM_LISTS_MAX')],
		[/joined with this text\. At most (\d+)\./, c('webhook/expr', 'UM_PARAMS_MAX')],
	],
	'nginx/CONFIGURATION.md': [
		[/Its name is 1 to (\d+) of/, c('contract/limits', 'UM_PROVIDER_MAX')],
		[/`secrets` \| array of 1 to (\d+) strings/, [constantOf('lib/config/provider.c', 'SECRETS_MAX')]],
		[/`accounts` \| array of 1 to (\d+) strings/, [constantOf('lib/config/provider.c', 'ACCOUNTS_MAX')]],
		[/`grace` \| seconds, 1 to (\d+)/, c('contract/limits', 'UM_GRACE_MAX_S')],
		[/in its title\. At most (\d+) bytes/, [constantOf('lib/config/pages.c', 'NAME_MAX_LEN')]],
		[/The contrast with the page must be (\d+) or more/, [constantOf('lib/config/pages.c', 'CONTRAST_MIN')]],
		[/at most (\d+) since the file was made/, c('server/metrics_file', 'UM_METRICS_PROVIDERS_MAX')],
		[/has done nothing for (\d+) seconds, or none/, [c('server/metrics', 'UM_METRICS_SILENT_MS')[0] / 1_000]],
		[/lives and has done nothing for (\d+) seconds/, [c('server/metrics', 'UM_METRICS_SILENT_MS')[0] / 1_000]],
		[/(\S+) fill the queue of a process/, c('postgres/store', 'UM_STORE_QUEUE_MAX')],
	],
	'nginx/README.md': [
		[/A request line or header field has at most (\d+) KB, a body (\d+) KB\. An address may send (\d+) requests a second after a burst of (\d+)/,
			[found('nginx/urlmode/server.conf', /large_client_header_buffers \d+ (\d+)k/), found('nginx/urlmode/server.conf', /client_max_body_size (\d+)k/),
				found('nginx/urlmode/http.conf', /zone=urlmode:\w+ rate=(\d+)r/), found('nginx/urlmode/server.conf', /zone=urlmode burst=(\d+)/)]],
		[/A webhook has at most (\d+) MB; an address may send (\d+) a second after a burst of (\d+), and (\d+) at the same time/,
			[found('nginx/urlmode/server.conf', /client_max_body_size (\d+)m/), found('nginx/urlmode/http.conf', /zone=urlmode_webhook:\w+ rate=(\d+)r/),
				found('nginx/urlmode/server.conf', /zone=urlmode_webhook burst=(\d+)/), found('nginx/urlmode/server.conf', /limit_conn urlmode_webhook_open (\d+)/)]],
		[/bodies over (\d+) KB that a program holds have (\d+) MB together/, ROOM],
	],
	'nginx/others/README.md': [
		[/A posted form has at most (\d+) KB, one of `\/form\/NAME` (\d+) KB, a webhook (\d+) MB/,
			[c('http/request', 'UM_BODY_MAX')[0] / KB, Number(found('cgi-bin/form.c', /BODY_MAX (\d+)/)) / KB, limit('delivery_max') / KB / KB]],
		[/over (\d+) KB of parameters/, [c('server/fcgi_check', 'UM_FCGI_PARAMS_MAX')[0] / KB]],
	],
	'nginx/GROWING.md': [
		[/A program puts up to (\d+) requests into one commit/, c('postgres/queue', 'UM_BATCH_MAX')],
		[/every (\S+) to (\S+) seconds/, [limit('poll_min_ms') / 1_000, limit('poll_max_ms') / 1_000]],
	],
	'nginx/DATABASE.md': [
		[/waits up to (\d+) seconds, and then gets 503/, [c('postgres/store', 'UM_STORE_WAIT_MS')[0] / 1_000]],
		[/a program notices within (\d+) seconds of a request, or by TCP's keepalive, which begins after\s+(\d+) seconds/,
			[limit('commit_unanswered_ms') / 1_000, limit('keepalive_ms') / 1_000]],
		[/connection that listens within (\d+) seconds/, [(1.25 * limit('listen_check_ms') + limit('listen_query_ms')) / 1_000]],
		[/last answer came less than (\d+) ms ago/, [limit('alive_ms')]],
		[/transactions of (\S+) rows/, [found('sql/functions/005_retention.sql', /batch integer DEFAULT (\d+)/)]],
		[/ten minutes longer, or for (\d+) days without one/, [limit('keep_unclaimed_ms') / DAY]],
	],
	'lib/node/REFERENCE.md': [
		[/Without `item` it lists at most (\d+ \d+) items/, ENTITLEMENTS],
		[/intervals of (\S+) to (\S+) seconds\. The outcome/, [limit('poll_min_ms') / 1_000, limit('poll_max_ms') / 1_000]],
		[/has read it: (\d+ \d+) by default/, [limit('keep_results_ms')]],
		[/no call claims it, and that of a call whose answer was not written: (\d+) days by default/, [limit('keep_unclaimed_ms') / DAY]],
		[/purgeable\]\(#purgeoptions\): (\d+) days by default, (\d+) at least/, [limit('retention_ms') / DAY, limit('retention_min_ms') / DAY]],
		[/milliseconds until it expires, (\d+ \d+) by default/, [limit('ttl_ms')]],
		[/`timeout` \| milliseconds, (\d+ \d+) by default/, [limit('timeout_ms')]],
		[/`ttl` milliseconds \((\d+ \d+) by default/, [limit('ticket_ms')]],
		[/for `oauth` a `state`\. At most (\d+) bytes/, [limit('target_url_max')]],
		[/takes longer than (\d+) seconds has failed/, [limit('recheck_lease_ms') / 1_000]],
		[/again at intervals of (\S+) to (\S+) seconds/, [limit('backoff_min_ms') / 1_000, limit('backoff_max_ms') / 1_000]],
		[/About every (\d+) seconds it reads the rows/, [limit('routine_ms') / 1_000]],
		[/whose last answer is (\d+) milliseconds ago/, [limit('alive_ms')]],
		[/Without an answer for (\d+) seconds the call/, [limit('ping_ms') / 1_000]],
		[/`UrlModeUnavailableError`, (\d+) seconds after/, [limit('query_ms') / 1_000]],
		[/within (\d+) seconds: about every (\d+) seconds it sends an\s+empty statement on this connection, which PostgreSQL has to answer within (\d+) seconds/,
			[(1.25 * limit('listen_check_ms') + limit('listen_query_ms')) / 1_000, limit('listen_check_ms') / 1_000, limit('ping_ms') / 1_000]],
	],
	'lib/node/ADAPTERS.md': [
		[/`roundTimeout` \((\d+ \d+)\)/, [limit('round_ms')]],
		[/at most (\d+) times/, [limit('rounds_max')]],
		[/`progressEvery` \((\d+ \d+)\)/, [limit('heartbeat_ms')]],
		[/and every (\d+) seconds in between/, [limit('heartbeat_ms') / 1_000]],
	],
};

for (const [file, limits] of Object.entries(LIMITS)) {
	describe(file, () => {
		for (const [pattern, expected] of limits) {
			test(String(pattern), () => {
				const [, ...numbers] = pattern.exec(sentences(file)) ?? assert.fail(`${file} does not say so`);
				assert.deepEqual(numbers.map((number) => Number(number.replaceAll(/[ ,]/g, ''))), expected);
			});
		}
	});
}
