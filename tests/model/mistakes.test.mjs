// Mistakes in the SQL, which the model test must find (mistakes.mjs).

import { makeHistory } from './history.mjs';
import { testMistakes } from './mistakes.mjs';
import { MISTAKES } from './mistakes/payments.mjs';
import { run } from './runner.mjs';
import { Stage } from './stage.mjs';

/** How long a step may take, in milliseconds. What never happens is a mistake found. */
const PATIENCE = 2_000;

process.removeAllListeners('warning');

testMistakes(MISTAKES, (t) => Stage.open(t), (stage, seed) => run(stage, makeHistory(seed), PATIENCE));
