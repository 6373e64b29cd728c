/** Takes the credential out of a request, or says what is wrong with how it was sent. */
import { MusterError } from '../domain/errors.ts';
import { type Refusal, unauthorised } from './refusal.ts';

const HOW = 'Send the header "Authorization: Bearer <key>", where <key> is';
const WHICH =
  '"<apiKey>.<secret>" of onboarding.registerAgent or of "npm run agents", or a Firebase ID token.';

/** @throws Refusal where there is none */
export function credentialOf(authorization: string | undefined): string {
  const [first = '', second, ...others] = (authorization ?? '').trim().split(/ +/);
  if (first === '') throw missing('There is no credential.');
  if (!/^bearer$/i.test(first)) throw missing(withoutBearer(first, second));
  if (second === undefined) throw missing('After "Bearer" there is no credential.');
  if (others.length > 0) throw missing('After "Bearer" there are several words, and a credential is one.');
  if (/[${}<>"']/.test(second)) throw missing(`What comes after "Bearer" is a placeholder or is quoted.`);
  return second;
}

function withoutBearer(first: string, second: string | undefined): string {
  if (second === undefined) return 'The header Authorization lacks the word "Bearer" before the credential.';
  const scheme = /^[A-Za-z-]{1,20}$/.test(first) ? ` "${first}"` : '';
  return `The header Authorization begins with another word${scheme} than "Bearer".`;
}

function missing(what: string): Refusal {
  return unauthorised(`${what} ${HOW} ${WHICH}`, 'UNAUTHORIZED', false);
}

/** @throws Refusal where the credential is to blame, else what came */
export function refuseCredential(error: unknown): never {
  if (!(error instanceof MusterError)) throw error;
  const { code, message, details } = error;
  if (code !== 'UNAUTHORIZED' && code !== 'TOKEN_EXPIRED') throw error;
  throw unauthorised([message, details.suggestion].filter(Boolean).join(' '), code, true);
}
