// Prices: the currencies of ISO 4217, and the units in which a provider writes amounts.

import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';

import { shippedFile } from './shipped.js';

/**
 * @typedef {{ as: 'minor' | 'decimal', exponents?: Record<string, number>, places?: Record<string, number> }} Units `amount` of a
 *     description, see lib/providers/EVENTS.md
 */

/** @type {{ exponents: Record<string, string[]> }} */
const { exponents: CODES } = JSON.parse(readFileSync(shippedFile('currencies.json'), 'utf8'));

/** Currency → how many decimals it has. */
const EXPONENTS = new Map(Object.entries(CODES).flatMap(
	([exponent, codes]) => codes.map((code) => /** @type {const} */ ([code, Number(exponent)]))));

/** @type {Map<string, Promise<Units | undefined>>} by the name of the description */
const descriptions = new Map();

/** @param {string} code */
export function isCurrency(code) {
	return EXPONENTS.has(code);
}

/**
 * @param {string} provider
 * @returns {Promise<Units | undefined>} undefined: no description of this name is shipped, or it has no amounts
 */
function readUnits(provider) {
	const units = descriptions.get(provider) ?? readFile(shippedFile(`providers/${provider}.json`), 'utf8').then(
		(text) => JSON.parse(text).amount, () => undefined);
	descriptions.set(provider, units);
	return units;
}

/**
 * @param {bigint} amount
 * @param {number} exponent
 */
function asDecimal(amount, exponent) {
	const digits = String(amount).padStart(exponent + 1, '0');
	return exponent === 0 ? digits : `${digits.slice(0, -exponent)}.${digits.slice(-exponent)}`;
}

/**
 * The price in the text of a tool's result, as the pages show it.
 *
 * @param {import('./types.js').Price} price
 */
export function formatPrice({ amount, currency }) {
	return `${asDecimal(BigInt(amount), /** @type {number} */ (EXPONENTS.get(currency)))} ${currency}`;
}

/**
 * The price as the provider writes it: a whole number in its own units, or decimal text.
 *
 * @param {string} provider
 * @param {import('./types.js').Price} price
 * @returns {Promise<number | string | undefined>} undefined for a provider without a description
 * @throws {TypeError} no charge of the provider can have this amount
 */
export async function priceOf(provider, { amount, currency }) {
	const units = await readUnits(provider);
	if (units === undefined) return undefined;
	const exponent = /** @type {number} */ (EXPONENTS.get(currency));
	const own = units.exponents?.[currency] ?? exponent;
	const places = Math.min(units.places?.[currency] ?? own, exponent);
	const step = 10n ** BigInt(exponent - places);
	if (BigInt(amount) % step !== 0n) {
		throw new TypeError(`expected.amount must be a multiple of ${step}: ${provider} cannot charge a smaller part of ${currency}`);
	}
	const written = BigInt(amount) * 10n ** BigInt(own) / 10n ** BigInt(exponent);
	if (units.as === 'decimal') return asDecimal(written / step, places);
	if (written > BigInt(Number.MAX_SAFE_INTEGER)) throw new TypeError(`expected.amount is more than ${provider} can charge`);
	return Number(written);
}
