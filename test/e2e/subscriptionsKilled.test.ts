import { describeWatchersKilled } from './support/watchersKilled.ts';

describeWatchersKilled(90, [45]);
