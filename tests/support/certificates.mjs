// The certificate of the stack's PayPal, with another end.

import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

export const DAY = 86_400_000;

const CONFIG = `[ca]
default_ca = own
[own]
database = index.txt
rand_serial = yes
default_md = sha256
new_certs_dir = .
policy = any
x509_extensions = leaf
[any]
commonName = supplied
[leaf]
basicConstraints = critical,CA:FALSE
`;

/** Signs secrets/paypal.pem again, with the same key. */
export function signAgain(runDir, end) {
	const folder = path.join(runDir, 'tmp');
	const key = path.join(runDir, 'secrets/paypal.key');
	const time = (date) => date.toISOString().replaceAll(/[-:T]|\.\d+/g, '');
	const openssl = (...args) => execFileSync('openssl', args, { cwd: folder, stdio: ['ignore', 'pipe', 'ignore'] });

	writeFileSync(path.join(folder, 'ca.conf'), CONFIG);
	writeFileSync(path.join(folder, 'index.txt'), '');
	openssl('req', '-new', '-key', key, '-subj', '/CN=paypal.example', '-out', 'paypal.csr');
	openssl('ca', '-batch', '-config', 'ca.conf', '-selfsign', '-keyfile', key, '-in', 'paypal.csr',
		'-startdate', time(new Date(Date.now() - 90 * DAY)), '-enddate', time(end), '-notext', '-out', 'paypal.pem');
	writeFileSync(path.join(runDir, 'secrets/paypal.pem'), readFileSync(path.join(folder, 'paypal.pem')));
}
