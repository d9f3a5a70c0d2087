// The memory of the programs: the proportional set size in /proc.

import { readFileSync } from 'node:fs';

import { floods } from './flood.mjs';
import { familyOf } from '../../support/processes.mjs';

/** @returns {number} MB */
export function pss(pid) {
	const [, kilobytes] = /^Pss:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8'));
	return Number(kilobytes) / 1024;
}

/** The PSS of each FastCGI program, MB. */
export async function programs(bed, names) {
	const all = {};
	for (const name of names) all[name] = pss((await bed.stack.program(name)).pid);
	return all;
}

/** How many connections to PostgreSQL the program that has most of them has. */
export async function connections(bed) {
	const [{ most }] = await bed.sql(`SELECT max(count)::integer AS most FROM (
		SELECT count(*) FROM pg_stat_activity WHERE usename = 'urlmode_cgi' GROUP BY application_name) each`);
	return { most };
}

/** Of a peer's program with all that it started, MB. */
export async function peer(bed, name) {
	const family = await familyOf(bed.peer(name).program.pid);
	return family.reduce((sum, { pid }) => sum + pss(pid), 0);
}

/** What a million requests leave behind: refused ones and, one in a hundred, a completion. */
export async function soak(bed, count) {
	// Buffers grow to what they are used for, once.
	await floods(bed, 100_000);
	const before = pss((await bed.stack.program('oauth-return')).pid);
	const sent = await floods(bed, count);
	const after = pss((await bed.stack.program('oauth-return')).pid);
	return { sent, before, after };
}
