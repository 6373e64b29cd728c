/** Authorization endpoint: the sign-in page and its two requests. Source: OAuth 2.1, section 4.1. */
import { z } from 'zod';
import { ROLES } from '../../identity/rules/role.ts';
import { MusterError } from '../../kernel/errors.ts';
import { Service } from '../../kernel/ports.ts';
import { HttpRejection } from '../../mcp/http/rejection.ts';
import {
  type Authorization,
  DECISION_TTL_MS,
  parametersIn,
  parseRequest,
  redirectToClient,
} from '../rules/authorization.ts';
import { SignInError } from '../rules/choices.ts';
import { OAuthError } from '../rules/oauthError.ts';
import { isOnThisMachine, isRegistered, shownHost } from '../rules/redirects.ts';
import { attemptsAt, jsonOf, sourceOf } from './endpoints.ts';
import { consentPage, type Problem, pageHeaders, problemPage } from './pages.ts';
import { json, NOT_STORED, type Reply, type SignInPorts, type SignInRequest } from './signInRequest.ts';
import { languageOf } from './texts.ts';

/** The prefix limits the cookie to TLS and this host. Source: RFC 6265bis, 4.1.3.2. */
const COOKIE = '__Host-muster-sign-in';
const SECRET = /^[A-Za-z0-9_-]{43}$/;
const SECRET_BYTES = 32;
const person = z.object({ authorization: z.string(), idToken: z.string() });

const decision = z.discriminatedUnion('allow', [
  z.object({
    allow: z.literal(true),
    authorization: z.string(),
    approval: z.string(),
    agentName: z.string().min(1).max(200),
    role: z.enum(ROLES),
    workspace: z.string().nullable(),
    toolsets: z.array(z.string()).max(100),
    readonly: z.boolean(),
  }),
  z.object({ allow: z.literal(false), authorization: z.string() }),
]);

const samplePeople = z.array(z.object({ displayName: z.string(), email: z.string(), password: z.string() }));

/** Parameter that an emailed sign-in link adds to the page's URL. */
const LINK_CODE = 'oobCode';

/** Problems after which an emailed link can no longer be used. */
const ENDED: readonly Problem[] = ['other_browser', 'expired'];

/** Error that shows a problem page instead of the requested page. */
class SignInPageError extends Error {
  readonly problem: Problem;
  readonly detail: string | undefined;
  readonly back: string | undefined;

  constructor(problem: Problem, detail?: string, back?: string) {
    super(`The sign-in cannot start: ${problem}.`);
    this.name = 'Obstacle';
    this.problem = problem;
    this.detail = detail;
    this.back = back;
  }
}

export class AuthorizationPage extends Service<SignInPorts> {
  private readonly visits = attemptsAt(1, 60, 'Too many sign-ins started from your IP address.');
  private readonly documents = attemptsAt(10 / 60, 10, 'Too many unknown clients requested from your IP address.');

  /** Returns the page, a problem page, or a redirect to a program on the person's machine. Never throws. */
  async open(visit: SignInRequest): Promise<Reply> {
    try {
      this.visits.count(...sourceOf(visit, this.ports));
      return visit.query.has('authorization') ? await this.reopen(visit) : await this.begin(visit);
    } catch (error) {
      const { problem, detail, back } = signInPageErrorOf(error, this.ports, visit);
      if (visit.query.has(LINK_CODE) && ENDED.includes(problem)) return withoutCode(visit);
      // Redirect only to the person's own computer, never to another site: RFC 9700, section 4.11.2.
      if (back !== undefined && isOnThisMachine(back))
        return { status: 302, headers: { ...NOT_STORED, Location: back }, body: '' };
      const shown = {
        language: languageOf(visit.request.headers['accept-language']),
        style: `${visit.address.issuer}/signin/page.css`,
        problem,
        detail,
        back: back === undefined ? undefined : { url: back, host: shownHost(back) },
      };
      const headers = pageHeaders(this.ports.firebase);
      return { status: STATUSES[problem] ?? 400, headers, body: problemPage(shown) };
    }
  }

  async identify(visit: SignInRequest): Promise<Reply> {
    return this.answered(visit, async (body) => {
      this.visits.count(...sourceOf(visit, this.ports));
      const { authorization, idToken } = parsed(person, body);
      return this.ports.consent.identify(authorization, browserOf(visit), idToken, this.toolsetsOf(visit));
    });
  }

  async decide(visit: SignInRequest): Promise<Reply> {
    return this.answered(visit, async (body) => {
      const { consent } = this.ports;
      const decided = parsed(decision, body);
      const browser = browserOf(visit);
      if (!decided.allow) return { location: await consent.cancel(decided.authorization, browser) };
      const { authorization, approval, workspace, ...rest } = decided;
      const chosen = { ...rest, workspace: workspace ?? undefined };
      const toolsets = this.toolsetsOf(visit);
      const approved = { id: authorization, browser, approval };
      return { location: await consent.allow(approved, chosen, toolsets) };
    });
  }

