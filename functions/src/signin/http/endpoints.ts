/** Endpoints that clients call: token, register, revoke. Source: RFC 6749, section 5; RFC 7009; RFC 7591. */
import { z } from 'zod';
import { parsedJson } from '../../kernel/json.ts';
import { Service } from '../../kernel/ports.ts';
import { Attempts } from '../../limits/rules/attempts.ts';
import { addressOf, type BodyLimits, checkBodyHeaders, readBody } from '../../mcp/http/request.ts';
import { parametersIn } from '../rules/authorization.ts';
import { OAuthError } from '../rules/oauthError.ts';
import type { IssuedTokens } from '../rules/tokens.ts';
import { json, type Reply, type SignInPorts, type SignInRequest } from './signInRequest.ts';

type Parameter = (name: string) => string | undefined;

/** Form of a PKCE code verifier. Source: RFC 7636, section 4.1. */
const VERIFIER = /^[A-Za-z0-9._~-]{43,128}$/;

export class TokenEndpoints extends Service<SignInPorts> {
  /** Limit of invalid codes and tokens per address. The limit is high, because people may share an address. */
  private readonly failures = attemptsAt(5, 100, 'Too many invalid codes and tokens from your IP address.');
  private readonly registrations = attemptsAt(10 / 60, 20, 'Too many client registrations from your IP address.');

  async token(visit: SignInRequest): Promise<Reply> {
    const { rejection, check, forgive } = this.failures.attempt(...sourceOf(visit, this.ports));
    try {
      rejectClientSecret(visit);
      const parameter = parametersIn(await formOf(visit));
      const given = await check(() => this.given(parameter));
      forgive();
      return json(200, tokenResponseOf(given));
    } catch (error) {
      if (error instanceof OAuthError) throw rejection ?? error;
      forgive();
      throw error;
    }
  }

  async revoke(visit: SignInRequest): Promise<Reply> {
    const { rejection, check, forgive } = this.failures.attempt(...sourceOf(visit, this.ports));
    rejectClientSecret(visit);
    const parameter = parametersIn(await formOf(visit));
    const token = required(parameter, 'token');
    const isRevoked = await check(() => this.ports.tokens.revoke(token, parameter('client_id')));
    if (isRevoked) forgive();
    else if (rejection !== undefined) throw rejection;
    return json(200, {});
  }

  async register(visit: SignInRequest): Promise<Reply> {
    this.registrations.count(...sourceOf(visit, this.ports));
    const { id, name, redirect_uris, created_at } = await this.ports.clients.register(await jsonOf(visit));
    return json(201, {
      client_id: id,
      client_id_issued_at: Math.floor(created_at.getTime() / 1000),
      client_name: name,
      redirect_uris,
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      token_endpoint_auth_method: 'none',
    });
  }

  private given(parameter: Parameter): Promise<IssuedTokens> {
    const { tokens } = this.ports;
    const clientId = required(parameter, 'client_id');
    const resource = parameter('resource');
    switch (required(parameter, 'grant_type')) {
      case 'authorization_code': {
        const verifier = required(parameter, 'code_verifier');
        if (!VERIFIER.test(verifier))
          throw new OAuthError(
            'invalid_request',
            'code_verifier must be 43 to 128 letters, digits, "-", ".", "_" or "~".',
          );
        const redirectUri = parameter('redirect_uri');
        return tokens.redeem(required(parameter, 'code'), { clientId, verifier, redirectUri, resource });
      }
      case 'refresh_token':
        // The scope in the request is ignored: an app gets the access that the person chose for it.
        return tokens.refresh(required(parameter, 'refresh_token'), { clientId, resource });
      default:
        throw new OAuthError('unsupported_grant_type', 'grant_type must be "authorization_code" or "refresh_token".');
    }
  }
}

/** Returns the address of the client, and the time, by which limits of attempts count a request. */
export function sourceOf({ request }: SignInRequest, { clock, trustedProxies }: SignInPorts): [string, number] {
  return [addressOf(request, trustedProxies), clock.now().getTime()];
}

/** Returns a limit of attempts per address. @param message of the error for more attempts */
export function attemptsAt(perSecond: number, burst: number, message: string): Attempts {
  return new Attempts({ perSecond, burst }, { message, reason: 'TOO_MANY_ATTEMPTS', suggestion: 'Retry' });
}

function tokenResponseOf({ accessToken, expiresIn, refreshToken, scope }: IssuedTokens) {
  return { access_token: accessToken, token_type: 'Bearer', expires_in: expiresIn, refresh_token: refreshToken, scope };
}

/** @throws OAuthError if the client sends a secret */
function rejectClientSecret({ request }: SignInRequest): void {
  if (request.headers.authorization === undefined) return;
  throw new OAuthError(
    'invalid_client',
    'Only public clients are supported: send client_id in the body and no Authorization header.',
  );
}

/** @throws OAuthError if the parameter is missing */
function required(parameter: Parameter, name: string): string {
  const value = parameter(name);
  if (value === undefined) throw new OAuthError('invalid_request', `Missing parameter "${name}".`);
  return value;
}

/** Limits of a request's body, which contains a few parameters or an ID token. */
const LIMITS: BodyLimits = { bytes: 32 * 1024, milliseconds: 10_000 };

/** Returns the body of this content type. @throws OAuthError; HttpRejection if the body cannot be read */
async function textOf({ request, response }: SignInRequest, type: string): Promise<string> {
  if (!new RegExp(`^${type}\\b`, 'i').test(request.headers['content-type'] ?? ''))
    throw new OAuthError('invalid_request', `Content-Type must be ${type}.`);
  checkBodyHeaders(request, LIMITS);
  return (await readBody(request, response, LIMITS)).toString('utf8');
}

async function formOf(visit: SignInRequest): Promise<URLSearchParams> {
  return new URLSearchParams(await textOf(visit, 'application/x-www-form-urlencoded'));
}

/** @throws OAuthError; HttpRejection if the body cannot be read */
export async function jsonOf(visit: SignInRequest): Promise<z.output<typeof object>> {
  const { success, data } = object.safeParse(parsedJson(await textOf(visit, 'application/json')));
  if (!success) throw new OAuthError('invalid_request', 'The body must be a JSON object.');
  return data;
}

const object = z.record(z.string(), z.unknown());
