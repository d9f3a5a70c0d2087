// Reads the processes of the machine from /proc.

import { readFileSync } from 'node:fs';
import { readdir, readFile, readlink } from 'node:fs/promises';

/** Linux counts processor time in units of USER_HZ, which is 100 a second. */
const TICK_MS = 10;

/**
 * @typedef {{ pid: number, parent: number, started: string, command: string }} Process
 *     started: in clock ticks since boot, so that pid and started name one
 *     process for ever
 */

/**
 * Every process that is there, but none that has ended and only waits for
 * its parent.
 *
 * @returns {Promise<Process[]>}
 */
export async function processes() {
	const names = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
	return names.map(inProc).filter((process) => process !== undefined);
}

/**
 * One process, or undefined once it has ended.
 *
 * @returns {Promise<Process | undefined>}
 */
export async function processOf(pid) {
	return inProc(pid);
}

function inProc(pid) {
	const stat = statOf(pid);
	return stat && { pid: Number(pid), parent: Number(stat[4]), started: stat[22], command: stat[2] };
}

/** The processor time that a process has used, in milliseconds, or undefined once it has ended. */
export async function cpuMsOf(pid) {
	const stat = statOf(pid);
	return stat && (Number(stat[14]) + Number(stat[15])) * TICK_MS;
}

/**
 * The fields of /proc/PID/stat by their numbers in proc(5), or undefined once the process has ended. Nothing waits for a disk
 * here, and a promise for each of hundreds of processes takes much longer than to read them.
 */
function statOf(pid) {
	let text = '';
	try {
		text = readFileSync(`/proc/${pid}/stat`, 'latin1');
	} catch (error) {
		otherwise('')(error);
	}
	// The name in parentheses may contain any characters.
	const [, name, rest] = /^\d+ \((.*)\) (.*)$/s.exec(text) ?? [];
	const stat = [undefined, pid, name, ...rest?.trim().split(' ') ?? ['X']];
	return stat[3] === 'Z' || stat[3] === 'X' ? undefined : stat;
}

/** In place of what a process that has ended no longer has, or a program without core dumps shows to root alone. Other errors are errors of the test. */
const otherwise = (value) => (error) => {
	if (!['ENOENT', 'ESRCH', 'EACCES'].includes(error.code)) throw error;
	return value;
};

/** A process and all its descendants, such as a service of a stack. */
export async function familyOf(pid) {
	const all = await processes();
	const family = all.filter((process) => process.pid === pid);

	for (const { pid: parent } of family) {
		family.push(...all.filter((process) => process.parent === parent));
	}
	return family;
}

/**
 * The memory of a service's processes, without its supervisor.
 *
 * @param {number} supervisor
 * @returns {Promise<Map<number, { pss: number, anonymous: number }>>} in KiB,
 *     by pid: the proportional set size, and what of it is no file's
 */
export async function memoryOf(supervisor) {
	const children = (await processes()).filter(({ parent }) => parent === supervisor);
	return new Map(await Promise.all(children.map(async ({ pid }) => {
		const rollup = await readFile(`/proc/${pid}/smaps_rollup`, 'utf8').catch(otherwise(''));
		// What a program without core dumps shows to everybody: the pages that it shares are not divided there.
		const text = rollup || await readFile(`/proc/${pid}/status`, 'utf8');
		const value = (name) => Number(new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(text)[1]);
		return [pid, rollup ? { pss: value('Pss'), anonymous: value('Pss_Anon') } : { pss: value('VmRSS'), anonymous: value('RssAnon') }];
	})));
}

/** Whether this same process still exists. */
export async function isThere({ pid, started }) {
	return (await processOf(pid))?.started === started;
}

/** The open files of a process: the targets of /proc/PID/fd. */
export async function openFiles(pid) {
	const folder = `/proc/${pid}/fd`;
	const names = await readdir(folder).catch(otherwise([]));
	const links = await Promise.all(names.map((name) => readlink(`${folder}/${name}`).catch(otherwise(undefined))));
	return links.filter((link) => link !== undefined);
}

/** The files that a process has open for writing, or mapped so that it may write to them. */
export async function filesWritten(pid) {
	const open = [];
	// One after the other, as above.
	for (const name of await readdir(`/proc/${pid}/fd`).catch(otherwise([]))) {
		const flags = /^flags:\s*([0-7]+)$/m.exec(await readFile(`/proc/${pid}/fdinfo/${name}`, 'utf8').catch(otherwise('')));
		const writes = flags !== null && (Number.parseInt(flags[1], 8) & 0o3) !== 0;
		if (writes) open.push(await readlink(`/proc/${pid}/fd/${name}`).catch(otherwise('')));
	}
	const maps = await readFile(`/proc/${pid}/maps`, 'utf8').catch(otherwise(''));
	const mapped = [...maps.matchAll(/^\S+ .w.s .*? (\/.*)$/gm)].map(([, file]) => file);
	return [...open, ...mapped].filter((file) => file.startsWith('/'));
}
