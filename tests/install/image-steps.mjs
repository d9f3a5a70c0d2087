// The image: the steps of the Containerfile after the packages, taken in the root of Debian
// in the folder ROOT, where mmdebstrap has made one.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

import { ANYWHERE } from './pod.mjs';
import { readContainers } from '../support/kubernetes.mjs';

const { ROOT } = process.env;
const TREE = fileURLToPath(new URL('../..', import.meta.url));
const execute = promisify(execFile);

export function steps() {
	test('the steps of the Containerfile', async () => {
		const [copy, run, from, image, ...rest] = JSON.parse(process.env.STEPS);
		assert.deepEqual([copy, from, image], ['COPY . /source', 'FROM scratch', 'COPY --from=build /image /']);
		assert.deepEqual(rest, ['ENV PATH=/usr/sbin:/usr/bin', 'USER 65532:65532', 'STOPSIGNAL SIGTERM', 'CMD ["/usr/lib/urlmode/status", "--help"]']);
		const ignored = readContainers('Containerfile.dockerignore').split('\n');
		const copied = ignored.filter((line) => line.startsWith('!')).map((line) => line.slice(1));
		await execute('sh', ['-c', `mkdir "$1/source" && cd "$2" && tar -c --exclude=lib/node --no-same-owner ${copied.join(' ')} | tar -x --no-same-owner -C "$1/source"`, 'sh', ROOT, TREE]);
		// On the same release the object files come from this tree, as in make-install.test.mjs. The root compiles what
		// names a folder, and links everything.
		if (process.env.SAME_RELEASE) {
			await execute('sh', ['-c', 'cd "$2" && tar -c build/obj/lib build/obj/cgi-bin build/obj/nginx build/texts build/flags | tar -x --no-same-owner -C "$1/source"', 'sh', ROOT, TREE]);
		}
		await execute('chroot', [ROOT, 'sh', '-c', run.replace(/^RUN /, '')], { env: { ...ANYWHERE, PATH: '/usr/sbin:/usr/bin:/sbin:/bin', MAKEFLAGS: '' }, maxBuffer: 1 << 26 });
	});
}
