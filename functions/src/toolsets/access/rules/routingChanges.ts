/** What a workspace's leaders say about which hosted agents it asks. Source: docs/guides/models.md. */
import type { Routing } from '../../../access/rules/routing.ts';
import type { StoredWorkspace } from '../../../access/rules/workspace.ts';
import { MusterError } from '../../../kernel/errors.ts';

/** What is left out stays. */
export interface RoutingUpdate {
  /** An agent by kind of work. */
  readonly pin?: Readonly<Record<string, string | undefined>> | undefined;
  readonly forbid?: readonly string[] | undefined;
}

/** What an update says of a routing: what it names of it, and no more. */
export function namedOf({ pin, forbid }: RoutingUpdate, { pins, forbidden }: Routing): Partial<Routing> {
  return { ...(pin && { pins }), ...(forbid && { forbidden }) };
}

/** @throws MusterError VALIDATION_ERROR where an agent would be both pinned and forbidden */
export function routingAfter(
  before: Pick<StoredWorkspace, 'pinnedAgents' | 'forbiddenAgents'> | undefined,
  { pin, forbid }: RoutingUpdate = {},
): Routing {
  const pins =
    pin === undefined
      ? (before?.pinnedAgents ?? [])
      : Object.entries(pin).flatMap(([kind, agent]) => (agent === undefined ? [] : [{ kind, agent }]));
  const forbidden = forbid === undefined ? (before?.forbiddenAgents ?? []) : [...new Set(forbid)];
  const both = pins.find(({ agent }) => forbidden.includes(agent));
  if (both === undefined) return { pins, forbidden };
  const { agent, kind } = both;
  throw new MusterError('VALIDATION_ERROR', `"${agent}" would be pinned for ${kind} and forbidden.`, {
    field: pin === undefined ? 'routing.forbid' : 'routing.pin',
    value: agent,
    reason: 'PINNED_AND_FORBIDDEN',
    suggestion: 'Send routing with both pin and forbid: each replaces what was set before.',
  });
}
