// SPDX-License-Identifier: MIT
// Go can embed no file of another folder: what its package reads of ../providers and of the other files that all
// languages share, in files of its own.

/** Members for people, and for the callback programs. */
const NOT_USED = ['documentation', 'notes', 'lifetimes', 'reuse_source', 'authorization_response'];

const without = (object, names) => Object.fromEntries(Object.entries(object).filter(([name]) => !names.includes(name)));
const price = ({ as, exponents, places }) => ({ as, exponents, places });
const sorted = (entries) => Object.fromEntries(entries.sort(([a], [b]) => (a < b ? -1 : 1)));
const json = (value) => `${JSON.stringify(value, null, '\t')}\n`;

/** How each shipped provider writes its amounts. */
function prices(descriptions, currencies) {
	const exponents = Object.entries(currencies.exponents).flatMap(([exponent, codes]) => codes.map((code) => [code, Number(exponent)]));
	const providers = descriptions.filter(([, { amount }]) => amount?.as)
		.map(([name, { amount }]) => [name, price(amount)]);
	return { exponents: sorted(exponents), providers: sorted(providers) };
}

/** How accounts are connected at each shipped provider. */
function accounts(descriptions) {
	return sorted(descriptions.filter(([, { oauth }]) => oauth).map(([name, { oauth: { variables, ...oauth } }]) => [name, {
		...without(oauth, NOT_USED),
		...variables && { variables: Object.fromEntries(Object.entries(variables).map(([variable, of]) => [variable, without(of, ['notes'])])) },
	}]));
}

/**
 * @param {[name: string, description: Record<string, any>][]} descriptions
 * @param {(file: string) => string} read
 */
export function files(descriptions, read) {
	return {
		'lib/go/prices.json': json(prices(descriptions, JSON.parse(read('lib/currencies.json')))),
		'lib/go/vault/providers.json': json(accounts(descriptions)),
		'lib/go/form.schema.json': read('lib/contract/form.schema.json'),
	};
}
