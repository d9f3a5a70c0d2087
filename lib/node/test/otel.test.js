// The events of a UrlMode in OpenTelemetry, and the asynchronous context that they have.

import assert from 'node:assert/strict';
import { AsyncLocalStorage } from 'node:async_hooks';
import { randomUUID } from 'node:crypto';
import { EventEmitter } from 'node:events';
import test from 'node:test';

import { Events } from '../src/core/events.js';
import { inThisContext } from '../src/core/runtime.js';
import { spanEvents } from '../src/otel.js';
import { payment, request, setUp, until } from './support/database.js';

/** What is used of `trace` of @opentelemetry/api, whose context manager is an AsyncLocalStorage as well. */
function tracing() {
	const active = new AsyncLocalStorage();
	const spans = [];
	return {
		spans,
		/** Calls a function in a span, and returns the events of the span. */
		within(work) {
			const events = [];
			return active.run({ addEvent: (name, attributes) => events.push([name, attributes]) }, () => ({ events, done: work() }));
		},
		trace: {
			getActiveSpan: () => active.getStore(),
			getTracer: (tracer) => ({ startSpan: (name, { attributes }) => ({ end: () => spans.push([tracer, name, attributes]) }) }),
		},
	};
}

test('a call has its events in its span, also where another call has begun the read', async (t) => {
	const { urlmode, callback } = await setUp(t);
	const { within, trace } = tracing();
	spanEvents(urlmode, trace);
	const owners = [1, 2].map(() => ({ subject: `user-${randomUUID()}` }));
	const calls = owners.map((owner) => within(() => urlmode.create({ ...request, ...owner })));
	const ids = (await Promise.all(calls.map(({ done }) => done))).map(({ elicitationId }) => elicitationId);
	const waits = ids.map((id, n) => within(() => urlmode.waitForCompletion(id, owners[n])));
	for (const [n, id] of ids.entries()) await callback.open(id, owners[n]);
	await until('it is told', () => waits.every(({ events }) => events.length === 1));
	for (const [n, id] of ids.entries()) await callback.complete(id, { ...owners[n], result: { code: 'c' } });
	await Promise.all(waits.map(({ done }) => done));
	await until('the end is told', () => waits.every(({ events }) => events.length === 2));
	for (const [n, id] of ids.entries()) {
		const about = { 'urlmode.elicitation_id': id, 'urlmode.provider': 'demo' };
		assert.deepEqual(calls[n].events, [['urlmode.created', { ...about, 'urlmode.kind': request.kind }]]);
		assert.deepEqual(waits[n].events, [['urlmode.opened', about], ['urlmode.completed', { ...about, 'urlmode.action': 'accept' }]]);
	}
	const { events, done } = within(() => urlmode.create({ ...request, ...owners[0], resumeKey: 'k' }).then(({ elicitationId: id }) => urlmode.cancel(id, owners[0])));
	await done;
	await until('the cancel is told', () => events.length === 2);
	assert.equal(events[1][1]['urlmode.reason'], 'cancelled');
});

test('what belongs to no call is a span of its own', async (t) => {
	const { urlmode, callback } = await setUp(t);
	const { within, trace, spans } = tracing();
	spanEvents(urlmode, trace);
	const owner = { subject: `user-${randomUUID()}` };
	const { events, done } = within(async () => {
		const { elicitationId: id } = await urlmode.create({ ...payment, ...owner });
		await urlmode.cancel(id, owner);
		return id;
	});
	const id = await done;
	await callback.paid(id, owner);
	const about = { 'urlmode.elicitation_id': id, 'urlmode.provider': 'demo' };
	await until('it is told', () => spans.some(([, , attributes]) => attributes['urlmode.elicitation_id'] === id));
	assert.deepEqual(spans.filter(([, , attributes]) => attributes['urlmode.elicitation_id'] === id), [['urlmode', 'urlmode.late', about]]);
	assert.deepEqual(events.map(([name]) => name), ['urlmode.created', 'urlmode.completed']);
});

test('without a span nothing is told', async (t) => {
	const { urlmode } = await setUp(t);
	const { trace, spans } = tracing();
	spanEvents(urlmode, trace);
	const owner = { subject: `user-${randomUUID()}` };
	const { elicitationId: id } = await urlmode.create({ ...request, ...owner });
	assert.equal(await urlmode.cancel(id, owner), true);
	assert.deepEqual(spans, []);
});

test('a wait that begins where nobody listens keeps no context, and one that begins where somebody does keeps its own', async () => {
	const context = new AsyncLocalStorage();
	const emitter = new EventEmitter();
	const events = new Events(emitter, /** @type {never} */ ({}));
	const id = randomUUID();
	const told = [];
	const beginsIn = (name) => context.run(name, () => events.ofWait({ subject: 'ada', session: '' }));
	const before = beginsIn('before');
	emitter.on('opened', () => told.push(context.getStore()));
	emitter.on('processing', () => told.push(context.getStore()));
	const after = beginsIn('after');
	context.run('a read', () => before({ id, provider: 'demo', status: 'opened' }));
	context.run('a read', () => after({ id, provider: 'demo', status: 'processing' }));
	await new Promise((resolve) => setImmediate(resolve));
	assert.deepEqual(told, ['a read', 'after']);
});

test('a function keeps the context of who has made it, and the order of its calls', async () => {
	const context = new AsyncLocalStorage();
	const told = [];
	const tell = context.run('mine', () => inThisContext((value) => told.push([context.getStore(), value])));
	context.run('another', () => {
		tell(1);
		tell(2);
	});
	await new Promise((resolve) => setImmediate(resolve));
	context.run('a third', () => tell(3));
	await new Promise((resolve) => setImmediate(resolve));
	assert.deepEqual(told, [['mine', 1], ['mine', 2], ['mine', 3]]);
});
