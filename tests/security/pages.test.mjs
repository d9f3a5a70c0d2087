// Text from outside on a page: the requester, the subject and the provider's name are escaped
// and readable. Text of a provider's error or of a request is on no page.

import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { after, before, describe, test } from 'node:test';

import { parse } from 'parse5';

import { comeBack } from '../support/flow.mjs';
import { request } from '../support/http.mjs';
import { assertSecurityHeaders } from '../support/pages.mjs';
import { openFixture } from '../support/fixture.mjs';
import { configure } from './deployment.mjs';

const XSS = [
	'<script>alert(1)</script>', '</title><script>alert(1)</script>', '</style><script>alert(1)</script>', '"><img src=x onerror=alert(1)>',
	'\'><svg onload=alert(1)>', '</dd></dl></main><h1>Sign in again</h1>', '<base href=//evil.example>', '<meta http-equiv=refresh content=0;url=//evil.example>',
	'<form action=//evil.example><button>Continue</button></form>', '" autofocus onfocus=alert(1) x="', '\' onclick=alert(1) x=\'', '<!--', '-->', '<![CDATA[',
	'&lt;script&gt;', '&#60;script&#62;', '&amp;lt;', '&', '&quot;', '<', '>', '<a href="javascript:alert(1)">x</a>', '<iframe srcdoc="<script>1</script>">',
	'<plaintext>', '<textarea>', '</form><form action=//evil.example>', '<input name=answer value=refuse>', '{{7*7}}', '${7*7}', '%s%n%x', '\\u003cscript\\u003e',
	'+ADw-script+AD4-', '\u2028\u2029', '\ufeff', '\u00a0', 'Zoë Ångström & Söhne 🙂', 'עברית', 'العربية', '\t\n\r line', '\x01\x1f\x7f', '\ufffd',
];
/** Those that would turn the words around them, and become U+FFFD. */
const BIDI = ['\u202a', '\u202b', '\u202c', '\u202d', '\u202e', '\u2066', '\u2067', '\u2068', '\u2069'];

let fixture;
let shape; // the elements of a confirm page

before(async () => {
	fixture = await openFixture({ name: 'pages', own: true });
	await configure(fixture.stack, (config) => {
		XSS.forEach((text, index) => {
			config.providers[`xss${index}`] = { kind: 'oauth', display_name: text };
		});
		config.providers.bidi = { kind: 'oauth', display_name: `${BIDI.join('a')}elpmaxe` };
	});
	const { url } = await fixture.create();
	shape = shapeOf((await request(url)).body);
});

after(() => fixture?.close());

/** Every element with its attributes' names, in document order. */
function shapeOf(html) {
	const found = [];
	(function walk(node) {
		if (node.tagName) {
			found.push(`${node.tagName} ${node.attrs.map(({ name }) => name).join(' ')}`);
		}
		node.childNodes?.forEach(walk);
	})(parse(html));
	return found;
}

const folded = (text) => text.replace(/\s+/g, ' ').trim();
/** What HTML's parser makes of characters that it does not take. */
const asParsed = (text) => text.replaceAll('\r\n', '\n').replaceAll('\r', '\n');

/** The confirm page says each once. */
function assertShows(page, { requester, subject, provider }) {
	// The one who asks, where it leads, and who acts: each once.
	const shown = page.document.find('bdi').map(({ text }) => text);
	assert.deepEqual(shown, [requester, provider, subject].map((text) => folded(asParsed(text))));
}

