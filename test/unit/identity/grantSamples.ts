/** Sample grants of connected apps whose authorization code was redeemed. */
import assert from 'node:assert/strict';
import {
  type Grant,
  parseToken,
  redemptionOf,
  type TokenKind,
  type Tokens,
} from '../../../functions/src/identity/rules/grant.ts';
import { systemHashing } from '../../../functions/src/kernel/platform.ts';
import { CODE, START, sampleGrant, VERIFIER } from '../../support/builders.ts';

export const FIRST = 'the-secret-from-which-all-later-ones-do-follow';

/** Returns a grant whose authorization code was redeemed, and the tokens that its app received. */
export function redeemed(
  changes: Partial<Grant> = {},
  now = START,
): { readonly grant: Grant; readonly tokens: Tokens } {
  const asked = { secret: CODE, verifier: VERIFIER, fresh: FIRST };
  const redemption = redemptionOf(systemHashing, sampleGrant(changes), asked, now);
  assert.equal(redemption.outcome, 'redeemed');
  return redemption;
}

/** Returns the part of a token that is secret. */
export function secretOf(kind: TokenKind, token: string): string {
  return parseToken(kind, token)?.secret ?? assert.fail(`${token} is no ${kind} token`);
}
