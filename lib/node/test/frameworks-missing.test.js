// A database that was migrated without --frameworks: each adapter says what to do.

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import test from 'node:test';

import { PostgresStorage } from '../src/frameworks/frontmcp.js';
import { PostgresClientRequestAdapter, PostgresSessionAdapter } from '../src/frameworks/mcp-lite.js';
import { Cluster } from './support/cluster.js';
import { setUp } from './support/database.js';

test('without the schema of frameworks their adapters name the option of migrate, and a purge works', async (t) => {
	const { urlmode } = await setUp(t, await Cluster.start(t));
	const missing = /schema "urlmode_frameworks" does not exist: run urlmode migrate --frameworks/;

	await assert.rejects(new PostgresSessionAdapter(urlmode).create(randomUUID(), {}), missing);
	await assert.rejects(new PostgresClientRequestAdapter(urlmode).createPending(randomUUID(), 'r1').promise, missing);
	await assert.rejects(new PostgresStorage(urlmode).connect(), ({ message, cause }) => missing.test(`${message} ${cause?.message}`));
	assert.equal(await urlmode.purge({ kind: 'stored' }), 0);
});
