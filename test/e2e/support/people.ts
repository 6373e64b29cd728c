/** People of a test's own, who sign up as people do. */
import { randomUUID } from 'node:crypto';
import { z } from 'zod';

export interface TestPerson {
  readonly uid: string;
  /** An ID token, good for an hour. */
  readonly token: string;
}

const signedUp = z.object({ localId: z.string(), idToken: z.string() });

/** Signs somebody up, without a role of their own. */
export async function newPerson(): Promise<TestPerson> {
  const host = process.env['FIREBASE_AUTH_EMULATOR_HOST'];
  const url = `http://${host}/identitytoolkit.googleapis.com/v1/accounts:signUp?key=emulator`;
  const email = `${randomUUID()}@example.com`;
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ email, password: randomUUID(), returnSecureToken: true }),
  });
  const { localId, idToken } = signedUp.parse(await response.json());
  return { uid: localId, token: idToken };
}
