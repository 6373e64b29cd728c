import { isAnything } from '../../functions/src/access/rules/revocation.ts';
import { homeWorkspaceOf } from '../../functions/src/agents/rules/agent.ts';
import type { Registered } from '../../functions/src/agents/rules/registration.ts';
import type { Limits } from '../../functions/src/identity/rules/credential.ts';
import { endedLines } from '../operator/endings.ts';
import type { Command, Options } from './arguments.ts';
import type { Listed } from './registry.ts';
import * as registry from './registry.ts';

/** Runs a command and returns its output, which is text or JSON. */
export async function follow(command: Command, mcpUrl: string): Promise<string> {
  const { options } = command;
  switch (command.kind) {
    case 'list':
      return list(options);
    case 'create': {
      const owner = await registry.ownerNamed(command.owner);
      return show(await registry.create(command.name, owner, options), mcpUrl, options);
    }
    case 'renew':
      return show(await registry.renew(command.agentId, options), mcpUrl, options);
    case 'set-role': {
      const before = await registry.setRole(command.agentId, command.role);
      return say(options, { agentId: command.agentId, role: command.role, before }, [
        `Agent ${command.agentId} gets the role ${command.role} within 5 seconds; its previous role was ${before}.`,
      ]);
    }
    case 'revoke': {
      const ended = await registry.revoke(command.agentId);
      if (!isAnything(ended)) throw new Error(`Agent "${command.agentId}" has no credential.`);
      const { credentials: withdrawn, ...others } = ended;
      return say(options, { agentId: command.agentId, withdrawn, ...others }, [
        `Agent ${command.agentId} loses all access within 5 seconds.`,
        ...endedLines(ended),
      ]);
    }
  }
}

/** Returns the output about a new credential. Only this output contains the secret. */
async function show({ agent, credential, secret }: Registered, mcpUrl: string, options: Options): Promise<string> {
  const bearer = `${credential.api_key}.${secret}`;
  const lack = await registry.lackOf(agent);
  const sentences = lack === undefined ? [] : [lack];
  const { id: agentId, role, owner_uid: owner } = agent;
  const home = homeWorkspaceOf(agent);
  const data = { agentId, role, owner, home, ...limitsOf(credential), credential: bearer, notes: sentences };
  const limits = limitsIn(credential);
  return say(options, { ...data, expiresAt: credential.expires_at }, [
    `Agent ${agentId} (${[role, ...limits].join('; ')}), until ${credential.expires_at.toISOString()}.`,
    ...sentences,
    'Its credential, shown only once:',
    `  ${bearer}`,
    'To connect Claude Code as this agent, run this command with the credential in place of <credential>:',
    `  claude mcp add --transport http muster ${mcpUrl} --header "Authorization: Bearer <credential>"`,
  ]);
}

async function list(options: Options): Promise<string> {
  const all: Listed[] = [];
  for await (const one of registry.listed(options, warn)) all.push(one);
  return say(options, all.map(dataOf), all.length === 0 ? ['No agents.'] : all.map(lineOf));
}

function lineOf({ agent, credential }: Listed): string {
  const ending =
    credential === undefined
      ? ['no credential']
      : [...limitsIn(credential), `until ${credential.expires_at.toISOString()}`];
  const whose = `${agent.role} of ${agent.owner_uid}, home workspace ${homeWorkspaceOf(agent)}`;
  const whether = `${agent.status}, last seen ${agent.last_seen.toISOString()}`;
  return `${agent.id}: ${whose}; ${ending.join('; ')}; ${whether}`;
}

function dataOf({ agent, credential }: Listed) {
  const {
    id: agentId,
    name,
    role,
    owner_uid: owner,
    parts,
    status,
    registered_at: registeredAt,
    last_seen: lastSeen,
  } = agent;
  const { expires_at: expiresAt = null } = credential ?? {};
  const own = { agentId, name, role, owner, home: homeWorkspaceOf(agent), parts, status, registeredAt, lastSeen };
  return { ...own, ...(credential && limitsOf(credential)), expiresAt };
}

function limitsOf({ toolsets, held_to: heldTo, readonly }: Limits) {
  return { toolsets: toolsets ?? null, heldTo: heldTo ?? null, readonly: readonly ?? false };
}

function limitsIn({ toolsets, held_to: heldTo, readonly }: Limits): readonly string[] {
  return [
    ...(toolsets ? [`only ${toolsets.join(', ') || 'no toolset'}`] : []),
    ...(heldTo === undefined ? [] : [`only in ${heldTo}`]),
    ...(readonly ? ['read only'] : []),
  ];
}

function say({ json }: Options, data: object, sentences: readonly string[]): string {
  return json ? JSON.stringify(data, null, 2) : sentences.join('\n');
}

function warn(path: string): void {
  console.error(`${path} is unreadable.`);
}
