// SPDX-License-Identifier: MIT
// The texts of the pages: every language has every text of the English file, with the same
// placeholders, and no text contains markup or breaks its place in a file; nginx's own pages
// are those that the programs make.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync, readdirSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const PAGES = path.join(ROOT, 'lib/pages');
const LANGUAGES = ['ar', 'de', 'en', 'es', 'fr', 'it', 'ja', 'ko', 'pt', 'zh'];

const read = (language) => readFileSync(path.join(PAGES, `${language}.json`), 'utf8');
const english = JSON.parse(read('en'));
const placeholders = (text) => text.match(/\{\w+\}/g)?.sort() ?? [];

test('there are ten languages', () => {
	assert.deepEqual(readdirSync(PAGES).filter((name) => name.endsWith('.json')).sort(), LANGUAGES.map((name) => `${name}.json`));
});

for (const language of LANGUAGES) {
	test(`${language} has every text, in the order of the English ones, a line each`, () => {
		const source = read(language);
		const texts = JSON.parse(source);

		assert.deepEqual(Object.keys(texts), Object.keys(english));
		const lines = Object.entries(texts).map(([name, text]) => `\t${JSON.stringify(name)}: ${JSON.stringify(text)}`);
		assert.equal(source.replaceAll(/\n\n/g, '\n'), `{\n${lines.join(',\n')}\n}\n`);
	});

	test(`${language}: the placeholders are those of the English text, and nothing is markup`, () => {
		for (const [name, text] of Object.entries(JSON.parse(read(language)))) {
			assert.deepEqual(placeholders(text), placeholders(english[name]), name);
			assert.doesNotMatch(text, /[<>&"\\$\u0000-\u001f\u202a-\u202e\u2066-\u2069]/, name);
			assert.doesNotMatch(text.replaceAll(/\{\w+\}/g, ''), /[{}]/, name);
			assert.ok(text === text.trim() || name === 'group', name);
			assert.equal(text, text.normalize('NFC'), name);
		}
	});

	test(`${language}: the attributes, and numbers as the Unicode CLDR has them`, () => {
		const { lang, dir, decimal, group, group_from: groupFrom, amount } = JSON.parse(read(language));
		const locale = new Intl.Locale(lang);
		const parts = new Intl.NumberFormat(lang, { style: 'currency', currency: 'EUR', currencyDisplay: 'code' }).formatToParts(1_234_567.5);
		const part = (type) => parts.find((candidate) => candidate.type === type).value;
		const formatted = parts.map(({ value }) => value).join('').replace('\u200f', '');

		assert.equal(locale.language, language);
		assert.equal(dir, language === 'ar' ? 'rtl' : 'ltr');
		assert.deepEqual([decimal, group], [part('decimal'), part('group')]);
		assert.equal(groupFrom, new Intl.NumberFormat(lang).format(1_234).includes(group) ? '4' : '5');
		const number = `1${group}234${group}567${decimal}50`;
		assert.equal(amount.replace('{number}', number).replace('{currency}', 'EUR'), formatted);
	});

	test(`${language} is translated`, () => {
		if (language === 'en') return;
		const same = Object.entries(JSON.parse(read(language))).filter(([name, text]) => text === english[name] && text.length > 14 && name !== 'amount');
		assert.deepEqual(same, []);
	});
}

/** What `urlmode pages` prints with these pages in the configuration. */
async function nginxPages(pages) {
	const folder = await mkdtemp(path.join(tmpdir(), 'urlmode-pages-'));
	try {
		const key = Buffer.alloc(32, 1).toString('base64');
		await writeFile(path.join(folder, 'keys'), `1 ${key}\n`, { mode: 0o600 });
		await writeFile(path.join(folder, 'config.json'), JSON.stringify({
			base_url: 'https://mcp.example.com', keys_file: 'keys', database_url: 'postgresql://urlmode_cgi@db/urlmode',
			providers: { demo: { kind: 'oauth' } }, pages,
		}), { mode: 0o600 });
		return execFileSync(path.resolve(ROOT, process.env.PROGRAM_DIR ?? 'build/bin', '../libexec/operate'), ['pages'], {
			env: { ...process.env, URLMODE_CONFIG: path.join(folder, 'config.json') }, encoding: 'utf8',
		});
	} finally {
		await rm(folder, { recursive: true });
	}
}

test('nginx/urlmode/pages.conf is what the programs make', async () => {
	assert.equal(readFileSync(path.join(ROOT, 'nginx/urlmode/pages.conf'), 'utf8'), await nginxPages(),
		'nginx/command/urlmode pages >nginx/urlmode/pages.conf writes it');
});

test('a name cannot end its place in nginx\'s configuration, nor name one of its variables', async () => {
	const conf = await nginxPages({ name: 'It\'s $request_id \\\'; }', accent: '#0a7d4f', accent_dark: '#7ddb9d' });

	assert.ok(conf.includes(' – It&#39;s &#36;request_id \\\\&#39;; }</title>'), conf.slice(-4_000));
	assert.ok(conf.includes('--accent:#0a7d4f'));
	assert.match(conf, /style-src \\'sha256-[^']+' \\'sha256-[^']+'/);
	for (const [, parameter] of conf.matchAll(/^\t\w+ ('[^]*?');$/gm)) {
		assert.ok(Buffer.byteLength(parameter) < 4_096, 'nginx takes no longer parameter');
	}
});
