// Shows the view that the host sends, and sends the actions of the user.

const element = (id) => document.getElementById(id);
const starts = document.querySelectorAll('button.start');
const post = (path, body = {}) => fetch(path, {
	method: 'POST',
	headers: { 'Content-Type': 'application/json' },
	body: JSON.stringify(body),
	// On a phone, this page may be suspended while the other tab is open.
	keepalive: true,
});

const STEPS = {
	calling: 'The tool has been called.',
	asked: 'The tool asks you to open a page.',
	waiting: 'The tool waits for you to come back.',
};
const COMPLETED = 'The server says that it is completed.';

function show({ phase, elicitation, progress, completed, result }) {
	const idle = phase === 'ready' || phase === 'done';
	for (const button of starts) {
		button.disabled = !idle;
	}
	element('stop').hidden = idle;
	element('request').hidden = phase !== 'asked';
	if (elicitation) {
		element('message').textContent = elicitation.message;
		element('host').textContent = elicitation.host;
		element('address').textContent = elicitation.url;
		element('open').href = elicitation.url;
	}
	showSteps(stepsOf(phase, elicitation, progress, completed));
	showResult(result?.text ?? '', result?.isError);
}

function stepsOf(phase, elicitation, progress, completed) {
	if (phase === 'ready') {
		return [];
	}
	return [
		STEPS.calling,
		...elicitation ? [STEPS.asked] : [],
		...phase === 'waiting' || progress.length > 0 ? [STEPS.waiting] : [],
		...progress,
		...completed ? [COMPLETED] : [],
	];
}

/** Adds only new lines, so that a screen reader reads only those. */
function showSteps(steps) {
	const list = element('progress');
	element('steps').hidden = steps.length === 0;
	while (list.children.length > steps.length) {
		list.lastChild.remove();
	}
	steps.forEach((step, index) => {
		const item = list.children[index] ?? list.appendChild(document.createElement('li'));
		if (item.textContent !== step) {
			item.textContent = step;
		}
	});
}

function showResult(text, isError) {
	const result = element('result');
	result.className = isError ? 'bad' : 'good';
	if (result.textContent !== text) {
		result.textContent = text;
	}
}

async function connect() {
	const response = await post('sessions');
	if (!response.ok) {
		throw new Error('The demo MCP server does not answer. Is it running?');
	}
	const { id } = await response.json();
	const views = new EventSource(`sessions/${id}/view`);

	views.addEventListener('message', ({ data }) => show(JSON.parse(data)));
	views.addEventListener('error', () => {
		if (views.readyState === EventSource.CLOSED) {
			showResult('The connection to the demo was lost. Load the page again.', true);
		}
	});
	for (const button of starts) {
		button.addEventListener('click', () => post(`sessions/${id}/start`, { tool: button.value }));
	}
	element('stop').addEventListener('click', () => post(`sessions/${id}/stop`));
	element('open').addEventListener('click', () => post(`sessions/${id}/answer`, { action: 'accept' }));
	element('refuse').addEventListener('click', () => post(`sessions/${id}/answer`, { action: 'decline' }));
}

connect().catch((error) => showResult(error.message, true));
