import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import test from 'node:test';

import { formatPrice } from '../src/core/currency.js';
import { priceOf } from '../src/core/price.js';
import { UrlMode } from '../src/index.js';
import { payment, setUp } from './support/database.js';

const { cases } = JSON.parse(readFileSync(new URL('../../../tests/vectors/amounts.json', import.meta.url), 'utf8'));

test('amounts are those of the vectors', async () => {
	assert.ok(cases.length >= 40);
	for (const { provider, amount, currency, written, step, too_large: isTooLarge } of cases) {
		const price = priceOf(provider, { amount, currency });
		if (step) {
			await assert.rejects(price, {
				name: 'TypeError', message: `expected.amount must be a multiple of ${step}: ${provider} cannot charge a smaller part of ${currency}`,
			});
		} else if (isTooLarge) {
			await assert.rejects(price, { name: 'TypeError', message: `expected.amount is more than ${provider} can charge` });
		} else {
			assert.equal(await price, written ?? undefined, `${provider} ${amount} ${currency}`);
		}
	}
});

test('what a provider cannot charge is refused before anything is made', async (t) => {
	const { urlmode } = await setUp(t);
	for (const { provider, amount, currency, step } of cases.filter((each) => each.step)) {
		await assert.rejects(urlmode.create({ ...payment, provider, expected: { amount, currency } }), {
			name: 'TypeError', message: `expected.amount must be a multiple of ${step}: ${provider} cannot charge a smaller part of ${currency}`,
		});
	}
});

test('a provider whose name is not that of its description is given the price as well', async (t) => {
	const { urlmode, settings } = await setUp(t, { descriptions: { acme: 'stripe' } });
	const given = [];
	for (const provider of ['acme', 'other']) {
		await urlmode.create({ ...payment, provider, expected: { amount: 5, currency: 'ISK' }, targetUrl: ({ amount }) => (given.push(amount), 'https://a.example/') });
	}
	assert.deepEqual(given, [500, undefined]);
	await assert.rejects(urlmode.create({ ...payment, provider: 'acme', expected: { amount: 1, currency: 'MGA' } }), /multiple of 100: stripe/);
	for (const [descriptions, message] of [[{ acme: 'none' }, /descriptions\.acme/], ['stripe', /descriptions must be/], [{ 'A b': 'stripe' }, /provider/]]) {
		assert.throws(() => new UrlMode({ ...settings, descriptions }), (error) => error instanceof TypeError && message.test(error.message));
	}
});

test('the text of a result shows a price as ISO 4217 divides it, also where a locale has no such coins', () => {
	for (const [amount, currency, text] of [
		[1_050, 'EUR', '10.50 EUR'], [5, 'EUR', '0.05 EUR'], [5, 'ISK', '5 ISK'], [5_000_000, 'MGA', '50000.00 MGA'],
		[100_000, 'IQD', '100.000 IQD'], [Number.MAX_SAFE_INTEGER, 'USD', '90071992547409.91 USD'],
	]) assert.equal(formatPrice({ amount, currency }), text);
});

test('currencies that ISO 4217 does not have are refused, with the reason', async (t) => {
	const { urlmode } = await setUp(t);
	for (const currency of ['USDC', 'usdt', 'BTC', 'XYZ', 'EU', '']) {
		await assert.rejects(urlmode.create({ ...payment, expected: { amount: 5, currency } }), {
			name: 'TypeError', message: /^expected\.currency must be a currency of ISO 4217, such as EUR\. Others, such as USDC, have no minor unit/,
		});
	}
});

test('each exception of a description names a currency, differs from ISO 4217, and has a source', () => {
	const folder = new URL('../../providers/', import.meta.url);
	const { exponents } = JSON.parse(readFileSync(new URL('../currencies.json', folder), 'utf8'));
	const iso = new Map(Object.entries(exponents).flatMap(([exponent, codes]) => codes.map((code) => [code, Number(exponent)])));
	let seen = 0;

	for (const file of readdirSync(folder).filter((name) => name.endsWith('.json') && name !== 'schema.json')) {
		const { amount } = JSON.parse(readFileSync(new URL(file, folder), 'utf8'));
		for (const [currency, exponent] of Object.entries({ ...amount?.exponents, ...amount?.places })) {
			assert.ok(iso.has(currency) && iso.get(currency) !== exponent, `${file}: ${currency}`);
			assert.match(amount.source, /^https:/);
			seen += 1;
		}
	}
	assert.ok(seen > 10);
});
