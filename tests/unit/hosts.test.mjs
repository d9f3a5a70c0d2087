// SPDX-License-Identifier: MIT
// Which rows of the table of hosts are old.

import assert from 'node:assert/strict';
import test from 'node:test';

import { data } from '../../lib/contract/generate.mjs';
import { olderThan } from '../../lib/contract/hosts.mjs';

test('a row is old when nobody has looked at its sources for so many days', () => {
	const hosts = ['2026-01-01', '2026-04-01', '2026-04-02'].map((date) => ({ host: date, date }));
	const old = (now, days = 90) => olderThan({ hosts }, days, new Date(now)).map(({ host }) => host);
	assert.deepEqual(old('2026-04-01T00:00:00Z'), [], 'ninety days later');
	assert.deepEqual(old('2026-04-01T00:00:01Z'), ['2026-01-01']);
	assert.deepEqual(old('2026-07-01T00:00:00Z'), ['2026-01-01', '2026-04-01']);
	assert.deepEqual(old('2026-07-01T00:00:00Z', 91), ['2026-01-01']);
});

test('each row has a date, of a day that has been', () => {
	const { hosts } = data('hosts');
	assert.deepEqual(hosts.filter(({ date }) => !/^\d{4}-\d\d-\d\d$/.test(date) || !(new Date(date) <= new Date())).map(({ host }) => host), []);
	assert.equal(olderThan({ hosts }, -1).length, hosts.length);
});
