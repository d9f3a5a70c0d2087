// Checks that hold for every page except those of the demo.

import assert from 'node:assert/strict';

const POLICY = ["default-src 'none'", "frame-ancestors 'none'", "base-uri 'none'"];

/** The heading of a browser's page. */
export const titleOf = (page) => page.find('h1')[0].text;

/** The headers that protect a page and the parameters of its request. */
export function assertSecurityHeaders({ headers }) {
	const policy = headers['content-security-policy'].split('; ');

	assert.equal(headers['cache-control'], 'no-store');
	assert.equal(headers['referrer-policy'], 'no-referrer');
	assert.equal(headers['x-content-type-options'], 'nosniff');
	assert.equal(headers['cross-origin-opener-policy'], 'same-origin');
	assert.equal(headers['cross-origin-resource-policy'], 'same-origin');
	assert.equal(headers.server, 'nginx', 'no version');
	for (const directive of POLICY) {
		assert.ok(policy.includes(directive), `${directive} is in ${policy}`);
	}
	for (const directive of policy) {
		assert.doesNotMatch(directive, /unsafe|https?:|data:|\*/);
	}
}

/**
 * A refusal: words, a request id, no script, no way to anything, no cookie,
 * and nothing of what was `sent`.
 */
export function assertPlainPage(answer, sent = []) {
	const { document, headers, body } = answer;
	const codes = document.find('code').map(({ text }) => text);

	assert.equal(headers['content-type'], 'text/html; charset=utf-8');
	assert.match(headers['x-request-id'], /^[0-9a-f]{32}$/);
	assert.equal(codes.at(-1), headers['x-request-id']);
	assert.ok(document.text.length > 40, 'words for a person');
	for (const tag of ['script', 'form', 'a', 'img', 'link', 'iframe']) {
		assert.deepEqual(document.find(tag), [], `no <${tag}>`);
	}
	assert.equal(headers['set-cookie'], undefined);
	assert.equal(headers.location, undefined);
	for (const value of sent.flatMap(valuesOf)) {
		assert.ok(!body.includes(value), `${value} is on the page`);
	}
}

/** The values of a form or cookie that are too long to occur by accident. */
function valuesOf(text = '') {
	return text.split(/[&;=]/).filter((value) => value.length > 8);
}
