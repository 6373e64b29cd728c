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
    // A later renewal of the token would restart all listeners. Without a network, the old token is used.
    await renewToken().catch(() => undefined);
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
  if (user === null) throw new Error('You are signed out.');
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
  if (openedLink === undefined) throw new Error('The page was not opened by a link.');
  await reportErrors(signInWithEmailLink(connection().auth, email, openedLink));
  localStorage.removeItem(ADDRESS_KEY);
}

export async function leave(): Promise<void> {
  await signOut(connection().auth);
}

/** A wrong address and a wrong password look the same, so that no one learns which accounts exist. */
const WORDS: Readonly<Record<string, string>> = {
  'auth/invalid-credential': 'Address and password do not belong together.',
  'auth/wrong-password': 'Address and password do not belong together.',
  'auth/user-not-found': 'Address and password do not belong together.',
  'auth/invalid-email': 'Enter the email address that the link was sent to.',
  'auth/too-many-requests': 'There were too many attempts. Try again in some minutes.',
  'auth/quota-exceeded': 'Too many mails were sent today. Sign in with a password, or tomorrow.',
  'auth/network-request-failed': 'Cannot reach the network. Check your connection, then retry.',
  'auth/user-disabled': 'This account is disabled. Contact your administrator.',
  'auth/admin-restricted-operation': 'No account exists for this address. Ask a leader to invite you.',
  'auth/operation-not-allowed': 'This sign-in method is turned off. Contact your administrator.',
  'auth/expired-action-code': 'The link is too old. Have another one sent.',
  'auth/invalid-action-code': 'The link was used already, or is too old. Have another one sent.',
  'auth/unauthorized-continue-uri':
    'Firebase does not know this address of the console: it has to be among the authorized domains.',
};

/** @throws Error with a message for the person */
async function reportErrors(attempt: Promise<unknown>): Promise<void> {
  try {
    await attempt;
  } catch (error) {
    const code = error instanceof FirebaseError ? error.code : '';
    throw new Error(WORDS[code] ?? `Signing in has failed${code && ` (${code})`}. Try again.`);
  }
}
