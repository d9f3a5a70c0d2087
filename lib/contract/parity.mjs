// SPDX-License-Identifier: MIT
// From parity.json: each public feature, and its name in each language, or why it has none.

const LANGUAGES = ['node', 'python', 'go', 'http'];

/**
 * @typedef {object} Row
 * @property {string} says
 * @property {string} [node] its names, separated by spaces; the other languages have theirs in the same way
 * @property {Record<string, string>} [why] by language: why there is none
 */

/** @param {Row} row @param {Record<string, string>} of the reasons of its part @param {string} language */
const cell = (row, of, language) => row[language]?.split(' ').map((name) => `\`${name}\``).join(', ') ?? `– ${row.why?.[language] ?? of[language]}`;

/** @param {{ parts: { says: string, rows: Row[], why?: Record<string, string> }[] }} all */
export const tables = ({ parts }) => ({
	parity: `| feature | Node | Python | Go | HTTP |
|---|---|---|---|---|
${parts.map(({ says, rows, why = {} }) => `| **${says}** | | | | |\n${rows.map((row) => `| ${row.says} | ${LANGUAGES.map((language) => cell(row, why, language)).join(' | ')} |\n`).join('')}`).join('')}`,
});
