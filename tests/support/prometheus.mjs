// A real Prometheus on loopback that scrapes a stack every second, with the alert
// rules that are shipped.
//
//     const prometheus = await startPrometheus(fixture);
//     await prometheus.query('sum(urlmode_requests_total)');
//     await prometheus.close();

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

import { freePorts } from '../stack/harness.mjs';
import { until } from './wait.mjs';

export const MONITORING = fileURLToPath(new URL('../../nginx/monitoring', import.meta.url));

/** @returns {Promise<Prometheus>} once it has scraped the stack three times */
export async function startPrometheus(fixture) {
	const folder = await mkdtemp(path.join(tmpdir(), 'urlmode-prometheus-'));
	const [port] = await freePorts(1);
	const { host } = new URL(fixture.stack.baseUrl);

	await writeFile(path.join(folder, 'prometheus.yml'), JSON.stringify({
		global: { scrape_interval: '1s', evaluation_interval: '1s' },
		rule_files: [path.join(MONITORING, 'alerts.yml')],
		scrape_configs: [{ job_name: 'urlmode', static_configs: [{ targets: [host] }] }],
	}));
	const child = spawn('prometheus', [
		`--config.file=${folder}/prometheus.yml`, `--storage.tsdb.path=${folder}/data`, `--web.listen-address=127.0.0.1:${port}`,
		'--log.level=warn',
	], { stdio: ['ignore', 'ignore', 'inherit'] });
	const prometheus = new Prometheus(child, folder, `http://127.0.0.1:${port}`);

	try {
		await until('Prometheus has scraped the stack', async () => (
			(await prometheus.query('count_over_time(up{job="urlmode"}[1m])').catch(() => []))[0]?.value[1] >= 3));
	} catch (error) {
		await prometheus.close();
		throw error;
	}
	return prometheus;
}

class Prometheus {
	#child;
	#folder;
	#url;

	constructor(child, folder, url) {
		this.#child = child;
		this.#folder = folder;
		this.#url = url;
	}

	/** The series that an expression has now; it is an error if Prometheus refuses the expression. */
	query(expression) {
		return this.#ask('query', { query: expression });
	}

	/** The series of the last `seconds`, a value every `step` seconds. */
	range(expression, seconds, step = 1) {
		const end = Date.now() / 1_000;
		return this.#ask('query_range', { query: expression, start: String(end - seconds), end: String(end), step: String(step) });
	}

	async #ask(what, parameters) {
		const response = await fetch(`${this.#url}/api/v1/${what}?${new URLSearchParams(parameters)}`);
		const answer = await response.json();
		if (answer.status !== 'success') {
			throw new Error(`${parameters.query}: ${answer.error}`);
		}
		return answer.data.result;
	}

	async close() {
		if (this.#child.exitCode === null && this.#child.signalCode === null) {
			const ended = once(this.#child, 'exit');
			this.#child.kill();
			await ended;
		}
		await rm(this.#folder, { recursive: true, force: true });
	}
}

/** Each panel of the dashboard that is shipped, its variables replaced. */
export async function panels() {
	const board = JSON.parse(await readFile(path.join(MONITORING, 'dashboard.json'), 'utf8'));
	const given = (expr) => expr.replaceAll('$instance', '.*').replaceAll('$__rate_interval', '10s');

	return board.panels.map((panel) => ({
		...panel, targets: panel.targets.map((target) => ({ ...target, expr: given(target.expr) })),
	}));
}