  private async begin(visit: SignInRequest): Promise<Reply> {
    const { address, query } = visit;
    const { clients, consent, randomness } = this.ports;
    const parameter = parametersIn(query);
    const id = parameter('client_id');
    if (id === undefined) throw new SignInPageError('bad_request', 'The parameter "client_id" is missing.');
    const client = await clients.find(id, () => void this.documents.count(...sourceOf(visit, this.ports)));
    if (client === undefined) throw new SignInPageError('unknown_client');
    const [only, ...others] = client.redirect_uris;
    const redirectUri = parameter('redirect_uri') ?? (others.length === 0 ? only : undefined);
    if (redirectUri === undefined || !isRegistered(redirectUri, client.redirect_uris))
      throw new SignInPageError('bad_redirect', redirectUri);
    const { issuer } = address;
    const browser = browserOf(visit) ?? randomness.secret(SECRET_BYTES);
    try {
      const isServed = (below: string) => this.ports.toolsetsAt(below).length > 0;
      const asked = parseRequest(parameter, address, isServed);
      return this.page(visit, await consent.begin(client, asked, { redirectUri, issuer }, browser), browser);
    } catch (error) {
      if (!(error instanceof OAuthError)) throw error;
      const state = parameter('state');
      const back = { redirect_uri: redirectUri, issuer, ...(state !== undefined && { state }) };
      throw new SignInPageError('bad_request', error.message, redirectToClient(back, { error }));
    }
  }

  /** Reopens the page when a person follows the sign-in link in an email. */
  private async reopen(visit: SignInRequest): Promise<Reply> {
    const browser = browserOf(visit);
    const { value } = await this.ports.consent.find(visit.query.get('authorization') ?? '', browser);
    return this.page(visit, value, browser ?? '');
  }

  private page({ address, request }: SignInRequest, authorization: Authorization, browser: string): Reply {
    const { issuer } = address;
    const { id, client_name, client_host, redirect_uri } = authorization;
    const { firebase } = this.ports;
    const body = consentPage({
      language: languageOf(request.headers['accept-language']),
      settings: {
        authorization: id,
        personUrl: `${issuer}/authorize/person`,
        decisionUrl: `${issuer}/authorize/decision`,
        continueUrl: `${issuer}/authorize?authorization=${id}`,
        firebase: { apiKey: firebase.apiKey, authDomain: firebase.authDomain },
        ...(firebase.emulator !== undefined && { emulator: firebase.emulator }),
        google: firebase.google,
      },
      people: samplePeople.parse(JSON.parse(firebase.samplePeople)),
      assets: { script: `${issuer}/signin/page.js`, style: `${issuer}/signin/page.css` },
      client: { name: client_name, host: client_host },
      redirect: { host: shownHost(redirect_uri), isLocal: isOnThisMachine(redirect_uri) },
    });
    const seconds = DECISION_TTL_MS / 1000;
    const cookie = `${COOKIE}=${browser}; Path=/; Secure; HttpOnly; SameSite=Lax; Max-Age=${seconds}`;
    return { status: 200, headers: { ...pageHeaders(firebase), 'Set-Cookie': cookie }, body };
  }

  /** Responds to the page's own script. Requests from other origins are refused. */
  private async answered(visit: SignInRequest, answer: (body: unknown) => Promise<object>): Promise<Reply> {
    try {
      if (visit.request.headers.origin !== new URL(visit.address.issuer).origin) throw new SignInError('invalid');
      return json(200, await answer(await jsonOf(visit)));
    } catch (error) {
      if (error instanceof SignInError) return json(400, { error: error.code });
      if (error instanceof OAuthError) return json(400, { error: 'invalid' });
      if (error instanceof HttpRejection) return json(error.status, { error: 'invalid' });
      if (error instanceof MusterError && error.code === 'RATE_LIMITED')
        return json(429, { error: 'too_many' }, { ...NOT_STORED, 'Retry-After': String(error.details.retryAfter) });
      this.ports.log.error('sign_in_broke', { error });
      return json(503, { error: 'unavailable' });
    }
  }

  private toolsetsOf({ address }: SignInRequest) {
    return (resource: string) => this.ports.toolsetsAt(resource.slice(address.mcp.length));
  }
}

const STATUSES: Readonly<Partial<Record<Problem, number>>> = { too_many: 429, unavailable: 503 };

/** Removes the code of an emailed link from the URL. The code is still valid, so it must not stay in the history. */
function withoutCode({ address, query }: SignInRequest): Reply {
  const location = new URL(`${address.issuer}/authorize`);
  location.searchParams.set('authorization', query.get('authorization') ?? '');
  const headers = { ...NOT_STORED, 'Referrer-Policy': 'no-referrer', Location: location.href };
  return { status: 303, headers, body: '' };
}

/** Returns the problem page for an error. An unexpected error is logged, and the page does not show it. */
function signInPageErrorOf(error: unknown, { log }: SignInPorts, { address }: SignInRequest): SignInPageError {
  if (error instanceof SignInPageError) return error;
  if (error instanceof SignInError)
    return new SignInPageError(error.code === 'other_browser' ? 'other_browser' : 'expired');
  if (error instanceof OAuthError)
    return new SignInPageError(error.code === 'invalid_client' ? 'client_unreachable' : 'bad_request', error.message);
  if (error instanceof MusterError && error.code === 'RATE_LIMITED') return new SignInPageError('too_many');
  log.error('sign_in_broke', { issuer: address.issuer, error });
  return new SignInPageError('unavailable');
}

/** @throws Hindered with the code invalid */
function parsed<Schema extends z.ZodType>(schema: Schema, body: unknown): z.output<Schema> {
  const { success, data } = schema.safeParse(body);
  if (!success) throw new SignInError('invalid');
  return data;
}

/** Returns the secret in the browser's cookie, which was set when the page was first shown. */
function browserOf({ request }: SignInRequest): string | undefined {
  const cookies = (request.headers.cookie ?? '').split(';').map((cookie) => cookie.trim());
  const found = cookies.find((cookie) => cookie.startsWith(`${COOKIE}=`))?.slice(COOKIE.length + 1);
  return found !== undefined && SECRET.test(found) ? found : undefined;
}
