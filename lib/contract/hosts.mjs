// SPDX-License-Identifier: MIT
// From hosts.json: the table of hosts in ADAPTERS.md, and the facts about clients that the packages read.

import { head } from './languages.mjs';

/**
 * @typedef {object} Host
 * @property {string} host
 * @property {string} declares its capability `elicitation`
 * @property {'request' | 'error' | 'text' | 'unknown'} way that works with it
 * @property {string} does
 * @property {string[]} sources
 * @property {string} of when they are from
 * @property {string} date when they were last looked at
 * @property {Record<string, unknown>} [client] facts about it, where it does not declare them
 */

const WAYS = { request: 'a request', error: '-32042', text: 'link as text', unknown: 'not known' };

/** What a source is called: `claude-code#69555`, or the last part of its path. */
function nameOf(source) {
	const [, repository, number] = /^https:\/\/github\.com\/[\w.-]+\/([\w.-]+)\/(?:issues|pull)\/(\d+)$/.exec(source) ?? [];
	return number ? `${repository}#${number}` : new URL(source).pathname.split('/').at(-1);
}

/** @param {{ hosts: Host[] }} data */
export const tables = ({ hosts }) => ({
	hosts: `| host | \`elicitation\` | works | what it does | source, looked at |\n|---|---|---|---|---|\n${hosts
		.map(({ host, declares, way, does, sources, of, date }) => `| ${[host, declares, WAYS[way], does,
			`${sources.map((source) => `[${nameOf(source)}](${source})`).join(', ')}; ${of}, ${date}`].join(' | ')} |\n`).join('')}`,
});

/** @param {{ hosts: Host[] }} data */
export function files({ hosts }) {
	const facts = hosts.filter(({ client }) => client).map(({ client, does, sources, date }) => ({ ...client, why: does, sources, date }));
	const text = `[\n${facts.map((each) => `\t${JSON.stringify(each, null, 1).replaceAll(/\n\s*/g, ' ')}`).join(',\n')}\n]\n`;
	// Without what people read, and for runtimes that have no files.
	const plain = JSON.stringify(hosts.flatMap(({ client }) => client ?? []), null, '\t');
	return {
		'lib/node/src/adapters/clients.json': text, 'lib/go/adapter/clients.json': text,
		'lib/node/src/adapters/contract-clients.js': `${head.js}\n/** @type {import('../core/types.js').ClientFacts[]} */\nexport const CLIENTS = ${plain};\n`,
	};
}

/**
 * @param {{ hosts: Host[] }} data
 * @param {number} days
 * @param {Date} [now]
 * @returns {Host[]} those whose sources were last looked at before so many days
 */
export function olderThan({ hosts }, days, now = new Date()) {
	return hosts.filter(({ date }) => now.getTime() - new Date(date).getTime() > days * 86_400_000);
}
