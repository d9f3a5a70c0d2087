// nginx for a peer: the snippets of nginx/urlmode in the frame of
// nginx/dev.conf.in, as for the programs, with another upstream behind it.

import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

import { listening, start } from '../processes.mjs';

const NGINX = fileURLToPath(new URL('../../../nginx/', import.meta.url));

/** What fastcgi.conf is, for a peer that speaks HTTP. */
const PROXY = `
proxy_http_version 1.1;
proxy_set_header Connection "";
proxy_set_header Host $host;
proxy_request_buffering on;
proxy_next_upstream error non_idempotent;
proxy_ignore_client_abort on;
proxy_read_timeout 30s;
proxy_buffer_size 16k;
proxy_buffers 8 16k;
proxy_max_temp_file_size 0;
`;

/**
 * @param {string} folder its own
 * @param {{ port: number, upstream: string, http?: boolean, edit?: (text: string, file: string) => string }} options
 *     upstream: as in `server …;`; http: else FastCGI; edit: changes a file of the configuration
 */
export async function startNginx(folder, { port, upstream, http = false, edit = (text) => text }) {
	const snippets = path.join(folder, 'urlmode');
	const change = (file, to) => writeFileSync(file, to(readFileSync(file, 'utf8'), path.basename(file)));

	rmSync(folder, { recursive: true, force: true });
	for (const name of ['log', 'tmp']) mkdirSync(path.join(folder, name), { recursive: true });
	cpSync(path.join(NGINX, 'urlmode'), snippets, { recursive: true });
	if (http) {
		writeFileSync(path.join(snippets, 'fastcgi.conf'), PROXY);
		change(path.join(snippets, 'server.conf'), (text) => text.replaceAll(/fastcgi_pass (\w+);/g, 'proxy_pass http://$1;'));
	}
	change(path.join(snippets, 'upstreams.conf'), (text) => text.replaceAll(/server unix:\S+;/g, `server ${upstream};`));
	writeFileSync(path.join(folder, 'nginx.conf'), frame(port));
	for (const name of readdirSync(snippets)) change(path.join(snippets, name), edit);
	change(path.join(folder, 'nginx.conf'), edit);

	const log = path.join(folder, 'log/nginx.log');
	const child = start(['nginx', '-e', 'log/nginx-error.log', '-p', `${folder}/`, '-c', `${folder}/nginx.conf`],
		{ log, cwd: folder });
	await listening(child, { host: '127.0.0.1', port }, log);
	return child;
}

function frame(port) {
	const text = readFileSync(path.join(NGINX, 'dev.conf.in'), 'utf8')
		.replace('@PORT@', String(port))
		.replace('include upstreams.conf;', 'include urlmode/upstreams.conf;');
	// Its workers could not read the folder of whoever runs this otherwise.
	return process.getuid() === 0 ? `user root;\n${text}` : text;
}
