/** The signed-in person, for the whole page. */
import { signal } from '@preact/signals';
import { type FirebaseApp, FirebaseError, initializeApp } from 'firebase/app';
import {
  type Auth,
  browserLocalPersistence,
  connectAuthEmulator,
  indexedDBLocalPersistence,
  initializeAuth,
  isSignInWithEmailLink,
  onAuthStateChanged,
  sendSignInLinkToEmail,
  signInWithEmailAndPassword,
  signInWithEmailLink,
  signOut,
} from 'firebase/auth';
import { signIn as text } from '../../text/signIn.ts';
import { fill } from '../../ui/format.ts';
import { type Deployment, loadDeployment } from '../deployment.ts';

export interface Person {
  readonly uid: string;
  readonly name: string;
  readonly email: string;
}

export type Session =
  | { readonly state: 'starting' }
  | { readonly state: 'failed'; readonly why: string }
  | { readonly state: 'signedOut' }
  /** A sign-in link opened the page, but in a browser in which the person has not entered the email address. */
  | { readonly state: 'addressWanted' }
  | { readonly state: 'signedIn'; readonly person: Person };

export const session = signal<Session>({ state: 'starting' });

interface Connected {
  readonly app: FirebaseApp;
  readonly auth: Auth;
  readonly deployment: Deployment;
}

let connected: Connected | undefined;

/** Connection of the page. Set before any view that uses it is shown. */
export function connection(): Connected {
  if (connected === undefined) throw new Error('The page has not been connected yet.');
  return connected;
}

/** Connects the page, and then follows who is signed in. */
export async function startSession(): Promise<void> {
  try {
    const deployment = await loadDeployment();
    const app = initializeApp(deployment.firebase);
    // Omits the pop-up resolver, which would load third-party scripts and frames.
    const auth = initializeAuth(app, { persistence: [indexedDBLocalPersistence, browserLocalPersistence] });
    if (deployment.emulators !== undefined)
      connectAuthEmulator(auth, `http://${deployment.emulators.auth}`, { disableWarnings: true });
    connected = { app, auth, deployment };
    await auth.authStateReady();
    await takeLink(auth);
    onAuthStateChanged(auth, (user) => {
      if (user === null) {
        if (session.value.state !== 'addressWanted') session.value = { state: 'signedOut' };
        return;
      }
      const { uid, email, displayName } = user;
      const person = { uid, email: email ?? '', name: displayName ?? email ?? uid };
      session.value = { state: 'signedIn', person };
    });
  } catch (error) {
    session.value = { state: 'failed', why: error instanceof Error ? error.message : String(error) };
  }
}

/** Returns the ID token for the person's calls. It is stored only in memory and by Firebase's SDK. */
export async function idToken(): Promise<string> {
  const user = connection().auth.currentUser;
  if (user === null) throw new Error(text.signedOut);
  return user.getIdToken();
}

/** Gets a new token. The person's rights may have changed after the current token was created. */
export async function renewToken(): Promise<void> {
  await connection().auth.currentUser?.getIdToken(true);
}

/** Whether the token states that the person's email address is verified. Invitations require a verified address. */
export async function isAddressVerified(): Promise<boolean> {
  const result = await connection().auth.currentUser?.getIdTokenResult();
  return result?.claims['email_verified'] === true;
}

/** Uid of the signed-in person; undefined without a signed-in person. */
export function ownUid(): string | undefined {
  return session.value.state === 'signedIn' ? session.value.person.uid : undefined;
}

export function withPassword(email: string, password: string): Promise<void> {
  return reportErrors(signInWithEmailAndPassword(connection().auth, email, password));
}

/** Storage key of the address that a link was sent to, until the link is opened in this browser. */
const ADDRESS_KEY = 'muster.signInAddress';

export async function sendLink(email: string): Promise<void> {
  const settings = { url: `${location.origin}/`, handleCodeInApp: true };
  await reportErrors(sendSignInLinkToEmail(connection().auth, email, settings));
  localStorage.setItem(ADDRESS_KEY, email);
}

let openedLink: string | undefined;

/** Signs in with the link that opened the page, and removes its code from the address bar and the history. */
async function takeLink(auth: Auth): Promise<void> {
  if (!isSignInWithEmailLink(auth, location.href)) return;
  openedLink = location.href;
  history.replaceState(null, '', '/');
  const email = localStorage.getItem(ADDRESS_KEY);
  if (email === null) session.value = { state: 'addressWanted' };
  else await withLink(email).catch(() => (session.value = { state: 'addressWanted' }));
}

export async function withLink(email: string): Promise<void> {
  if (openedLink === undefined) throw new Error(text.openAgain);
  await reportErrors(signInWithEmailLink(connection().auth, email, openedLink));
  localStorage.removeItem(ADDRESS_KEY);
}

export async function leave(): Promise<void> {
  await signOut(connection().auth);
}

/** A wrong address and a wrong password look the same, so that no one learns which accounts exist. */
const WORDS: Readonly<Record<string, string>> = {
  'auth/invalid-credential': text.wrong,
  'auth/wrong-password': text.wrong,
  'auth/user-not-found': text.wrong,
  'auth/invalid-email': text.wrongAddress,
  'auth/too-many-requests': text.tooMany,
  'auth/quota-exceeded': text.tooManyMails,
  'auth/network-request-failed': text.noNetwork,
  'auth/user-disabled': text.disabled,
  'auth/admin-restricted-operation': text.noAccount,
  'auth/operation-not-allowed': text.turnedOff,
  'auth/expired-action-code': text.expired,
  'auth/invalid-action-code': text.used,
  'auth/unauthorized-continue-uri': text.notAuthorized,
};

/** @throws Error with a message for the person */
async function reportErrors(attempt: Promise<unknown>): Promise<void> {
  try {
    await attempt;
  } catch (error) {
    const code = error instanceof FirebaseError ? error.code : '';
    throw new Error(WORDS[code] ?? fill(text.couldNot, { code: code && ` (${code})` }));
  }
}
