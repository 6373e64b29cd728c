/** Authenticates requests. The App sends a JWT; an installation or a person sends a token. Both are verified. */
import { createVerify } from 'node:crypto';
import { z } from 'zod';
import type { GitHubState, Installation } from './state.ts';

export type Asker =
  | { readonly kind: 'app' }
  | { readonly kind: 'installation'; readonly installation: Installation }
  | { readonly kind: 'person' }
  | { readonly kind: 'nobody' }
  | { readonly kind: 'refused'; readonly why: string };

/** Returns the name of the rate limit against which the request counts, or undefined if it counts against none. */
export function limitOf(asker: Asker): string | undefined {
  if (asker.kind === 'installation') return `installation ${asker.installation.id}`;
  return asker.kind === 'person' ? 'person' : undefined;
}

/** Maximum lifetime of a JWT, in seconds, as at GitHub. */
const MAX_LIFETIME = 600;
const claims = z.object({ iat: z.number(), exp: z.number(), iss: z.union([z.string(), z.number()]) });

export function identify(world: GitHubState, authorization: string | undefined): Asker {
  if (authorization === undefined) return { kind: 'nobody' };
  const [scheme = '', credential = ''] = authorization.split(' ');
  if (!/^(token|bearer)$/i.test(scheme)) return { kind: 'refused', why: 'Bad credentials' };
  if (credential.split('.').length === 3) return checkJwt(world, credential);
  if (credential === world.personalToken) return { kind: 'person' };
  const token = world.tokens.find((one) => one.token === credential);
  if (token === undefined || token.expiresAt.getTime() <= Date.now())
    return { kind: 'refused', why: 'Bad credentials' };
  return { kind: 'installation', installation: token.installation };
}

function checkJwt({ app }: GitHubState, jwt: string): Asker {
  const refused = (why: string): Asker => ({ kind: 'refused', why });
  const [header = '', payload = '', signature = ''] = jwt.split('.');
  if (decoded(header)?.['alg'] !== 'RS256') return refused('A JSON web token could not be decoded');
  const verifier = createVerify('RSA-SHA256').update(`${header}.${payload}`);
  if (!verifier.verify(app.publicKey, Buffer.from(signature, 'base64url')))
    return refused('A JSON web token could not be decoded');
  const output = claims.safeParse(decoded(payload));
  if (!output.success || String(output.data.iss) !== app.id) return refused('Integration not found');
  const now = Date.now() / 1000;
  const { iat, exp } = output.data;
  if (iat > now) return refused("'Issued at' claim ('iat') must be an Integer representing the time");
  if (exp <= now) return refused("'Expiration time' claim ('exp') must be a numeric value in the future");
  if (exp - now > MAX_LIFETIME) return refused("'Expiration time' claim ('exp') is too far in the future");
  return { kind: 'app' };
}

function decoded(part: string): Record<string, unknown> | undefined {
  try {
    return z.record(z.string(), z.unknown()).parse(JSON.parse(Buffer.from(part, 'base64url').toString()));
  } catch {
    return undefined;
  }
}
