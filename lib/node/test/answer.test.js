// Whether the answer to a call was written, over HTTP and stdio.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { connect } from 'node:net';
import test from 'node:test';
import { fileURLToPath } from 'node:url';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { setTimeout as sleep } from 'node:timers/promises';

import { connectionOfCall } from '../src/adapters/call-context.js';
import { isClientGone, watchAnswer } from '../src/adapters/answer.js';
import { CLAIM_LEASE_MS } from '../src/core/contract-limits.js';
import { until } from './support/database.js';

/** An HTTP server whose tool works for as long as the test says, and how the answer to each call ended. */
async function serve(t, { tool, transport } = {}) {
	const calls = [];
	const server = createServer(async (request, response) => {
		await null; // as a framework does
		const answer = request.url === '/unwatched' ? undefined : watchAnswer(transport, 1);
		const call = { answer, response, path: request.url };
		calls.push(call);
		await (tool?.(call) || new Promise((resolve) => { call.finish = resolve; }));
		if (answer) call.written = answer.written();
		if (!response.writableEnded) response.end('the answer');
	});
	server.listen(0, '127.0.0.1');
	await once(server, 'listening');
	t.after(() => {
		server.closeAllConnections();
		server.close();
	});
	const { port } = server.address();
	return {
		calls,
		fetch: (path = '/') => fetch(`http://127.0.0.1:${port}${path}`),
		async leave(path = '/', headers = '', isReady = () => true) {
			const socket = connect(port, '127.0.0.1');
			socket.write(`GET ${path} HTTP/1.1\r\nHost: localhost\r\n${headers}\r\n`);
			await until('the tool is at work', () => calls.some((call) => call.path === path && isReady(call)));
			socket.destroy();
			return calls.find((call) => call.path === path);
		},
	};
}

test('an answer that a client reads was written', async (t) => {
	const { calls, fetch } = await serve(t, { tool: () => sleep(20) });
	for (const path of ['/first', '/kept-connection']) {
		assert.equal(await (await fetch(path)).text(), 'the answer');
		assert.equal(await calls.at(-1).written, 'written', path);
		assert.equal(calls.at(-1).answer.signal.aborted, false);
	}
});

test('a client that closes its connection is gone, and the answer to it was not written', async (t) => {
	const { leave, fetch, calls } = await serve(t, { tool: ({ path }) => path === '/stays' && sleep(1) });
	const call = await leave('/gone');
	await until('the signal aborts', () => call.answer.signal.aborted);
	assert.ok(isClientGone(call.answer.signal.reason));
	assert.ok(!isClientGone(new Error('another')));
	call.finish();
	await until('it ends', () => 'written' in call);
	assert.equal(await call.written, 'lost');
	await (await fetch('/stays')).text();
	assert.equal(await calls.at(-1).written, 'written', 'another client');
});

test('a client that was gone before its tool began is gone', async (t) => {
	const { leave } = await serve(t, { tool: async (call) => {
		await once(call.response, 'close');
		call.later = watchAnswer();
	} });
	const call = await leave('/unwatched');
	await until('it is gone', () => call.later);
	assert.ok(isClientGone(call.later.signal.reason));
	assert.equal(await call.later.written(), 'lost');
});

test('a client that can fetch the answer on another connection is not gone', async (t) => {
	for (const [text, session, isGone] of [
		['id: 1\ndata: \n\n', 'mcp-session-id: 1\r\n', false],
		['event: message\nid: 2\ndata: {}\n\n', 'mcp-session-id: 1\r\n', false],
		[Buffer.from('id: 1\ndata: \n\n'), 'mcp-session-id: 1\r\n', false],
		['data: {"id": 1}\n\n', 'mcp-session-id: 1\r\n', true],
		['id: 1\ndata: \n\n', '', true],
		[undefined, 'mcp-session-id: 1\r\n', true],
	]) {
		const { leave } = await serve(t, { tool: async (call) => {
			if (text) call.response.write(text);
			await once(call.response, 'close');
			call.isClosed = true;
			call.later = watchAnswer();
		} });
		const call = await leave('/', session);
		await until('the connection is closed', () => call.isClosed);
		await until('it ends', () => 'written' in call);
		assert.deepEqual([call.answer.signal.aborted, call.later.signal.aborted, await call.written], [isGone, isGone, 'lost'], `${text} ${session}`);
		assert.deepEqual([call.answer.isCut(), call.later.isCut()], [true, true], `${text} ${session}`);
	}
});

