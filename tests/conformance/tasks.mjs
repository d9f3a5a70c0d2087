// Tools whose calls are tasks (SEP-2663). Each waits for an elicitation that its user finishes after a while.

import { randomUUID } from 'node:crypto';

import { inputRequired, UrlElicitationRequiredError } from '@modelcontextprotocol/server';
import { withElicitation } from 'urlmode/sdk2';
import { z } from 'zod';

const text = (value, more) => ({ content: [{ type: 'text', text: value }], ...more });
const form = (message, name, type) => ({
	method: 'elicitation/create',
	params: { mode: 'form', message, requestedSchema: { type: 'object', properties: { [name]: { type } }, required: [name] } },
});

/** Nothing of another run of the suite. */
const RUN = randomUUID();
let jobs = 0;

/** Tools that answer with a task, or not at all. */
export const REQUIRED = ['failing_job', 'protocol_error_job', 'test_tool_with_task'];

/**
 * @param {import('@modelcontextprotocol/server').McpServer} server
 * @param {{ urlmode: import('urlmode').UrlMode, subject: string, takes: Map<string, number> }} app takes: how long the user takes
 */
export function registerTasks(server, { urlmode, subject, takes }) {
	/** The body runs when the user has signed, after so many milliseconds. */
	const signed = (call, item, ms, body) => withElicitation({
		urlmode, server, call, subject, provider: 'sign', kind: 'signature', item: `${RUN} ${item}`, message: 'Please sign.', ttl: 120_000,
		targetUrl: ({ elicitationId }) => {
			takes.set(elicitationId, ms);
			return 'https://provider.example/sign';
		},
	}, body);
	const tool = (name, inputSchema, run) => server.registerTool(name, { description: 'Waits.', inputSchema: z.object(inputSchema) }, run);

	tool('greet', { name: z.string() }, async ({ name }) => text(`Hello, ${name}!`));
	tool('slow_compute', { seconds: z.number(), label: z.string().default('') }, async ({ seconds, label }, call) => (seconds === 0 ? text('Computed.')
		: signed(call, `slow_compute ${label} ${seconds}`, seconds * 1_000, async () => text(`Computed ${label}.`))));
	// What has failed is done again by the next call for the same: each job is another one.
	tool('failing_job', {}, async (_, call) => signed(call, `failing_job ${jobs}`, 1_000, async () => {
		jobs += 1;
		return text('The job has failed.', { isError: true });
	}));
	tool('protocol_error_job', {}, async (_, call) => signed(call, 'protocol_error_job', 1_000, async () => {
		// The SDK makes a JSON-RPC error of this, in this revision, and a result of everything else.
		throw new UrlElicitationRequiredError([]);
	}));
	tool('confirm_delete', { filename: z.string() }, async ({ filename }, call) => signed(call, `confirm_delete ${filename}`, 100, async ({ inputResponses }) => (
		inputResponses ? text(`Deleted ${filename}.`) : inputRequired({ inputRequests: { confirm: form(`Delete ${filename}?`, 'confirm', 'boolean') } }))));
	tool('multi_input', {}, async (_, call) => signed(call, 'multi_input', 100, async ({ inputResponses }) => (inputResponses ? text('Both were answered.')
		: inputRequired({ inputRequests: { name: form('What is your name?', 'name', 'string'), confirm: form('Sure?', 'confirm', 'boolean') } }))));
	tool('test_tool_with_task', {}, async (_, call) => {
		const { content } = call.mcpReq.inputResponses?.user_name ?? {};
		if (!content) return inputRequired({ inputRequests: { user_name: form('What is your name?', 'name', 'string') } });
		return signed(call, `test_tool_with_task ${content.name}`, 500, async () => text(`Hello, ${content.name}!`));
	});
}
