import assert from 'node:assert/strict';
import type { App } from 'firebase-admin/app';
import { resourceUrl } from '../../../../functions/src/toolsets/firebase/realtime/rest.ts';
import { setVariable } from '../../../support/environment.ts';

const HOST = 'FIREBASE_DATABASE_EMULATOR_HOST';

function urlFor(databaseURL: string | undefined, emulator: string | undefined): string {
  const before = process.env[HOST];
  setVariable(HOST, emulator);
  try {
    const options = databaseURL === undefined ? {} : { databaseURL };
    const app: App = { name: 'app', options };
    return resourceUrl(app, 'shared/a', { auth: 'a+b' });
  } finally {
    setVariable(HOST, before);
  }
}

describe('request URL for a configured Realtime Database URL', () => {
  for (const [databaseURL, emulator, url] of [
    ['https://muster.firebaseio.com', undefined, 'https://muster.firebaseio.com/shared/a.json?auth=a%2Bb'],
    [
      'https://muster.europe-west1.firebasedatabase.app/',
      undefined,
      'https://muster.europe-west1.firebasedatabase.app/shared/a.json?auth=a%2Bb',
    ],
    ['https://muster.firebaseio.com', '127.0.0.1:9000', 'http://127.0.0.1:9000/shared/a.json?auth=a%2Bb&ns=muster'],
    ['http://127.0.0.1:9000/?ns=other', '127.0.0.1:9001', 'http://127.0.0.1:9001/shared/a.json?auth=a%2Bb&ns=other'],
  ] as const)
    it(`is ${url.split('?')[0]} for ${databaseURL}`, () => assert.equal(urlFor(databaseURL, emulator), url));

  it('is undefined if the deployment has no database URL', () =>
    assert.throws(() => urlFor(undefined, undefined), /has no Realtime Database URL/));
});