test('a part of an answer has left the process, also where a middleware tells nobody', { timeout: 20_000 }, async (t) => {
	const { leave } = await serve(t, { tool: async (call) => {
		const { response } = call;
		const write = response.write.bind(response);
		response.write = (chunk) => write(chunk);
		const connection = connectionOfCall();
		response.write('a part');
		call.isSent = await connection.isSent();
		const { socket } = response;
		const http2 = t.mock.method(socket, 'write', () => { throw new Error('ERR_HTTP2_NO_SOCKET_MANIPULATION'); });
		const isSentByHttp2 = connection.isSent();
		http2.mock.restore();
		await once(response, 'close');
		call.isSentLater = await connection.isSent();
		call.isSentByHttp2 = await isSentByHttp2;
	} });
	const call = await leave('/part', '', ({ isSent }) => isSent !== undefined);
	assert.equal(call.isSent, true);
	await until('it is closed', () => 'isSentByHttp2' in call);
	assert.deepEqual([call.isSentLater, call.isSentByHttp2], [false, false], 'where nobody can know, the end of the response says it');
});

test('a response that the server has ended before says nothing of the answer: it may be replayed', async (t) => {
	const { calls, fetch } = await serve(t, { tool: async ({ response }) => {
		response.end();
		await once(response, 'close');
	} });
	await (await fetch()).text();
	await until('it ends', () => 'written' in calls[0]);
	assert.equal(await calls[0].written, 'lost');
	assert.deepEqual([calls[0].answer.signal.aborted, calls[0].answer.isCut()], [false, false], 'the client was sent away');
});

test('an answer that is an error was not written, however the framework writes it', async (t) => {
	const error = { jsonrpc: '2.0', id: 1, error: { code: -32603, message: 'thrown' } };
	const failed = { jsonrpc: '2.0', id: 1, result: { content: [{ type: 'text', text: 'thrown' }], isError: true } };
	const done = { jsonrpc: '2.0', id: 1, result: { content: [{ type: 'text', text: '{"isError":true}' }], structuredContent: { isError: true, error: 'none' } } };
	const progress = { jsonrpc: '2.0', method: 'notifications/message', params: { error: 'a log line' } };
	const event = (message) => `event: message\ndata: ${JSON.stringify(message)}\n\n`;
	const json = JSON.stringify;
	for (const [written, about, ...chunks] of [
		['failed', 'an error', json(error)],
		['failed', 'an error result', json(failed)],
		['failed', 'in two pieces, of bytes', Buffer.from(json(failed).slice(0, 70)), Buffer.from(json(failed).slice(70))],
		['failed', 'in a batch', json([{ ...done, id: 0 }, failed])],
		['failed', 'as an event, after another one', event(progress), event(error)],
		['failed', 'of a framework that does not name the call', json({ ...error, id: null })],
		['failed', 'with the status of an error', 'Internal Server Error'],
		['written', 'a result', json(done)],
		['written', 'beside a message that nobody could read', json([{ ...error, id: null }, done])],
		['written', 'a result that is an event', event(progress), event(done)],
		['written', 'of another call', json([{ ...error, id: 0 }, done])],
		['written', 'nothing of MCP', '{"error":'],
		['failed', 'as an event of several lines', `data: ${json(error, undefined, 1).replaceAll('\n', '\r\ndata: ')}\r\n\r\n`],
		['failed', 'compressed by gzip', gzipSync(json(failed))],
		['failed', 'compressed by br', brotliCompressSync(event(error))],
		['written', 'a result, compressed by gzip', gzipSync(json(done))],
	]) {
		const transport = new FakeTransport();
		const { calls, fetch } = await serve(t, { transport, tool: (call) => {
			setTimeout(() => {
				if (about.includes('status')) call.response.statusCode = 500;
				const [, encoding] = /compressed by (\w+)/.exec(about) ?? [];
				if (encoding) call.response.setHeader('content-encoding', encoding);
				for (const chunk of chunks.slice(0, -1)) call.response.write(chunk);
				call.response.end(chunks.at(-1));
			}, 20);
			call.seen = call.answer.written();
			return once(call.response, 'finish');
		} });
		await (await fetch()).text();
		assert.equal(await calls[0].seen, written, about);
	}
});

class FakeTransport {
	sent = [];
	async send(message, options) {
		await null;
		if (message.fails) throw new Error('not connected');
		this.sent.push([message, options]);
	}
}

test('202: the transport writes the answer elsewhere', async (t) => {
	const transport = new FakeTransport();
	const { calls, fetch } = await serve(t, { transport, tool: async ({ response }) => {
		response.writeHead(202).end();
		await sleep(20);
	} });
	await (await fetch()).text();
	await until('it ends', () => 'written' in calls[0]);
	await transport.send({ id: 1, result: {} });
	assert.equal(await calls[0].written, 'written');
});

test('a call that a queue has begun, in the context of an earlier request, asks the transport', async (t) => {
	const transport = new FakeTransport();
	let work;
	const queue = new Promise((resolve) => { work = resolve; });
	let written;
	const { fetch } = await serve(t, { tool: async () => {
		void queue.then(() => { written = watchAnswer(transport, 2).written(); });
	} });
	await (await fetch()).text();
	await sleep(20);
	work();
	await until('it begins', () => written !== undefined);
	await transport.send({ id: 2, result: {} });
	assert.equal(await written, 'written');
});

