/**
 * Model of the rights in a chain: a link is valid while everything above it is, and has the rights that all links
 * above it have at the moment.
 */

/** Weakest first. */
export const ROLES = ['viewer', 'worker', 'leader'] as const;

export type Role = (typeof ROLES)[number];

/** Toolsets to which the chains are restricted. */
export const TOOLSETS = ['onboarding', 'firebase', 'coordination', 'access'] as const;

/** Workspaces to which a link may be restricted: the workspace of the calls, and another one. */
export type Held = 'here' | 'elsewhere';

/** Rights that a link is given or asks for. */
export interface Choice {
  readonly role: Role;
  /** All toolsets if undefined. */
  readonly toolsets?: readonly string[] | undefined;
  readonly heldTo?: Held | undefined;
  readonly readonly: boolean;
}

export interface Link {
  readonly name: string;
  readonly kind: 'person' | 'app' | 'key' | 'terminal' | 'invitation';
  readonly from: Link | undefined;
  /** Own rights, without those above it. */
  own: Choice;
  isRevoked: boolean;
}

/** Returns the number of links between a link and its person. */
export function depthOf({ from }: Link): number {
  return from === undefined ? 0 : depthOf(from) + 1;
}

/** Returns the link and everything above it, outermost first. */
export function chainOf(link: Link): readonly Link[] {
  return link.from === undefined ? [link] : [...chainOf(link.from), link];
}

/** Returns the current rights of a link; undefined if it is revoked. */
export function rightsOf(link: Link): Choice | undefined {
  const chain = chainOf(link);
  if (chain.some(({ isRevoked }) => isRevoked)) return undefined;
  return chain.map(({ own }): Choice | undefined => own).reduce((rights, own) => rights && own && both(rights, own));
}

/** Returns the rights that both choices allow; undefined if they are restricted to different workspaces. */
export function both(one: Choice, other: Choice): Choice | undefined {
  const held = new Set([one, other].flatMap(({ heldTo }) => heldTo ?? []));
  if (held.size > 1) return undefined;
  const lists = [one, other].flatMap(({ toolsets }) => (toolsets ? [toolsets] : []));
  return {
    role: weakest([one.role, other.role]),
    toolsets: lists.length === 0 ? undefined : TOOLSETS.filter((name) => lists.every((list) => list.includes(name))),
    heldTo: [...held][0],
    readonly: one.readonly || other.readonly,
  };
}

export function weakest(roles: readonly Role[]): Role {
  return ROLES.find((role) => roles.includes(role)) ?? 'viewer';
}

/** A call with which a link is tested. */
export interface Attempt {
  readonly toolset: (typeof TOOLSETS)[number];
  readonly least: Role;
  readonly writes: boolean;
}

/** Returns whether a link may make a call in the workspace of the calls. */
export function may(link: Link, { toolset, least, writes }: Attempt): boolean {
  const rights = rightsOf(link);
  return (
    rights !== undefined &&
    rights.heldTo !== 'elsewhere' &&
    ROLES.indexOf(rights.role) >= ROLES.indexOf(least) &&
    (rights.toolsets?.includes(toolset) ?? true) &&
    !(writes && rights.readonly)
  );
}
