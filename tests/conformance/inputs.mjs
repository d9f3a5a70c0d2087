// Tools that ask for input in other ways than urlmode does: with forms, sampling
// and roots. Their requestState is of the SDK's codec, beside urlmode's own.

import { inputRequired, inputResponse } from '@modelcontextprotocol/server';
import { z } from 'zod';

const text = (value) => ({ content: [{ type: 'text', text: value }] });
const form = (message, name, type = 'string') => ({
	method: 'elicitation/create',
	params: { mode: 'form', message, requestedSchema: { type: 'object', properties: { [name]: { type } }, required: [name] } },
});
const sampling = (prompt, maxTokens) => ({
	method: 'sampling/createMessage',
	params: { messages: [{ role: 'user', content: { type: 'text', text: prompt } }], maxTokens },
});
const ROOTS = { method: 'roots/list', params: {} };
const CAPABILITIES = 'io.modelcontextprotocol/clientCapabilities';

const titled = (prefix, title) => [1, 2, 3].map((n) => ({ const: `${prefix}${n}`, title: `${title} ${n}` }));
const OPTIONS = { type: 'string', enum: ['option1', 'option2', 'option3'] };

/** Tool → the fields of its form. */
const FORMS = {
	test_elicitation_sep1034_defaults: {
		name: { type: 'string', default: 'John Doe' }, age: { type: 'integer', default: 30 }, score: { type: 'number', default: 95.5 },
		status: { type: 'string', enum: ['active', 'inactive', 'pending'], default: 'active' }, verified: { type: 'boolean', default: true },
	},
	test_elicitation_sep1330_enums: {
		untitledSingle: OPTIONS,
		titledSingle: { type: 'string', oneOf: titled('value', 'Option') },
		legacyEnum: { type: 'string', enum: ['opt1', 'opt2', 'opt3'], enumNames: ['Option One', 'Option Two', 'Option Three'] },
		untitledMulti: { type: 'array', items: OPTIONS },
		titledMulti: { type: 'array', items: { anyOf: titled('value', 'Choice') } },
	},
};

/** The content of a form that was filled in as asked, or undefined. */
function filled(mcpReq, key, name) {
	const answer = mcpReq.inputResponses?.[key];
	return answer?.action === 'accept' && answer.content?.[name] !== undefined ? answer.content : undefined;
}

/**
 * @param {import('@modelcontextprotocol/server').McpServer} server
 * @param {ReturnType<typeof import('@modelcontextprotocol/server').createRequestStateCodec>} codec
 */
export function registerInputs(server, codec) {
	const tool = (name, run) => server.registerTool(`test_input_required_result_${name}`, { description: 'Asks for input.' },
		async (ctx) => run(ctx.mcpReq, ctx));

	tool('elicitation', (mcpReq) => {
		const answer = filled(mcpReq, 'user_name', 'name');
		return answer ? text(`Hello, ${answer.name}!`) : inputRequired({ inputRequests: { user_name: form('What is your name?', 'name') } });
	});
	tool('sampling', (mcpReq) => {
		const answer = mcpReq.inputResponses?.capital_question;
		return answer ? text(answer.content.text)
			: inputRequired({ inputRequests: { capital_question: sampling('What is the capital of France?', 100) } });
	});
	tool('list_roots', (mcpReq) => {
		const answer = mcpReq.inputResponses?.client_roots;
		return answer ? text(answer.roots.map(({ uri }) => uri).join(' ')) : inputRequired({ inputRequests: { client_roots: ROOTS } });
	});
	tool('capabilities', (mcpReq) => {
		const capabilities = mcpReq.envelope?.[CAPABILITIES] ?? {};
		return inputRequired({ inputRequests: {
			...capabilities.sampling && { question: sampling('What is the capital of France?', 100) },
			...capabilities.elicitation && { user_name: form('What is your name?', 'name') },
		} });
	});
	for (const name of ['request_state', 'tampered_state']) {
		tool(name, async (mcpReq, ctx) => (filled(mcpReq, 'confirm', 'ok') && mcpReq.requestState() ? text('state-ok')
			: inputRequired({ inputRequests: { confirm: form('Please confirm', 'ok', 'boolean') }, requestState: await codec.mint({ name }, ctx) })));
	}
	tool('multiple_inputs', async (mcpReq, ctx) => {
		const keys = Object.keys(mcpReq.inputResponses ?? {});
		if (['user_name', 'greeting', 'client_roots'].every((key) => keys.includes(key))) return text('All is there.');
		return inputRequired({
			inputRequests: { user_name: form('What is your name?', 'name'), greeting: sampling('Generate a greeting', 50), client_roots: ROOTS },
			requestState: await codec.mint({ keys }, ctx),
		});
	});
	tool('multi_round', async (mcpReq, ctx) => {
		if (filled(mcpReq, 'step2', 'color')) return text('Both steps are done.');
		const step = filled(mcpReq, 'step1', 'name') ? 2 : 1;
		const request = step === 1 ? form('Step 1: What is your name?', 'name') : form('Step 2: What is your favorite color?', 'color');
		return inputRequired({ inputRequests: { [`step${step}`]: request }, requestState: await codec.mint({ step }, ctx) });
	});
	server.registerPrompt('test_input_required_result_prompt', { description: 'Asks for input.' }, async (ctx) => {
		const answer = filled(ctx.mcpReq, 'user_context', 'context');
		return answer ? { messages: [{ role: 'user', content: { type: 'text', text: String(answer.context) } }] }
			: inputRequired({ inputRequests: { user_context: form('What context should the prompt use?', 'context') } });
	});

	server.registerTool('test_missing_capability', { description: 'Needs sampling.' },
		async () => inputRequired({ inputRequests: { question: sampling('What is the capital of France?', 100) } }));
	server.registerTool('test_streaming_elicitation', { description: 'Asks with a form.' },
		async () => inputRequired({ inputRequests: { user_name: form('What is your name?', 'name') } }));
	server.registerTool('test_logging_tool', { description: 'Writes a log message.' }, async ({ mcpReq }) => {
		await mcpReq.log('info', 'A message.');
		return text('Done.');
	});
	for (const [name, properties] of Object.entries(FORMS)) {
		server.registerTool(name, { description: 'Asks with a form.' }, async ({ mcpReq }) => {
			const { action, content } = await mcpReq.elicitInput({
				mode: 'form', message: 'Please fill this in.', requestedSchema: { type: 'object', properties },
			});
			return text(`Elicitation completed: action=${action}, content=${JSON.stringify(content)}`);
		});
	}
	server.registerTool('test_elicitation', { description: 'Asks with a form.', inputSchema: z.object({ message: z.string() }) },
		async ({ message }, { mcpReq }) => {
			const string = (description) => ({ type: 'string', description });
			const answer = await mcpReq.elicitInput({ mode: 'form', message, requestedSchema: {
				type: 'object', required: ['username', 'email'],
				properties: { username: string("User's response"), email: string("User's email address") },
			} });
			return text(`User response: ${JSON.stringify(answer)}`);
		});
	server.registerTool('test_sampling', { description: 'Asks the model.', inputSchema: z.object({ prompt: z.string() }) },
		async ({ prompt }, { mcpReq }) => {
			const { content } = await mcpReq.requestSampling(sampling(prompt, 100).params);
			return text(`LLM response: ${content.text}`);
		});
}
