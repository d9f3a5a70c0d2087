// What the tests that make a root of Debian share.

import { execFile, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { userInfo } from 'node:os';
import { promisify } from 'node:util';

/** The release of Debian that this machine has. */
export const [, RELEASE] = /^VERSION_CODENAME=(.*)$/m.exec(readFileSync('/etc/os-release', 'utf8'));

/** The sources of Debian that this machine installs from, for a release. */
export async function sources(release = RELEASE) {
	const { stdout } = await promisify(execFile)('apt-get', ['indextargets', '--format', 'deb $(REPO_URI) $(CODENAME) $(COMPONENT)',
		'Created-By: Packages', 'Origin: Debian']);
	const lines = stdout.split('\n').filter(Boolean).map((line) => line.replace(` ${RELEASE}`, ` ${release}`));
	return [...new Set(lines)];
}

/** Why this user cannot make a root with users in it, or false. */
export function rootless() {
	const { uid, username } = userInfo();
	const ranges = readFileSync('/etc/subuid', 'utf8').split('\n').map((line) => line.split(':')[0]);
	return uid !== 0 && !(ranges.includes(username) && spawnSync('unshare', ['-Ur', 'true']).status === 0)
		&& 'neither root, nor user namespaces and a range in /etc/subuid';
}

/** The version of a build of a later commit, whose hash would sort before that of this one; after a release, of one that follows it. */
export const nextBuild = (version) => (version.includes('~git')
	? version.replace(/~git(\d+)\.\w+/, (_, seconds) => `~git${Number(seconds) + 1}.000000000000`) : `${version}+next`);
