// Tools, resources and prompts with the content that the scenarios compare.

import { completable, fromJsonSchema, ResourceTemplate } from '@modelcontextprotocol/server';
import { z } from 'zod';

/** One red pixel. */
const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==';
/** No sample of sound. */
const WAV = Buffer.from('524946462400000057415645666d74201000000001000100401f0000401f00000100080064617461' + '00000000', 'hex').toString('base64');

const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
const text = (value) => ({ type: 'text', text: value });
const image = { type: 'image', data: PNG, mimeType: 'image/png' };
const resource = (uri, mimeType, value) => ({ type: 'resource', resource: { uri, mimeType, text: value } });
const asUser = (...contents) => ({ messages: contents.map((content) => ({ role: 'user', content })) });

const COMPLETED = completable(z.string(), (value) => ['paris', 'park', 'party', 'test'].filter((word) => word.startsWith(value)));

const CONTENT = {
	test_simple_text: [text('This is a simple text response for testing.')],
	test_image_content: [image],
	test_audio_content: [{ type: 'audio', data: WAV, mimeType: 'audio/wav' }],
	test_embedded_resource: [resource('test://embedded-resource', 'text/plain', 'This is an embedded resource content.')],
	test_multiple_content_types: [
		text('Multiple content types test:'), image,
		resource('test://mixed-content-resource', 'application/json', '{"test":"data","value":123}'),
	],
};

/** A schema with the words of JSON Schema 2020-12 that a server must list as they are. */
const CONTACT = {
	$schema: 'https://json-schema.org/draft/2020-12/schema',
	type: 'object',
	$defs: { address: { $anchor: 'addressDef', type: 'object', properties: { street: { type: 'string' }, city: { type: 'string' } } } },
	properties: {
		name: { type: 'string' }, address: { $ref: '#/$defs/address' }, contactMethod: { type: 'string', enum: ['phone', 'email'] },
		phone: { type: 'string' }, email: { type: 'string' },
	},
	allOf: [{ anyOf: [{ required: ['phone'] }, { required: ['email'] }] }],
	if: { properties: { contactMethod: { const: 'phone' } }, required: ['contactMethod'] },
	then: { required: ['phone'] },
	else: { required: ['email'] },
	additionalProperties: false,
};

/** Its argument is also sent as a header (SEP-2243). */
const REGION = { type: 'object', properties: { region: { type: 'string', 'x-mcp-header': 'Region' } } };

/** @param {import('@modelcontextprotocol/server').McpServer} server */
export function registerContent(server) {
	for (const [name, schema] of [['json_schema_2020_12_tool', CONTACT], ['test_header', REGION]]) {
		server.registerTool(name, { description: 'Takes arguments.', inputSchema: fromJsonSchema(schema) },
			async (given) => ({ content: [text(JSON.stringify(given))] }));
	}
	for (const [name, content] of Object.entries(CONTENT)) {
		server.registerTool(name, { description: 'Returns content.' }, async () => ({ content }));
	}
	server.registerTool('test_error_handling', { description: 'Fails.' }, async () => {
		throw new Error('This tool intentionally returns an error for testing');
	});
	server.registerTool('test_tool_with_progress', { description: 'Reports progress.' }, async ({ mcpReq }) => {
		const progressToken = mcpReq._meta?.progressToken;
		for (const progress of [0, 50, 100]) {
			if (progressToken !== undefined) {
				await mcpReq.notify({ method: 'notifications/progress', params: { progressToken, progress, total: 100 } });
			}
			await sleep(50);
		}
		return { content: [text('Done.')] };
	});
	server.registerTool('test_tool_with_logging', { description: 'Writes log messages.' }, async ({ mcpReq }) => {
		for (const data of ['Tool execution started', 'Tool processing data', 'Tool execution completed']) {
			await mcpReq.log('info', data);
			await sleep(50);
		}
		return { content: [text('Done.')] };
	});
	registerResources(server);
	registerPrompts(server);
}

function registerResources(server) {
	server.registerResource('static-text', 'test://static-text', { description: 'Text.', mimeType: 'text/plain' }, async ({ href: uri }) => ({
		contents: [{ uri, mimeType: 'text/plain', text: 'This is the content of the static text resource.' }],
	}));
	server.registerResource('static-binary', 'test://static-binary', { description: 'An image.', mimeType: 'image/png' }, async ({ href: uri }) => ({
		contents: [{ uri, mimeType: 'image/png', blob: PNG }],
	}));
	server.registerResource('template', new ResourceTemplate('test://template/{id}/data', { list: undefined }),
		{ description: 'Data by an id.', mimeType: 'application/json' }, async ({ href: uri }, { id }) => ({
			contents: [{ uri, mimeType: 'application/json', text: JSON.stringify({ id, templateTest: true, data: `Data for ID: ${id}` }) }],
		}));
	for (const method of ['resources/subscribe', 'resources/unsubscribe']) server.server.setRequestHandler(method, async () => ({}));
}

function registerPrompts(server) {
	server.registerPrompt('test_simple_prompt', { description: 'Text.' }, async () => asUser(text('This is a simple prompt for testing.')));
	server.registerPrompt('test_prompt_with_arguments', { description: 'Text.', argsSchema: z.object({ arg1: COMPLETED, arg2: z.string() }) },
		async ({ arg1, arg2 }) => asUser(text(`Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`)));
	server.registerPrompt('test_prompt_with_embedded_resource', { description: 'A resource.', argsSchema: z.object({ resourceUri: z.string() }) },
		async ({ resourceUri }) => asUser(resource(resourceUri, 'text/plain', 'Embedded resource content for testing.'),
			text('Please process the embedded resource above.')));
	server.registerPrompt('test_prompt_with_image', { description: 'An image.' },
		async () => asUser(image, text('Please analyze the image above.')));
}
