// A double of @lynq/express: it serves one path, to local Host headers unless
// others are allowed, and passes no option to `server.http`. The body must have
// been parsed. Compared with 0.1.1.

const LOCAL = ['localhost', '127.0.0.1', '::1'];

export function mountLynq(app, server, { path = '/mcp', allowedHosts = LOCAL } = {}) {
	const handle = server.http();
	app.use(path, (request, response, next) => {
		if (allowedHosts.includes(request.headers.host?.replace(/:\d+$/, ''))) next();
		else response.status(403).json({ jsonrpc: '2.0', error: { code: -32000, message: 'Forbidden' }, id: null });
	});
	app.all(path, async (request, response) => {
		const answer = await handle(toWebRequest(request));
		response.status(answer.status);
		answer.headers.forEach((value, name) => response.setHeader(name, value));
		for await (const chunk of answer.body ?? []) response.write(chunk);
		response.end();
	});
}

function toWebRequest({ protocol, headers, originalUrl, method, body }) {
	return new Request(`${protocol}://${headers.host}${originalUrl}`, {
		method, headers: Object.entries(headers).map(([name, value]) => [name, String(value)]),
		...!['GET', 'HEAD'].includes(method) && { body: JSON.stringify(body) },
	});
}
