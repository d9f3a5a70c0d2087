// Forms without the Node package, whose part the test plays: it seals what a
// form asks as lib/PROTOCOL.md says, and opens what the user has sent.
//
//     const forms = await openForms(stack);
//     const form = await forms.create({ form: { title: 'T', fields: [] } });
//     const page = await forms.visit(form);

import { createCipheriv, createDecipheriv, createHmac, randomBytes, randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';

import pg from 'pg';

import { bindingOf } from '../../lib/node/src/core/token.js';
import { post, request } from './http.mjs';

const idBytes = (id) => Buffer.from(id.replaceAll('-', ''), 'hex');

export async function openForms(stack) {
	const [line] = (await readFile(stack.env.URLMODE_KEYS_FILE, 'utf8')).split('\n');
	const [kid, secret] = line.trim().split(/\s+/);
	const server = new pg.Client({ connectionString: stack.env.URLMODE_DATABASE_URL });
	// A stack that ends, or whose database is stopped, ends the connection.
	server.on('error', () => {});
	await server.connect();
	return new Forms(stack, { kid: Number(kid), secret: Buffer.from(secret, 'base64'), server });
}

class Forms {
	#stack;
	#kid;
	#secret;
	#server;

	constructor(stack, { kid, secret, server }) {
		this.#stack = stack;
		this.#kid = kid;
		this.#secret = secret;
		this.#server = server;
	}

	close() {
		return this.#server.end();
	}

	#derive(salt, info) {
		const extracted = createHmac('sha256', salt).update(this.#secret).digest();
		return createHmac('sha256', extracted).update(info).update(Buffer.of(1)).digest();
	}

	/** A form or a problem, sealed for its page. */
	seal(info, { id, binding }, value) {
		const head = Buffer.of(1, this.#kid);
		const nonce = randomBytes(12);
		const cipher = createCipheriv('aes-256-gcm', this.#derive('', info), nonce);
		cipher.setAAD(Buffer.concat([head, idBytes(id), binding]));
		const body = [cipher.update(typeof value === 'string' ? value : JSON.stringify(value), 'utf8'), cipher.final()];
		return Buffer.concat([head, nonce, ...body, cipher.getAuthTag()]);
	}

	/** What the user has sent: the JSON of the result. */
	async result({ id, binding }) {
		const [{ result }] = await this.#stack.sql('SELECT result FROM urlmode.elicitation WHERE id = $1', [id]);
		return result && this.open({ id, binding }, result);
	}

	open({ id, binding }, sealed) {
		const key = this.#derive(idBytes(id), Buffer.concat([Buffer.from('urlmode result v1'), binding]));
		const decipher = createDecipheriv('aes-256-gcm', key, sealed.subarray(2, 14));
		decipher.setAAD(Buffer.concat([sealed.subarray(0, 2), idBytes(id)]));
		decipher.setAuthTag(sealed.subarray(-16));
		return JSON.parse(Buffer.concat([decipher.update(sealed.subarray(14, -16)), decipher.final()]).toString('utf8'));
	}

	link(purpose, provider, id) {
		const named = Buffer.concat([Buffer.of(1, this.#kid), idBytes(id)]);
		const mac = createHmac('sha256', this.#derive('', 'urlmode link v1'))
			.update(named.subarray(0, 2)).update(`${purpose}\0${provider}\0`).update(idBytes(id)).digest();
		return Buffer.concat([named, mac.subarray(0, 14)]).toString('base64url');
	}

	/** @returns the row's id, binding, subject and provider, and its link */
	async create({
		form, kind = 'input', provider = kind === 'input' ? 'intake' : 'approvals', subject = `user-${randomUUID()}`, ttl = 600_000,
		approvers = null, verify = null,
	}) {
		const row = { id: randomUUID(), binding: bindingOf(subject, ''), subject, provider };
		await this.#server.query(
			`SELECT urlmode.create_elicitation(ARRAY[$1::uuid], ARRAY[$2::text], ARRAY[$3::text], ARRAY[$4::text], ARRAY[''],
				ARRAY[$5::bytea], ARRAY['Notes <server>'], ARRAY[NULL::text], ARRAY[NULL::jsonb], ARRAY[NULL::bytea], ARRAY[$6::bigint],
				forms => ARRAY[$7::bytea], approvers => ARRAY[$8::jsonb], verify_ms => ARRAY[$9::integer])`,
			[row.id, provider, kind, subject, row.binding, ttl, this.seal('urlmode form v1', row, form),
				approvers && JSON.stringify(approvers), verify]);
		return { ...row, url: `${this.#stack.baseUrl}/connect/${provider}?state=${this.link(approvers ? 'approve' : 'connect', provider, row.id)}` };
	}

	async take({ id, binding }) {
		return (await this.#server.query('SELECT * FROM urlmode.take_check($1, $2)', [id, binding])).rows[0];
	}

	/** Ends a check that was taken: with a problem, or without. */
	async end(row, { lease }, problem) {
		const sealed = problem && this.seal('urlmode problem v1', row, problem);
		const { rows } = await this.#server.query('SELECT urlmode.end_check($1, $2, $3, $4) AS said', [row.id, row.binding, lease, sealed]);
		return rows[0].said;
	}

	/**
	 * Opens the link in a new browser, as far as the page of the form.
	 * @returns the page, its address, its state and the browser's cookie
	 */
	async visit({ url }, { headers = {} } = {}) {
		const hop = await request(url, { headers });
		if (hop.status !== 303 || !hop.headers.location?.startsWith('/form/')) return { hop };
		const address = new URL(hop.headers.location, url).href;
		const cookie = hop.headers['set-cookie'].map((text) => text.split(';')[0]).join('; ');
		const browser = { address, headers: { ...headers, Cookie: cookie }, state: new URL(address).searchParams.get('state') };
		return { hop, ...browser, page: await this.look(browser) };
	}

	/** The page again. */
	look({ address, headers }) {
		return request(address, { headers });
	}

	/** Sends the form: `fields` as [name, value] or an object. */
	send({ address, headers, state }, fields, more = {}) {
		return post(address.split('?')[0], [['state', state], ...Array.isArray(fields) ? fields : Object.entries(fields)],
			{ headers: { ...headers, 'Sec-Fetch-Site': 'same-origin', ...more } });
	}
}
