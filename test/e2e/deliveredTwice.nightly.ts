/** The orders that the day leaves out. */
import { describeDeliveredTwice } from './support/delivery/twice.ts';

describeDeliveredTwice('through Pub/Sub', true, ['from the middle']);
describeDeliveredTwice('on a machine without Pub/Sub', false, ['the latest first']);