describe('on the confirm page', () => {
	for (const [index, text] of XSS.entries()) {
		test(`${JSON.stringify(text)} is shown, and is no markup`, async () => {
			const urlmode = fixture.openUrlMode({ name: text });
			const owner = { subject: text };
			const { url } = await urlmode.create({ provider: `xss${index}`, kind: 'oauth', ...owner, targetUrl: 'https://provider.example/' });
			const page = await request(url);

			assert.equal(page.status, 200);
			assertSecurityHeaders(page);
			assert.deepEqual(shapeOf(page.body), shape, 'the elements are those of every confirm page');
			assertShows(page, { requester: text, subject: text, provider: text });
			assert.equal(page.document.forms[0].action, `/connect/xss${index}`);
		});
	}

	test('what would turn the words around it is shown as a replacement', async () => {
		const text = `${BIDI.join('a')}elpmaxe`;
		const urlmode = fixture.openUrlMode({ name: text });
		const { url } = await urlmode.create({ provider: 'bidi', kind: 'oauth', subject: text, targetUrl: 'https://provider.example/' });
		const page = await request(url);
		const shown = text.replaceAll(/[\u202a-\u202e\u2066-\u2069]/g, '\ufffd');

		assertShows(page, { requester: shown, subject: shown, provider: shown });
		assert.doesNotMatch(page.body, /[\u202a-\u202e\u2066-\u2069]/);
	});

	test('names are cut where they are made: the requester at 200 bytes, the subject at 512', async () => {
		assert.throws(() => fixture.openUrlMode({ name: 'n'.repeat(201) }), /name/);
		await assert.rejects(fixture.create({ subject: 's'.repeat(513) }), /subject/);
		const urlmode = fixture.openUrlMode({ name: 'n'.repeat(200) });
		const { url } = await urlmode.create({ provider: 'demo', kind: 'oauth', subject: 's'.repeat(512), targetUrl: 'https://provider.example/' });
		assertShows(await request(url), { requester: 'n'.repeat(200), subject: 's'.repeat(512), provider: 'Demo Account' });
	});
});

describe('what the provider said of an error', () => {
	for (const text of XSS.filter((_, index) => index % 4 === 0)) {
		test(`${JSON.stringify(text)} is on no page`, async () => {
			const browser = fixture.browser();
			const flow = await fixture.goOn(browser);
			const said = `said-${text}`;
			await comeBack(browser, flow.returnTo({ error: 'server_error', error_description: said, error_uri: `https://evil.example/${said}` }));
			const done = await browser.open(fixture.url('/done'));
			const again = await comeBack(browser, flow.returnTo({ error: 'server_error', error_description: said }));

			for (const { body } of [done, again]) {
				assert.ok(!body.includes('said-') && !body.includes('evil.example'));
			}
			assert.match(done.text, /The provider reported an error/);
		});
	}

	test('the error’s code is on no page', async () => {
		const browser = fixture.browser();
		const flow = await fixture.goOn(browser);
		await comeBack(browser, flow.returnTo({ error: 'an_error_of_its_own' }));
		assert.ok(!(await browser.open(fixture.url('/done'))).body.includes('an_error_of_its_own'));
	});
});

describe('the policy', () => {
	const hashOf = (text) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
	const policyOf = ({ headers }) => Object.fromEntries(headers['content-security-policy'].split('; ')
		.map((directive) => [directive.split(' ')[0], directive.split(' ').slice(1)]));

	/** Pages of every sort. */
	async function* pages() {
		const { url } = await fixture.create();
		yield request(url);
		yield request(fixture.url('/done'));
		yield request(fixture.url('/connect/demo?state=x'));
		yield request(fixture.url('/connect/nobody?state=x'));
		yield request(fixture.url('/no/such/page'));
		yield request(fixture.url(`/done?${'x'.repeat(20_000)}`));
	}

	test('default-src is none, and what a page has of its own is allowed by its hash alone', async () => {
		for await (const page of pages()) {
			const policy = policyOf(page);
			const styles = [...page.body.matchAll(/<style>([\s\S]*?)<\/style>/g)].map(([, text]) => hashOf(text));
			const scripts = [...page.body.matchAll(/<script>([\s\S]*?)<\/script>/g)].map(([, text]) => hashOf(text));

			assert.deepEqual(policy['default-src'], ["'none'"]);
			assert.deepEqual(policy['style-src'] ?? [], styles);
			assert.deepEqual(policy['script-src'] ?? [], scripts);
			assert.deepEqual(policy['frame-ancestors'], ["'none'"]);
			assert.deepEqual(policy['base-uri'], ["'none'"]);
		}
	});

	test('no page has anything of anybody else’s, no inline style and no handler', async () => {
		for await (const page of pages()) {
			assert.doesNotMatch(page.body, /\bsrc=|\bhref=|url\(|@import|\bstyle=|\son\w+=|https?:\/\//i);
		}
	});
});
