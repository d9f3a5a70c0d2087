// The whole way of an operator under a real systemd, from an empty Debian on, and then what
// can be broken, with the finding of `urlmode check` that names it. tests/systemd/enter has
// to start this file: nothing else on the machine sees what it does.

import assert from 'node:assert/strict';
import { after, before, describe } from 'node:test';

import { scratch } from '../stack/harness.mjs';
import { api } from './api.mjs';
import { beside } from './beside.mjs';
import { broken } from './broken.mjs';
import { deployment } from './deployment.mjs';
import { Machine } from './machine.mjs';
import { Authority, Site } from './site.mjs';
import { leave, walk } from './walk.mjs';
import { ways } from './ways.mjs';

const it = {};

before(async () => {
	assert.ok(process.env.ALONE, 'start it by tests/systemd/enter node --test tests/systemd/systemd.test.mjs');
	it.authority = new Authority(await scratch('authority'));
	it.machine = await Machine.make('systemd');
	it.site = new Site(it.machine, it.authority.certificate);
});

after(async () => {
	await it.site?.close();
	await it.second?.close();
	await it.machine?.destroy();
});

describe('the walk', () => walk(it));
describe('ways to the database', () => ways(it));
describe('beside the guide', () => beside(it));
describe('what is broken', () => broken(it));
describe('the api', () => api(it));
describe('another deployment', () => deployment(it));
describe('the end', () => leave(it));
