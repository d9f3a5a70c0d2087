// Runs in an example server, before its own code: prints which elicitation a call
// begins to wait for, and when it no longer does.

import { UrlMode } from 'urlmode';

const { waitForCompletion } = UrlMode.prototype;

UrlMode.prototype.waitForCompletion = async function wait(id, options) {
	const isOfCall = options.timeout > 0 && options.timeout < Infinity;
	if (isOfCall) console.log(`waits for ${id}`);
	try {
		return await waitForCompletion.call(this, id, options);
	} finally {
		if (isOfCall) console.log(`no longer waits for ${id}`);
	}
};
