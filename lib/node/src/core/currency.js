// Prices: the currencies of ISO 4217.

import { EXPONENTS } from './contract-kinds.js';

/** @param {string} code */
export function isCurrency(code) {
	return EXPONENTS.has(code);
}

/**
 * How many decimals a currency has.
 *
 * @param {string} code of a currency
 */
export function exponentOf(code) {
	return /** @type {number} */ (EXPONENTS.get(code));
}

/**
 * @param {bigint} amount
 * @param {number} exponent
 */
export function asDecimal(amount, exponent) {
	const digits = String(amount).padStart(exponent + 1, '0');
	return exponent === 0 ? digits : `${digits.slice(0, -exponent)}.${digits.slice(-exponent)}`;
}

/**
 * The price in the text of a tool's result, as the pages show it.
 *
 * @param {import('./money-types.js').Price} price
 */
export function formatPrice({ amount, currency }) {
	return `${asDecimal(BigInt(amount), exponentOf(currency))} ${currency}`;
}
