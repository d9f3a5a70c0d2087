// Mistakes in the SQL of subscriptions, which their histories must find (mistakes.mjs).

import { testMistakes } from './mistakes.mjs';
import { MISTAKES } from './mistakes/subscriptions.mjs';
import { makeHistory } from './subscription-history.mjs';
import { openStage, run } from './subscription-runner.mjs';

testMistakes(MISTAKES, openStage, (stage, seed) => run(stage, makeHistory(seed)));
