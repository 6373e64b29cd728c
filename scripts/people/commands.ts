import { endedLines } from '../operator/endings.ts';
import type { Command } from './arguments.ts';
import { erase } from './erasure/erase.ts';
import type { Known } from './registry.ts';
import * as registry from './registry.ts';

/** Result of a command: the data that `--json` prints, and the sentences that are printed otherwise. */
interface Said {
  readonly data: unknown;
  readonly sentences: readonly string[];
}

/** Runs a command and returns its output, which is text or JSON. */
export async function follow(command: Command): Promise<string> {
  const { data, sentences } = await done(command);
  return command.options.json ? JSON.stringify(data, null, 2) : sentences.join('\n');
}

async function done(command: Command): Promise<Said> {
  const { options } = command;
  switch (command.kind) {
    case 'list':
      return list(options.workspace);
    case 'create':
      return create(command.mail, options);
    case 'erase':
      return erase(command.who, { isDry: command.isDry, unverified: options.unverified });
    case 'show':
      return show(await registry.find(command.who, { unverified: true }));
    case 'set-role': {
      const known = await registry.find(command.who, options);
      const before = await registry.setRole(known, command.role);
      const account = known.account ? [] : [`${known.uid} has no account, so the role applies only to their agents.`];
      const sentence = `${nameOf(known)} gets the role ${command.role} within 5 seconds; the previous role was ${before}.`;
      return { data: { uid: known.uid, role: command.role, before }, sentences: [sentence, ...account] };
    }
    case 'add': {
      const { workspace, role } = command;
      const known = await registry.find(command.who, options);
      await registry.add(known, workspace, role);
      const sentence = `${nameOf(known)} is a member of the workspace ${workspace}: ${role}.`;
      return { data: { uid: known.uid, workspace, role }, sentences: [sentence] };
    }
    case 'remove': {
      const { workspace } = command;
      const known = await registry.find(command.who, options);
      await registry.remove(known, workspace);
      const left = await registry.roleIn(await registry.find(command.who, options), workspace);
      const still =
        left === undefined ? '' : ` The workspace is open, so the person still has the deployment role there: ${left}.`;
      const sentence = `${nameOf(known)} loses membership of the workspace ${workspace} within 5 seconds.${still}`;
      const unled = await unledOf([workspace]);
      return { data: { uid: known.uid, workspace, unled }, sentences: [sentence, ...unled.map(unledSentence)] };
    }
    case 'revoke': {
      const known = await registry.find(command.who, options);
      const { workspaces, agents, ended, work } = await registry.revoke(known);
      const unled = await unledOf(workspaces);
      const of = (names: readonly string[]) => (names.length === 0 ? 'none' : names.join(', '));
      const account = known.account
        ? 'Sign-ins are revoked. The account is not disabled. The person can sign in again, but has no access.'
        : 'No account exists.';
      const sentences = [
        `${nameOf(known)} loses all roles within 5 seconds.`,
        `Removed memberships: ${of(workspaces)}.`,
        `Agents with revoked credentials: ${of([...new Set([...agents, ...ended.agents.map(({ id }) => id)])])}.`,
        ...endedLines({ ...ended, agents: [] }),
        `Cancelled open work: ${work.codingTasks} coding tasks, ${work.runs} runs, ${work.questions} questions.`,
        account,
        ...unled.map(unledSentence),
      ];
      return { data: { uid: known.uid, workspaces, agents, ended, work, unled }, sentences };
    }
  }
}

async function list(workspace: string | undefined): Promise<Said> {
  const data: ReturnType<typeof dataOf>[] = [];
  const sentences: string[] = [];
  for await (const known of registry.allPeople(warn)) {
    if (workspace !== undefined && (await registry.roleIn(known, workspace)) === undefined) continue;
    data.push(dataOf(known));
    sentences.push(lineOf(known));
  }
  return { data, sentences: sentences.length === 0 ? ['No people.'] : sentences };
}

async function show(known: Known): Promise<Said> {
  const agents = await registry.agentsOf(known.uid);
  const { access } = await registry.rolesOf(known);
  const roles = await Promise.all(
    ['default', ...Object.keys(access).sort()].map(
      async (workspace) => [workspace, await registry.roleIn(known, workspace)] as const,
    ),
  );
  const sentences = [
    lineOf(known),
    ...roles.flatMap(([workspace, role]) => (role === undefined ? [] : [`  ${workspace}: ${role}`])),
    `  agents: ${agents.length === 0 ? 'none' : agents.join(', ')}`,
  ];
  return { data: { ...dataOf(known), roles: Object.fromEntries(roles), agents }, sentences };
}

async function create(mail: string, { name, role }: Command['options']): Promise<Said> {
  const [known, link] = await registry.create(mail, name);
  if (role !== undefined) await registry.setRole(known, role);
  const may = role === undefined ? 'The account has no access yet. Use set-role or add.' : `Its role is ${role}.`;
  const how =
    link === undefined
      ? 'Password sign-in is disabled in the project, so the person must sign in with another method.'
      : `With this link, which works once, the person chooses a password:\n  ${link}`;
  return {
    data: { uid: known.uid, mail, role: role ?? null, link: link ?? null },
    sentences: [`${mail} has an account, ${known.uid}. ${may}`, how],
  };
}

async function unledOf(workspaces: readonly string[]): Promise<readonly string[]> {
  const led = await Promise.all(workspaces.map((workspace) => registry.isLed(workspace)));
  return workspaces.filter((workspace, index) => !led[index] && workspace !== 'default');
}

function unledSentence(workspace: string): string {
  return `The workspace ${workspace} has no leader. Add one with npm run people -- add.`;
}

function nameOf({ uid, account }: Known): string {
  return account?.email === undefined ? uid : `${account.email} (${uid})`;
}

function lineOf(known: Known): string {
  const { account, person } = known;
  const { role, from } = roleOf(known);
  const members = Object.entries(person?.workspaces ?? {}).map(([workspace, own]) => `${own} in ${workspace}`);
  const state = account === undefined ? ['no account'] : account.isDisabled ? ['account disabled'] : [];
  return `${nameOf(known)}: ${[`${role}${from}`, ...members, ...state].join('; ')}`;
}

function roleOf({ account, person }: Known): { readonly role: string; readonly from: string } {
  if (person?.role !== undefined) return { role: person.role, from: '' };
  if (account?.role !== undefined) return { role: account.role, from: " (from the account's claims)" };
  return { role: 'none', from: '' };
}

function dataOf(known: Known) {
  const { uid, account, person } = known;
  const { email = null, name = null, isDisabled = false } = account ?? {};
  const { workspaces = {} } = person ?? {};
  return { uid, email, name, role: roleOf(known).role, workspaces, hasAccount: account !== undefined, isDisabled };
}

function warn(path: string): void {
  console.error(`${path} is unreadable.`);
}
