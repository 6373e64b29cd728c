/** People that a test creates. They sign up as any person does. */
import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import type { Role } from '../../../functions/src/identity/rules/role.ts';
import { firestore } from '../../../functions/src/kernel/firestore/client.ts';
import { personPath } from '../../../functions/src/kernel/firestore/paths.ts';

export interface TestPerson {
  readonly uid: string;
  readonly email: string;
  readonly password: string;
  /** An ID token, which is valid for an hour. */
  readonly token: string;
}

const signedUp = z.object({ localId: z.string(), idToken: z.string() });

/** Signs a person up, and makes them a viewer of the deployment. */
export async function newPerson(): Promise<TestPerson> {
  const person = await signUp();
  await setRole(person.uid, 'viewer');
  return person;
}

/** Sets a person's deployment role, as the operator does with `npm run people`. */
export async function setRole(uid: string, role: Role | 'none'): Promise<void> {
  await firestore().doc(personPath(uid)).set({ role }, { merge: true });
}

/** Creates an account without a role. */
export async function signUp(): Promise<TestPerson> {
  const host = process.env['FIREBASE_AUTH_EMULATOR_HOST'];
  const url = `http://${host}/identitytoolkit.googleapis.com/v1/accounts:signUp?key=emulator`;
  const account = { email: `${randomUUID()}@example.com`, password: randomUUID() };
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ ...account, returnSecureToken: true }),
  });
  const { localId, idToken } = signedUp.parse(await response.json());
  return { ...account, uid: localId, token: idToken };
}
