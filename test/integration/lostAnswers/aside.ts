import { Firestore } from '@google-cloud/firestore';

/**
 * A project in which the emulators know of no trigger: they would do before us what is tested, and other tests would
 * find what is left here.
 */
export const ASIDE = 'demo-lost-answers';

export const aside = new Firestore({ projectId: ASIDE });
