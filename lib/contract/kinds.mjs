// SPDX-License-Identifier: MIT
// From ../providers: of which kinds an entry of the configuration can be that uses a shipped description. Only for
// payments and signatures an entry needs a description. An entry for accounts or forms may have any name. For C also the units
// of their amounts, and ../currencies.json.

import { head, jsDoc, wrapped } from './languages.mjs';

const ABOUT = 'For each description that is shipped: the kinds, of payment and signature, that its events can end.';

/**
 * Where all rules have the effect recheck, the MCP server decides what they mean.
 *
 * @param {{ amount?: unknown, outcomes?: { effect: string }[], return?: { outcomes?: { effect: string }[] } }} description
 */
export function kindsOf({ amount, outcomes = [], return: back }) {
	const effects = new Set([...outcomes, ...back?.outcomes ?? []].map(({ effect }) => effect));
	const asks = effects.has('recheck') && !effects.has('paid') && !effects.has('accepted');
	return [
		...asks || effects.has('paid') || (effects.has('accepted') && amount !== undefined) ? ['payment'] : [],
		...asks || effects.has('accepted') ? ['signature'] : [],
	];
}

const ABOUT_CHECKOUTS = 'The descriptions that are shipped, and whose events name the checkout that was paid, so that whatever it totals can be expected.';

const ABOUT_CURRENCIES = 'The currencies of ISO 4217, and the decimals of each.';

/** In these, what is called the checkout is a product, which anybody may buy at another price. */
const OF_PRODUCTS = new Set(['lemon-squeezy']);

const python = (all, checkouts) => `${head.py}
${wrapped(ABOUT, '# ', 112)}DESCRIBED_KINDS: dict[str, tuple[str, ...]] = {
${all.map(([name, kinds]) => `    "${name}": (${kinds.map((kind) => `"${kind}"`).join(', ')}${kinds.length === 1 ? ',' : ''}),\n`).join('')}}

${wrapped(ABOUT_CHECKOUTS, '# ', 112)}DESCRIBED_CHECKOUTS = frozenset({
${checkouts.map((name) => `    "${name}",\n`).join('')}})
`;

const go = (all, checkouts) => {
	const width = Math.max(...all.map(([name]) => name.length));
	return `${head.go}package urlmode

${wrapped(`describedKinds has, ${ABOUT[0].toLowerCase()}${ABOUT.slice(1)}`, '// ')}var describedKinds = map[string][]Kind{
${all.map(([name, kinds]) => `	"${name}":${' '.repeat(width - name.length)} {${kinds.map((kind) => kind[0].toUpperCase() + kind.slice(1)).join(', ')}},\n`).join('')}}

${wrapped(`describedCheckouts are t${ABOUT_CHECKOUTS.slice(1)}`, '// ')}var describedCheckouts = []string{${checkouts.map((name) => `"${name}"`).join(', ')}}
`;
};

const javascript = (all, checkouts, { exponents }) => `${head.js}
${jsDoc(ABOUT)}export const DESCRIBED_KINDS = new Map([
${all.map(([name, kinds]) => `	['${name}', [${kinds.map((kind) => `'${kind}'`).join(', ')}]],\n`).join('')}]);

${jsDoc(ABOUT_CHECKOUTS)}export const DESCRIBED_CHECKOUTS = new Set([
${checkouts.map((name) => `	'${name}',\n`).join('')}]);

${jsDoc(ABOUT_CURRENCIES)}export const EXPONENTS = new Map(Object.entries({
${Object.entries(exponents).map(([exponent, codes]) => wrapped([...codes].sort().map((code) => `${code}: ${exponent}`).join(', ') + ',', '\t')).join('')}}));
`;

/** Currencies and a number of each, one after another. @type {(numbers?: Record<string, number>) => string} */
const cells = (numbers = {}) => JSON.stringify(Object.entries(numbers).map(([currency, number]) => `${currency}${number}`).join(''));

const header = (descriptions, checkouts, { exponents }) => `${head.h}#ifndef UM_CONTRACT_DESCRIPTIONS_H
#define UM_CONTRACT_DESCRIPTIONS_H

/*
 * name, whether its events can end a payment and a signature, whether they name the
 * checkout; how it writes amounts ("" if it has none), and the currencies that have
 * other exponents or fewer places there.
 */
#define UM_DESCRIPTIONS(X) \\
${descriptions.map(([name, description]) => {
		const kinds = kindsOf(description);
		const { as = '', exponents: own, places } = description.amount ?? {};
		return `	X("${name}", ${kinds.includes('payment')}, ${kinds.includes('signature')}, ${checkouts.includes(name)}, "${as}", ${cells(own)}, ${cells(places)})`;
	}).join(' \\\n')}

/* The currencies of ISO 4217, and the decimals of each. */
#define UM_CURRENCIES \\
${Object.entries(exponents).map(([exponent, codes]) => codes.map((code) => `${code}${exponent}`).sort().join('')).flatMap((text) => text.match(/.{1,80}/g) ?? [])
		.map((text) => `	"${text}"`).join(' \\\n')}

#endif
`;

/**
 * @param {[name: string, description: { checkout?: unknown }][]} descriptions in the order of their names
 * @param {{ exponents: Record<string, string[]> }} currencies
 */
export function files(descriptions, currencies) {
	const all = descriptions.map(([name, description]) => [name, kindsOf(description)]);
	const checkouts = descriptions.filter(([name, { checkout }]) => checkout !== undefined && !OF_PRODUCTS.has(name)).map(([name]) => name);
	return {
		'lib/node/src/core/contract-kinds.js': javascript(all, checkouts, currencies),
		'lib/python/src/urlmode/_core/contract_kinds.py': python(all, checkouts),
		'lib/go/contract_kinds.go': go(all, checkouts),
		'lib/contract/descriptions.h': header(descriptions, checkouts, currencies),
	};
}
