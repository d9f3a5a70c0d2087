// What the tests that make a root of Debian share.

import { execFile, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { userInfo } from 'node:os';
import { promisify } from 'node:util';

/** The sources of Debian that this machine installs from. */
export async function sources() {
	const { stdout } = await promisify(execFile)('apt-get', ['indextargets', '--format', 'deb $(REPO_URI) $(RELEASE) $(COMPONENT)',
		'Created-By: Packages', 'Origin: Debian']);
	return [...new Set(stdout.split('\n').filter(Boolean))];
}

/** Why this user cannot make a root with users in it, or false. */
export function rootless() {
	const { uid, username } = userInfo();
	const ranges = readFileSync('/etc/subuid', 'utf8').split('\n').map((line) => line.split(':')[0]);
	return uid !== 0 && !(ranges.includes(username) && spawnSync('unshare', ['-Ur', 'true']).status === 0)
		&& 'neither root, nor user namespaces and a range in /etc/subuid';
}
