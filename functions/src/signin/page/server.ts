/** Client of the two endpoints that this page calls. The client validates their responses. */
import type { Decision as ChosenAccess, Offer } from '../rules/choices.ts';
import type { Embedded } from './embedded.ts';
import { Failure, type Problem } from './view.ts';

const ROLES: Offer['roles'] = ['viewer', 'worker', 'leader', 'admin'];

export interface Choices extends Omit<ChosenAccess, 'role' | 'workspace'> {
  readonly role: string;
  /** Chosen workspace; `null` for all workspaces in which the person has a role. */
  readonly workspace: string | null;
}

export type Decision =
  | ({ readonly allow: true; readonly approval: string } & Choices)
  | { readonly allow: false; readonly approval?: string };

/** Timeout of a request, longer than the start of a new instance takes. */
const TIMEOUT_MS = 30_000;

const REJECTIONS: readonly Problem[] = [
  'no_role',
  'sign_in_again',
  'expired',
  'other_browser',
  'unavailable',
  'too_many',
  'invalid',
  'name_taken',
  'not_allowed',
];

export class Server {
  private readonly settings: Embedded;

  constructor(settings: Embedded) {
    this.settings = settings;
  }

  async offer(idToken: string): Promise<Offer> {
    const answer = await this.post(this.settings.personUrl, { idToken });
    if (!isOffer(answer)) throw new Failure('unavailable');
    return answer;
  }

  /** @returns the URL to which the page must navigate */
  async decide(decision: Decision): Promise<string> {
    const answer = await this.post(this.settings.decisionUrl, decision);
    if (!isRecord(answer) || typeof answer['location'] !== 'string') throw new Failure('unavailable');
    return answer['location'];
  }

  private async post(url: string, body: object): Promise<unknown> {
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      credentials: 'same-origin',
      body: JSON.stringify({ authorization: this.settings.authorization, ...body }),
      signal: AbortSignal.timeout(TIMEOUT_MS),
    }).catch(() => {
      throw new Failure('network');
    });
    const answer: unknown = await response.json().catch(() => undefined);
    if (response.ok) return answer;
    const code = isRecord(answer) ? answer['error'] : undefined;
    throw new Failure(REJECTIONS.find((known) => known === code) ?? 'unavailable');
  }
}

function isOffer(answer: unknown): answer is Offer {
  if (!isRecord(answer)) return false;
  const { approval, person, agentName, role, roles, workspaces, toolsets, proposed, readonly } = answer;
  return (
    [approval, agentName].every((value) => typeof value === 'string') &&
    isRecord(person) &&
    typeof person['name'] === 'string' &&
    ['string', 'undefined'].includes(typeof person['email']) &&
    [role, ...(Array.isArray(roles) ? roles : [undefined])].every((one) => ROLES.some((known) => known === one)) &&
    [workspaces, toolsets, proposed].every(
      (names) => Array.isArray(names) && names.every((name) => typeof name === 'string'),
    ) &&
    isRecord(readonly) &&
    [readonly['value'], readonly['fixed']].every((value) => typeof value === 'boolean')
  );
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}
