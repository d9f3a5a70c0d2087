// The examples of servers with urlmode/http in place of urlmode: without what needs the database.

import { readFileSync } from 'node:fs';

import { example } from './projects.mjs';

/** Of each example, what is replaced. */
const WITHOUT_DATABASE = {
	sdk2: [[/\thandleTasks\([^\n]*\n/, ''], ['notifyOfTasks(urlmode, modern.fetch)', 'modern.fetch']],
	// Its sessions are in the memory of the process.
	'mcp-lite': [
		['import { McpServer, StreamableHttpTransport }', 'import { InMemoryClientRequestAdapter, InMemorySessionAdapter, McpServer, StreamableHttpTransport }'],
		['new PostgresClientRequestAdapter(urlmode)', 'new InMemoryClientRequestAdapter()'],
		['new PostgresSessionAdapter(urlmode)', 'new InMemorySessionAdapter({ maxEventBufferSize: 100 })'],
		['sessions.wrap(requests.wrap(transport.bind(server)), subjectIn)', 'transport.bind(server)'],
	],
};

/** @param {string} name of a file in lib/node/examples */
export function exampleOverHttp(name) {
	return [[" from 'urlmode';", " from 'urlmode/http';"], ...WITHOUT_DATABASE[name] ?? []].reduce((text, [from, to]) => replaced(text, from, to), example(`${name}.mjs`));
}

/** @param {string} app the `app.mjs` of the examples */
export function appOverHttp(app) {
	return replaced(app, /export const settings = \{[^]*?\};/,
		'export const settings = { url: process.env.URLMODE_API_URL, key: process.env.URLMODE_API_KEY, clients: JSON.parse(APP_CLIENTS) };');
}

export function waitsOverHttp() {
	return replaced(readFileSync(new URL('./waits.mjs', import.meta.url), 'utf8'), "'urlmode'", "'urlmode/http'");
}

function replaced(text, from, to) {
	const after = text.replace(from, to);
	if (after === text) throw new Error(`an example has no ${from} any more`);
	return after;
}
