/** Sign-in with Firebase. The browser stores nothing, so that the sign-in ends when the page is closed. */
import { FirebaseError, initializeApp } from 'firebase/app';
import * as firebaseAuth from 'firebase/auth';
import type { Embedded } from './embedded.ts';
import { Failure, type Problem } from './view.ts';

/** Parameters that an emailed sign-in link adds to the page's URL. */
const LINK_PARAMETERS = ['apiKey', 'oobCode', 'mode', 'lang', 'tenantId'];

/** A wrong address and a wrong password have the same text, which therefore does not reveal existing accounts. */
const SIGN_IN_PROBLEMS: Readonly<Record<string, Problem>> = {
  'auth/invalid-credential': 'credentials',
  'auth/invalid-login-credentials': 'credentials',
  'auth/wrong-password': 'credentials',
  'auth/user-not-found': 'credentials',
  'auth/invalid-email': 'address',
  'auth/too-many-requests': 'attempts',
  'auth/quota-exceeded': 'attempts',
  'auth/network-request-failed': 'network',
  'auth/timeout': 'network',
  'auth/user-disabled': 'disabled',
  'auth/admin-restricted-operation': 'noNewAccounts',
  'auth/operation-not-allowed': 'noNewAccounts',
  'auth/multi-factor-auth-required': 'secondFactor',
  'auth/expired-action-code': 'usedLink',
  'auth/invalid-action-code': 'usedLink',
  'auth/popup-closed-by-user': 'popupClosed',
  'auth/cancelled-popup-request': 'popupClosed',
  'auth/user-cancelled': 'popupClosed',
  'auth/popup-blocked': 'popupBlocked',
  'auth/account-exists-with-different-credential': 'otherWay',
  'auth/unauthorized-domain': 'setup',
  'auth/unauthorized-continue-uri': 'setup',
  'auth/invalid-continue-uri': 'setup',
  'auth/missing-continue-uri': 'setup',
  'auth/configuration-not-found': 'setup',
  'auth/invalid-api-key': 'setup',
};

export class Login {
  private readonly auth: firebaseAuth.Auth;
  private readonly continueUrl: string;

  constructor({ firebase, emulator, google, continueUrl }: Embedded) {
    this.continueUrl = continueUrl;
    this.auth = firebaseAuth.initializeAuth(initializeApp(firebase), {
      persistence: firebaseAuth.inMemoryPersistence,
      ...(google && { popupRedirectResolver: firebaseAuth.browserPopupRedirectResolver }),
    });
    this.auth.languageCode = document.documentElement.lang;
    if (emulator !== undefined) firebaseAuth.connectAuthEmulator(this.auth, emulator, { disableWarnings: true });
  }

  get isSignedIn(): boolean {
    return this.auth.currentUser !== null;
  }

  get email(): string {
    return this.auth.currentUser?.email ?? '';
  }

  withPassword(email: string, password: string): Promise<void> {
    return withKnownFailure(firebaseAuth.signInWithEmailAndPassword(this.auth, email, password));
  }

  /** Call this while a click is handled, because browsers block windows that open later. */
  withGoogle(): Promise<void> {
    const provider = new firebaseAuth.GoogleAuthProvider();
    provider.setCustomParameters({ prompt: 'select_account' });
    return withKnownFailure(firebaseAuth.signInWithPopup(this.auth, provider));
  }

  withLink(email: string, link: string): Promise<void> {
    return withKnownFailure(firebaseAuth.signInWithEmailLink(this.auth, email, link), {
      'auth/invalid-email': 'linkAddress',
    });
  }

  sendLink(email: string): Promise<void> {
    const settings = { url: this.continueUrl, handleCodeInApp: true };
    return withKnownFailure(firebaseAuth.sendSignInLinkToEmail(this.auth, email, settings));
  }

  /** Returns the sign-in link that opened the page, and removes its code from the address bar and history. */
  takeLink(): string | undefined {
    const link = location.href;
    if (!firebaseAuth.isSignInWithEmailLink(this.auth, link)) return undefined;
    const plain = new URL(link);
    for (const name of LINK_PARAMETERS) plain.searchParams.delete(name);
    history.replaceState(null, '', plain);
    return link;
  }

  async token(): Promise<string> {
    const { currentUser } = this.auth;
    if (currentUser === null) throw new Failure('sign_in_again');
    return currentUser.getIdToken().catch((error: unknown) => {
      throw failureOf(error, {});
    });
  }

  forget(): Promise<void> {
    return firebaseAuth.signOut(this.auth);
  }
}

async function withKnownFailure(signingIn: Promise<unknown>, here: typeof SIGN_IN_PROBLEMS = {}): Promise<void> {
  await signingIn.catch((error: unknown) => {
    throw failureOf(error, here);
  });
}

function failureOf(error: unknown, here: typeof SIGN_IN_PROBLEMS): Failure {
  const code = error instanceof FirebaseError ? error.code : 'auth/unknown';
  // Firebase appends the rest of Google's message to these two error codes.
  const isKeyRefused = /^auth\/(?:api-key-not-valid|requests-from-referer)/.test(code);
  return new Failure(here[code] ?? SIGN_IN_PROBLEMS[code] ?? (isKeyRefused ? 'setup' : 'unknown'), { code });
}
