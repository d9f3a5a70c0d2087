// SQL that gives each role its password, which is in the file of its name in a folder. The passwords are random, so one
// iteration of SCRAM protects them as well as 4,096 do, each of which libpq
// repeats for every connection: under valgrind that takes a third of a second.

import { createHash, createHmac, pbkdf2Sync, randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const ITERATIONS = 1;

/** What PostgreSQL keeps of a password (RFC 5803). */
function verifier(password) {
	const salt = randomBytes(16);
	const salted = pbkdf2Sync(password, salt, ITERATIONS, 32, 'sha256');
	const key = (name) => createHmac('sha256', salted).update(name).digest();
	const stored = createHash('sha256').update(key('Client Key')).digest('base64');
	return `SCRAM-SHA-256$${ITERATIONS}:${salt.toString('base64')}$${stored}:${key('Server Key').toString('base64')}`;
}

/** @param {string} folder */
export function setPasswords(folder) {
	return ['urlmode_cgi', 'urlmode_server', 'urlmode_operator', 'postgres']
		.map((role) => `ALTER ROLE ${role} PASSWORD '${verifier(readFileSync(join(folder, role), 'utf8'))}';\n`).join('');
}
