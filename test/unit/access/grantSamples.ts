/** A grant to begin with, whose code waits to be redeemed. */
import assert from 'node:assert/strict';
import {
  CODE_MILLISECONDS,
  challengeOf,
  type Grant,
  MOST_MILLISECONDS,
  presentedIn,
  redemptionOf,
  type TokenKind,
  type Tokens,
} from '../../../functions/src/access/rules/grant.ts';
import { systemHashing } from '../../../functions/src/kernel/platform.ts';
import { START } from '../samples.ts';

export const CODE = 'the-secret-of-a-code-that-waits-to-be-redeemed';
export const VERIFIER = 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk';
export const SALT = 'Jm3yqT1c0ZKQv5bqk1pA8Yl2m9o4h7uXeWnRsDgBfCE';
export const FIRST = 'the-secret-from-which-all-later-ones-do-follow';

export function sampleGrant(changes: Partial<Grant> = {}): Grant {
  const codeExpiresAt = new Date(START.getTime() + CODE_MILLISECONDS);
  return {
    id: 'k3v7q2mzj5x4n6r2wbta',
    ownerUid: 'person',
    agentId: 'terminal-2',
    clientId: 'https://client.example/oauth.json',
    clientName: 'A client',
    clientHost: 'client.example',
    resource: 'https://muster.example/mcp',
    createdAt: START,
    usedAt: START,
    expiresAt: codeExpiresAt,
    endsAt: new Date(START.getTime() + MOST_MILLISECONDS),
    salt: SALT,
    code: {
      hash: systemHashing.sha256(CODE),
      challenge: challengeOf(systemHashing, VERIFIER),
      redirectUri: 'http://localhost:1234/callback',
      expiresAt: codeExpiresAt,
      isRedeemed: false,
    },
    rotated: 0,
    recentRotations: [],
    accessTokens: [],
    ...changes,
  };
}

/** The grant when its code has been redeemed, and what its app has then. */
export function redeemed(
  changes: Partial<Grant> = {},
  now = START,
): { readonly grant: Grant; readonly tokens: Tokens } {
  const asked = { secret: CODE, verifier: VERIFIER, fresh: FIRST };
  const redemption = redemptionOf(systemHashing, sampleGrant(changes), asked, now);
  assert.equal(redemption.outcome, 'redeemed');
  return redemption;
}

/** The part of a token that nobody else knows. */
export function secretOf(kind: TokenKind, token: string): string {
  return presentedIn(kind, token)?.secret ?? assert.fail(`${token} is no ${kind} token`);
}
