/** Each way that events go, in one order; by night in the other one. */
import { describeDeliveredTwice } from './support/delivery/twice.ts';

describeDeliveredTwice('through Pub/Sub', true, ['the latest first']);
describeDeliveredTwice('on a machine without Pub/Sub', false, ['from the middle']);
