// The units in which a provider writes amounts.

import { readFile } from 'node:fs/promises';

import { TEXTS } from './contract-texts.js';
import { asDecimal, exponentOf } from './currency.js';
import { shippedFile } from './shipped.js';

/**
 * @typedef {{ as: 'minor' | 'decimal', exponents?: Record<string, number>, places?: Record<string, number> }} Units `amount` of a
 *     description, see lib/providers/EVENTS.md
 */

/** @type {Map<string, Promise<Units | undefined>>} by the name of the description */
const descriptions = new Map();

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
 * The price as the provider writes it: a whole number in its own units, or decimal text.
 *
 * @param {string} provider
 * @param {import('./money-types.js').Price} price
 * @returns {Promise<number | string | undefined>} undefined for a provider without a description
 * @throws {TypeError} no charge of the provider can have this amount
 */
export async function priceOf(provider, { amount, currency }) {
	const units = await readUnits(provider);
	if (units === undefined) return undefined;
	const exponent = exponentOf(currency);
	const own = units.exponents?.[currency] ?? exponent;
	const places = Math.min(units.places?.[currency] ?? own, exponent);
	const step = 10n ** BigInt(exponent - places);
	if (BigInt(amount) % step !== 0n) {
		throw new TypeError(TEXTS.amountStep(Number(step), provider, currency));
	}
	const written = BigInt(amount) * 10n ** BigInt(own) / 10n ** BigInt(exponent);
	if (units.as === 'decimal') return asDecimal(written / step, places);
	if (written > BigInt(Number.MAX_SAFE_INTEGER)) throw new TypeError(TEXTS.amountTooLarge(provider));
	return Number(written);
}
