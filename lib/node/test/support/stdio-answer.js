// A server on stdio, as the official SDKs have it: each line is a call. It says on
// standard error what became of its answers.

import { watchAnswer } from '../../src/adapters/answer.js';

const transport = {
	_stdin: process.stdin,
	_stdout: process.stdout,
	async send(message) {
		process.stdout.write(`${JSON.stringify(message)}\n`);
	},
};
const say = (text) => process.stderr.write(`${text}\n`);

process.stdout.on('error', () => {});
process.stdin.on('data', async () => {
	const answer = watchAnswer(transport, 1);
	answer.signal.addEventListener('abort', () => say('gone'));
	void answer.written().then((written) => say(`written ${written}`));
	await transport.send({ id: 1, result: {} });
});
say('ready');