test('without HTTP the transport says it', async () => {
	const transport = new FakeTransport();
	const watch = (id) => [watchAnswer(transport, id).written(), watchAnswer(transport, id).written()];
	const [ok, failed, refused] = [watch(1), watch('b'), watch(3)];
	await transport.send({ method: 'notifications/progress', params: {} }, { relatedRequestId: 1 });
	await transport.send({ id: 1, method: 'elicitation/create' });
	await transport.send({ id: 1, result: {} }, 'its options');
	await assert.rejects(transport.send({ id: 'b', result: {}, fails: true }), /not connected/);
	await transport.send({ id: 3, error: { code: -32603 } });
	const [thrown] = watch(4);
	await transport.send({ id: 4, result: { content: [], isError: true } });
	assert.equal(await thrown, 'failed', 'the framework has made an error of it');
	assert.deepEqual(await Promise.all(ok), ['written', 'written']);
	assert.deepEqual(await Promise.all(failed), ['lost', 'lost']);
	assert.deepEqual(await Promise.all(refused), ['failed', 'failed'], 'the answer is another one than the tool has returned');
	assert.deepEqual(transport.sent[2], [{ id: 1, result: {} }, 'its options']);
	assert.equal(await watchAnswer().written(), 'written', 'nobody knows: the next call is not given an old answer');
});

test('an answer that nobody can write any more was not written', async () => {
	const transport = new FakeTransport();
	let closed = 0;
	transport.onclose = () => { closed += 1; };
	const abort = new AbortController();
	const call = watchAnswer(transport, 1, abort.signal);
	const cancelled = [call.written(), call.written()];
	const others = [watchAnswer(transport, 2).written(), watchAnswer(transport, 3).written()];
	abort.abort();
	assert.deepEqual([await Promise.all(cancelled), await call.written()], [['lost', 'lost'], 'lost'], 'the framework answers nothing that was cancelled before');
	const sending = transport.send({ id: 2, result: {} });
	transport.onclose();
	await sending;
	assert.deepEqual([await Promise.all(others), closed], [['written', 'lost'], 1], 'what is being sent says itself how it ends');
});

test('a call that is cancelled while it is answered says itself how it ends', async (t) => {
	const transport = new FakeTransport();
	const signals = [];
	const watch = (id) => {
		const abort = new AbortController();
		signals.push(abort);
		return watchAnswer(transport, id, abort.signal).written();
	};
	const [ok, failed] = [watch(1), watch(2)];
	const sending = [transport.send({ id: 1, result: {} }), transport.send({ id: 2, result: {}, fails: true })];
	for (const each of signals) each.abort();
	await Promise.allSettled(sending);
	assert.deepEqual([await ok, await failed], ['written', 'lost']);

	// Over HTTP the transport has taken the answer long before the client has.
	let abort;
	const { calls, fetch } = await serve(t, { transport, tool: async (call) => {
		abort = new AbortController();
		call.answer = undefined;
		call.own = watchAnswer(transport, 1, abort.signal).written();
		await transport.send({ id: 1, result: {} });
		abort.abort();
	} });
	assert.equal(await (await fetch()).text(), 'the answer');
	assert.equal(await calls[0].own, 'written');
});

test('where no transport is known, a call that was cancelled has as long as a lease for its answer', async (t) => {
	const { calls, fetch } = await serve(t, { tool: (call) => {
		const abort = new AbortController();
		call.answer = undefined;
		call.own = watchAnswer(undefined, 1, abort.signal).written();
		t.mock.timers.enable({ apis: ['setTimeout'] });
		abort.abort();
		t.mock.timers.tick(CLAIM_LEASE_MS - 1);
		call.ended = 'not yet';
		void call.own.then((written) => { call.ended = written; });
		return new Promise((resolve) => { call.finish = resolve; });
	} });
	const answer = fetch();
	while (!calls[0]?.finish) await new Promise(setImmediate);
	assert.equal(calls[0].ended, 'not yet');
	t.mock.timers.tick(1);
	assert.equal(await calls[0].own, 'lost');
	t.mock.timers.reset();
	calls[0].finish();
	await (await answer).text();
});

test('stdio: a host that quits is gone, and its answer was not written', { timeout: 60_000 }, async (t) => {
	const stdio = fileURLToPath(new URL('support/stdio-answer.js', import.meta.url));
	const start = () => {
		const server = spawn(process.execPath, [stdio], { stdio: ['pipe', 'pipe', 'pipe'] });
		t.after(() => server.kill('SIGKILL'));
		let output = '';
		server.stderr.on('data', (data) => { output += data; });
		return { server, says: (what) => until(`it says ${what}: ${output}`, () => output.includes(what)) };
	};
	const reading = start();
	reading.server.stdin.write('call\n');
	const [answer] = await once(reading.server.stdout, 'data');
	assert.match(String(answer), /"result"/);
	await reading.says('written written');
	reading.server.stdin.end();
	await reading.says('gone');

	const leaving = start();
	await leaving.says('ready');
	leaving.server.stdout.destroy();
	leaving.server.stdin.write('call\n');
	await leaving.says('written lost');
});
