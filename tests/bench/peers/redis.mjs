// Redis, publish to receive: nothing is kept, so it is no rival, but a
// measure of what a machine's sockets and Node cost.
//
//   redis.mjs SOCKET RATE COUNT
//
// One connection publishes, another receives. Prints the times in
// milliseconds, as a JSON array.

import { once } from 'node:events';
import { connect } from 'node:net';

const [socket, rate, count] = process.argv.slice(2);
const [publisher, subscriber] = [connect(socket), connect(socket)];
await Promise.all([once(publisher, 'connect'), once(subscriber, 'connect')]);

const sent = [];
const took = [];
let seen = '';
subscriber.setEncoding('latin1').on('data', (data) => {
	seen += data;
	const messages = seen.split('message\r\n');
	seen = messages.pop();
	for (const _ of messages) took.push(performance.now() - sent[took.length]);
});
publisher.resume();
subscriber.write('SUBSCRIBE bench\r\n');
await once(subscriber, 'data');
seen = '';

const begin = performance.now();
await new Promise((resolve) => {
	const timer = setInterval(() => {
		while (sent.length < count && begin + sent.length * 1_000 / rate <= performance.now()) {
			sent.push(performance.now());
			publisher.write('PUBLISH bench 1c2d7a3e-5d53-4fd6-9ec0-2b1f0e0c6c0f\r\n');
		}
		if (took.length === Number(count)) {
			clearInterval(timer);
			resolve();
		}
	}, 1);
});
console.log(JSON.stringify(took));
publisher.destroy();
subscriber.destroy();
