/** A simulated browser during a sign-in. It keeps its cookie, and sends the requests that the page would send. */
import assert from 'node:assert/strict';
import { z } from 'zod';
import { TOOLSETS } from '../../../functions/src/identity/rules/principal.ts';
import { PASSWORD, type Someone } from './deployment.ts';

const settings = z.object({
  authorization: z.string(),
  personUrl: z.string(),
  decisionUrl: z.string(),
  continueUrl: z.string(),
});

const choices = z.object({
  approval: z.string(),
  person: z.object({ name: z.string(), email: z.string().optional() }),
  agentName: z.string(),
  role: z.string(),
  roles: z.array(z.string()),
  workspaces: z.array(z.string()),
  toolsets: z.array(z.string()),
  proposed: z.array(z.string()),
  readonly: z.object({ value: z.boolean(), fixed: z.boolean() }),
});

const signedIn = z.object({ idToken: z.string() });

export type Settings = z.output<typeof settings>;
export type Choices = z.output<typeof choices>;

/** Choices of the person on the sign-in page that differ from the page's proposal. */
export interface Wishes {
  readonly agentName?: string;
  readonly role?: string;
  readonly workspace?: string | null;
  readonly toolsets?: readonly string[];
  readonly readonly?: boolean;
}

/** Choices for an app that needs more rights than the page proposes. */
export const EVERYTHING: Wishes = { role: 'leader', toolsets: TOOLSETS };

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

/** Signs a person in at the Auth emulator, and returns the ID token. */
export async function idTokenOf({ email }: Pick<Someone, 'email'>): Promise<string> {
  const host = process.env['FIREBASE_AUTH_EMULATOR_HOST'];
  const url = `http://${host}/identitytoolkit.googleapis.com/v1/accounts:signInWithPassword?key=emulator`;
  const body = JSON.stringify({ email, password: PASSWORD, returnSecureToken: true });
  const response = await fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body });
  return signedIn.parse(await response.json()).idToken;
}

export class Visitor {
  cookie: string | undefined;

  async open(url: string | URL): Promise<Answer> {
    const headers = this.cookie === undefined ? {} : { cookie: this.cookie };
    const response = await fetch(url, { headers, redirect: 'manual' });
    this.cookie = response.headers.get('set-cookie')?.split(';', 1)[0] ?? this.cookie;
    return { status: response.status, headers: response.headers, text: await response.text() };
  }

  /** Opens a sign-in page, and returns the settings that the page embeds for its script. */
  async settings(url: string | URL): Promise<Settings> {
    const { status, text } = await this.open(url);
    assert.equal(status, 200, text);
    const [, json = ''] = /<script type="application\/json" id="settings">(.*?)<\/script>/s.exec(text) ?? [];
    return settings.parse(JSON.parse(json));
  }

  async post(url: string, body: object, headers: Readonly<Record<string, string>> = {}): Promise<Answer> {
    const own = { 'content-type': 'application/json', origin: new URL(url).origin };
    const cookie = this.cookie === undefined ? {} : { cookie: this.cookie };
    const response = await fetch(url, {
      method: 'POST',
      headers: { ...own, ...cookie, ...headers },
      body: JSON.stringify(body),
    });
    return { status: response.status, headers: response.headers, text: await response.text() };
  }

  /** Signs a person in at an opened page, and returns the choices that the page proposes. */
  async identify({ authorization, personUrl }: Settings, someone: Someone): Promise<Choices> {
    const { status, text } = await this.post(personUrl, { authorization, idToken: await idTokenOf(someone) });
    assert.equal(status, 200, text);
    return choices.parse(JSON.parse(text));
  }

  decide({ authorization, decisionUrl }: Settings, offered: Choices, wishes: Wishes = {}): Promise<Answer> {
    const { approval, agentName, role, proposed: toolsets, readonly } = offered;
    return this.post(decisionUrl, {
      authorization,
      approval,
      allow: true,
      agentName,
      role,
      workspace: null,
      toolsets,
      readonly: readonly.value,
      ...wishes,
    });
  }

  /** Completes the whole sign-in, and returns the redirect to the app. */
  async allow(url: string | URL, someone: Someone, wishes: Wishes = {}): Promise<URL> {
    const page = await this.settings(url);
    const { status, text } = await this.decide(page, await this.identify(page, someone), wishes);
    assert.equal(status, 200, text);
    return locationIn(text);
  }
}

export function locationIn(text: string): URL {
  return new URL(z.object({ location: z.string() }).parse(JSON.parse(text)).location);
}
