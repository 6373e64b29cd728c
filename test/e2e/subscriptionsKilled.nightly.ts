/** Longer, and the instance that took over is killed as well. */
import { describeWatchersKilled } from './support/watchersKilled.ts';

describeWatchersKilled(200, [60, 130]);
