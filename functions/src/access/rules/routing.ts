/** Which hosted agents a workspace has chosen for kinds of work, and which of them it never asks. */

import type { AtWorkspace } from './workspace.ts';

/** A kind of work is what an agent does in a step. */
export const KINDS_OF_WORK = ['plan', 'execute', 'review'] as const;

export type KindOfWork = (typeof KINDS_OF_WORK)[number];

/** The models behind a vendor's API that a deployment can have, in the order of the orchestration specification, list_agents. */
export const HOSTED_AGENTS = ['claude', 'gemini'] as const;

export interface Pin {
  readonly kind: string;
  readonly agent: string;
}

export interface Routing {
  /** Each kind of work at most once. */
  readonly pins: readonly Pin[];
  readonly forbidden: readonly string[];
}

export const NO_ROUTING: Routing = { pins: [], forbidden: [] };

export function pinnedFor({ pins }: Routing, kind: KindOfWork): string | undefined {
  return pins.find((pin) => pin.kind === kind)?.agent;
}

export interface RoutingChanges {
  /** In place of all that was pinned, or of all that was forbidden: what is left out stays, whatever it is by then. */
  readonly routeWorkspace: AtWorkspace & {
    readonly workspace: string;
    readonly routing: Partial<Routing>;
    /** For the trail. */
    readonly before?: Partial<Routing>;
  };
}

declare module '../../kernel/commit.ts' {
  interface ChangeKinds extends RoutingChanges {}
}
