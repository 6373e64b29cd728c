/** Signs people in at the Auth emulator. */
import { getAuth } from 'firebase-admin/auth';
import { z } from 'zod';
import { firebaseApp } from '../../functions/src/kernel/realtime/database.ts';

const signedIn = z.object({ idToken: z.string() });

/** Signs a person in with these custom claims, and returns the ID token. */
export async function signIn(uid: string, claims: object = {}): Promise<string> {
  const token = await getAuth(firebaseApp()).createCustomToken(uid, claims);
  const host = process.env['FIREBASE_AUTH_EMULATOR_HOST'];
  const url = `http://${host}/identitytoolkit.googleapis.com/v1/accounts:signInWithCustomToken?key=any`;
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ token, returnSecureToken: true }),
  });
  return signedIn.parse(await response.json()).idToken;
}
